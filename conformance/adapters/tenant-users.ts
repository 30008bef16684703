/** Users of a tenant that the suite created: their tokens, and one whose role permits nothing. */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { ControlFailure } from '../context/control.ts';
import { bearer, requestOf } from '../target/call.ts';
import { responseSummary } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import type { TargetClient } from '../target/target.ts';

/**
 * Logs a user in and returns a token without expiry, since the case may advance the tenant's clock.
 * With the `secret` of an invitation, the password is set first.
 * @throws ControlFailure
 */
export async function userToken(
  client: TargetClient,
  email: string,
  password: string,
  secret?: string,
): Promise<string> {
  if (secret !== undefined) {
    const body = { secret_hash: secret, password };
    const request = requestOf(managementOperations['complete-password-reset'], { body });
    requireStatus('set a password', await client.send(request), 202, 204);
  }
  const basic = Buffer.from(`${email}:${password}`).toString('base64');
  const headers = { authorization: `Basic ${basic}` };
  const request = requestOf(managementOperations.login, { headers, body: { no_expiry: true } });
  const response = await client.send(request);
  return requireStatus('log a user in', response, 200).text;
}

/** Invites a user whose only role grants no permission. */
export async function inviteUserWithoutPermissions(
  client: TargetClient,
  adminToken: string,
  { role, email }: { readonly role: string; readonly email: string },
): Promise<void> {
  const headers = bearer(adminToken);
  const newRole = { name: role, permission_sets_with_scope: [] };
  const roleRequest = requestOf(managementOperations['create-role'], { body: newRole, headers });
  requireStatus('create a role', await client.send(roleRequest), 201);
  const newUser = { email, roles: [role] };
  const userRequest = requestOf(managementOperations['create-user'], { body: newUser, headers });
  requireStatus('invite a user', await client.send(userRequest), 201);
}

function requireStatus(
  action: string,
  response: HttpResponse,
  ...statuses: readonly number[]
): HttpResponse {
  if (!statuses.includes(response.status))
    throw new ControlFailure(action, responseSummary(response));
  return response;
}
