/** Creates tenants with their users and roles in tests. */
import type { ScopedSet } from '../../fixtures/contract/management/roles.ts';
import type { TestResponse, TestServer } from './test-server.ts';

/** A tenant besides the first one, with its admin logged in. */
export interface TestTenant {
  readonly id: string;
  readonly name: string;
  /** The token that its devices send as `tenant_token`. */
  readonly tenantToken: string;
  readonly adminEmail: string;
  readonly adminPassword: string;
  /** The admin's token for the management API. */
  readonly token: string;
}

/** Creates another tenant through the control listener, and logs its admin in. */
export async function secondTenant(server: TestServer, name = 'Second'): Promise<TestTenant> {
  const adminEmail = `admin@${name.toLowerCase()}.example`;
  const response = await control(server, 'POST', '/tenants', { name, adminEmail });
  if (response.status !== 201)
    throw new Error(`no second tenant: ${response.status} ${response.text}`);
  const tenant = JSON.parse(response.text) as Omit<TestTenant, 'token'>;
  return { ...tenant, token: (await logIn(server, adminEmail, tenant.adminPassword)).text };
}

/** Logs in with email and password. */
export function logIn(server: TestServer, email: string, password: string): Promise<TestResponse> {
  const credentials = Buffer.from(`${email}:${password}`).toString('base64');
  return server.call('login', { headers: { Authorization: `Basic ${credentials}` } });
}

/** Calls a path of the control listener with its token. */
export async function control(
  server: TestServer,
  method: string,
  path: string,
  json?: unknown,
): Promise<{ status: number; text: string }> {
  const headers = new Headers({ Authorization: `Bearer ${server.controlToken}` });
  if (json !== undefined) headers.set('Content-Type', 'application/json');
  const body = json === undefined ? null : JSON.stringify(json);
  const response = await fetch(server.controlUrl + path, { method, headers, body });
  return { status: response.status, text: await response.text() };
}

/** Suspends or reactivates a tenant. */
export async function setTenantStatus(
  server: TestServer,
  id: string,
  status: 'active' | 'suspended',
): Promise<void> {
  const response = await control(server, 'PUT', `/tenants/${id}/status`, { status });
  if (response.status !== 200)
    throw new Error(`tenant status: ${response.status} ${response.text}`);
}

/** A message as the control listener shows it. */
export interface ShownMessage {
  readonly id: string;
  readonly tenantId: string;
  readonly kind: string;
  readonly to: string;
  readonly link: string;
  readonly secret: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** Returns the mail that the server would have sent, oldest first. */
export async function outbox(server: TestServer): Promise<ShownMessage[]> {
  const { text } = await control(server, 'GET', '/outbox');
  return (JSON.parse(text) as { messages: ShownMessage[] }).messages;
}

/** Returns the newest message to an address. */
export async function mailTo(server: TestServer, to: string): Promise<ShownMessage> {
  const message = (await outbox(server)).findLast((one) => one.to === to);
  if (!message) throw new Error(`no message to ${to}`);
  return message;
}

export const testPassword = 'correct horse battery';

/** A user with a password, logged in. */
export interface TestUser {
  readonly id: string;
  readonly email: string;
  readonly token: string;
}

/** Invites a user, sets a password by the link in the outbox, and logs the user in. */
export async function loggedInUser(
  server: TestServer,
  email: string,
  { roles = [], token = server.adminToken }: { roles?: readonly string[]; token?: string } = {},
): Promise<TestUser> {
  const response = await server.call('create-user', { token, json: { email, roles } });
  if (response.status !== 201)
    throw new Error(`no user ${email}: ${response.status} ${response.text}`);
  const { secret } = await mailTo(server, email);
  await server.call('complete-password-reset', {
    json: { secret_hash: secret, password: testPassword },
  });
  const id = response.headers.get('location')?.split('/').at(-1) ?? '';
  return { id, email, token: (await logIn(server, email, testPassword)).text };
}

/** Creates a user whose only role has these permission sets. */
export async function userWithSets(
  server: TestServer,
  email: string,
  sets: readonly ScopedSet[],
): Promise<TestUser> {
  const name = `role-of-${email.replace('@', '-at-')}`;
  const json = { name, permission_sets_with_scope: sets };
  const response = await server.call('create-role', { token: server.adminToken, json });
  if (response.status !== 201)
    throw new Error(`no role ${name}: ${response.status} ${response.text}`);
  return loggedInUser(server, email, { roles: [name] });
}

/** Returns the scope of a permission set that is limited to groups. */
export function groupScope(...value: readonly string[]): ScopedSet['scope'] {
  return { type: 'DeviceGroups', value: [...value] };
}
