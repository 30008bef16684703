/** Every change by a user is in the audit log. The tests iterate over the table of operations. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { artifactBytes, publish } from '../../testing/test-artifacts.ts';
import { entries } from '../../testing/test-audit.ts';
import {
  type ResourceCallId,
  resourceCallIds,
  resourceCalls,
} from '../../testing/test-belongings.ts';
import { acceptedDevice, newDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestCall, type TestServer } from '../../testing/test-server.ts';
import { mailTo, secondTenant, testPassword } from '../../testing/test-tenants.ts';

type Id = keyof typeof managementOperations;

let server: TestServer;
let round = 0;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

beforeEach(() => {
  round += 1;
});

/** These operations change nothing permanent, or have audit tests in other files. */
const silent: readonly Id[] = [
  'login',
  'logout',
  'search-devices',
  'search-inventory',
  'list-deployment-statistics',
  'start-email-change',
  'check-device-update',
  'send-device-inventory',
  'upload-device-file',
];

const json = (body: unknown): TestCall => ({ json: body });
const newEmail = () => `new-${round}@first.example`;

async function fileForm(part: string, fields: Readonly<Record<string, string>>): Promise<TestCall> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  const bytes = await artifactBytes({ name: `form-${round}` });
  body.append(part, new Blob([new Uint8Array(bytes)]), 'file');
  return { body };
}

async function withSecret(begin: Id): Promise<TestCall> {
  const email = newEmail();
  await server.call(begin, { token: server.adminToken, json: { email } });
  const { secret } = await mailTo(server, email);
  return json({ secret_hash: secret, password: testPassword });
}

/**
 * Each function returns a call of an operation that changes something and has no path parameter.
 */
const calls: Readonly<Partial<Record<Id, () => TestCall | Promise<TestCall>>>> = {
  'complete-password-reset': () => withSecret('create-user'),
  'create-user-v1': () => json({ email: newEmail(), password: testPassword }),
  'create-user': () => json({ email: newEmail() }),
  'create-role-v1': () => json({ name: `role-${round}`, permissions: [] }),
  'create-role': () => json({ name: `role-${round}`, permission_sets_with_scope: [] }),
  'create-personal-token': () => json({ name: `token-${round}` }),
  'preauthorize-device': () => {
    const { idData, publicKeyPem: pubkey } = newDevice(`early-${round}`);
    return json({ identity_data: JSON.parse(idData), pubkey });
  },
  'upload-artifact': () => fileForm('artifact', {}),
  'generate-artifact': () =>
    fileForm('file', { name: 'made', device_types_compatible: 'board', type: 'script' }),
  'delete-releases': async () => {
    await publish(server, { name: 'goes' });
    return { query: { name: 'goes' } };
  },
  'create-deployment': async () => {
    await publish(server, { name: 'deployed' });
    const { id } = await acceptedDevice(server, `deployed-${round}`);
    return json({ name: 'x', artifact_name: 'deployed', devices: [id] });
  },
  'switch-alert-emails': () => json({ enabled: false }),
};

/** These operations change the caller, so each test calls them as the admin of a new tenant. */
const ownCalls: Readonly<Partial<Record<Id, (password: string) => TestCall>>> = {
  'update-own-user-v1': (current_password) => json({ password: testPassword, current_password }),
  'update-own-user': (current_password) => json({ password: testPassword, current_password }),
};

const changing = Object.values(managementOperations)
  .filter(({ id, method }) => method !== 'GET' && method !== 'HEAD' && !silent.includes(id))
  .map(({ id }): Id => id);

async function expectEntry(act: () => Promise<{ status: number }>): Promise<void> {
  const before = await entries(server);
  expect((await act()).status).toBeLessThan(300);
  const after = await entries(server);
  expect(after.length).toBeGreaterThan(before.length);
  expect(after[0]?.actor).toMatchObject({ type: 'user', email: expect.any(String) });
}

describe('the audit log gets an entry with its user', () => {
  it.each(changing.filter((id) => resourceCallIds.includes(id as ResourceCallId)))(
    'when the user calls %s',
    async (id) => {
      const { make, call } = resourceCalls[id as ResourceCallId];
      const parameters = (await make?.(server, round)) ?? {};
      const otherParameters = id === 'add-group-devices' ? { parameters: { name: 'another' } } : {};
      const token = server.adminToken;
      await expectEntry(() =>
        server.call(id, { token, parameters, ...call?.(parameters), ...otherParameters }),
      );
    },
  );

  it.each(Object.entries(calls))('when the user calls %s', async (id, make) => {
    const call = await make();
    await expectEntry(() => server.call(id as Id, { token: server.adminToken, ...call }));
  });

  it('when the user calls complete-email-change', async () => {
    const call = await withSecret('start-email-change');
    await expectEntry(() => server.call('complete-email-change', call));
  });

  it.each(Object.entries(ownCalls))(
    "when the user calls %s, in the user's tenant",
    async (id, make) => {
      const { token, adminPassword } = await secondTenant(server, `Own-${round}`);
      const response = await server.call(id as Id, { token, ...make(adminPassword) });
      expect(response.status).toBe(204);
      const log = await server.call('list-audit-logs', { token });
      expect(log.json<{ action: string }[]>().map(({ action }) => action)).toEqual(['update']);
    },
  );

  it('for each operation that changes a resource: all have a test here', () => {
    const testedIds = [...resourceCallIds, ...Object.keys(calls), ...Object.keys(ownCalls)];
    const missing = changing.filter((id) => !testedIds.includes(id));
    expect(missing).toEqual(['complete-email-change']);
  });
});

it('a long change is truncated in the audit log, and stored complete', async () => {
  const { id } = await acceptedDevice(server, 'long change');
  const pairs = { note: 'x'.repeat(4000), more: 'y'.repeat(4000) };
  const call = { token: server.adminToken, parameters: { id } };
  await server.call('set-configuration', { ...call, json: pairs });
  const [last] = await entries(server, { object_id: id, per_page: '1' });
  expect(last?.change).toMatch(/^configuration: \{"note":"x+.*y… \(\d{4} characters\)$/);
  expect(last?.change?.length).toBeLessThan(4150);
  const response = await server.call('show-configuration', call);
  expect(response.json()).toMatchObject({ configured: pairs });
});
