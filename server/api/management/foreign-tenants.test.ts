/** One tenant cannot read or change anything of another; the tests iterate over all operations. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { artifactBytes } from '../../testing/test-artifacts.ts';
import {
  type ResourceCallId,
  resourceCallIds,
  resourceCalls,
} from '../../testing/test-belongings.ts';
import { acceptedDevice, pemOf } from '../../testing/test-device.ts';
import {
  startTestServer,
  type TestCall,
  type TestResponse,
  type TestServer,
} from '../../testing/test-server.ts';
import {
  loggedInUser,
  mailTo,
  secondTenant,
  type TestTenant,
  testPassword,
} from '../../testing/test-tenants.ts';

type Id = keyof typeof managementOperations;
type Row = Operation & { readonly id: Id | 'list-audit-logs' | 'export-audit-logs' };

let server: TestServer;
let foreign: TestTenant;
let round = 0;

beforeAll(async () => {
  server = await startTestServer();
  foreign = await secondTenant(server);
});

afterAll(() => server.close());

beforeEach(() => {
  round += 1;
});

const rows: readonly Row[] = [
  ...Object.values(managementOperations),
  operations['list-audit-logs'],
  operations['export-audit-logs'],
];

/** These operations return the same to all tenants, unless a tenant has its own settings. */
const common: readonly Row['id'][] = [
  'get-permission-set',
  'list-permission-sets',
  'get-limit-by-name',
  'get-device-limit',
];

const owned = resourceCallIds.filter((id) => !common.includes(id));

describe.each(owned.map((id) => [id, resourceCalls[id]] as const))(
  'the operation %s',
  (id, resourceCall) => {
    it('finds the resource of its own tenant and nothing of another tenant', async () => {
      const row: Operation = managementOperations[id];
      const parameters = (await resourceCall.make?.(server, round)) ?? {};
      const call = { parameters, ...resourceCall.call?.(parameters) };
      const refused = await server.call(id, { token: foreign.token, ...call });
      expect(refused.status).toBe(resourceCall.foreign ?? 404);
      if (row.method !== 'HEAD' && refused.status >= 400) {
        expect(refused.json()).toEqual({
          error: expect.any(String),
          request_id: expect.any(String),
        });
      }
      const found = await server.call(id, { token: server.adminToken, ...call });
      expect(found.status).toBe(resourceCall.ownStatus ?? Number(Object.keys(row.success)[0]));
      expect(found.text.replace(/"request_id".*/, '')).not.toBe(
        refused.text.replace(/"request_id".*/, '') || 'no body at all',
      );
    });
  },
);

/** These operations change nothing, and their path has no parameter. */
const telling = rows.filter(
  ({ id, method, path }) =>
    (method === 'GET' || id.startsWith('search-')) && !path.includes('{') && !common.includes(id),
);

/** These texts of the first tenant must not appear in any response to another tenant. */
const secrets: string[] = [];

/** Creates one resource of each kind in the first tenant. */
async function furnish(): Promise<void> {
  for (const [at, id] of owned.entries()) {
    if (!/^(get|show|list)-|^revoke-personal/.test(id)) continue;
    const names = (await resourceCalls[id].make?.(server, 1000 + at)) ?? {};
    secrets.push(...Object.values(names));
  }
  const tenant = await server.call('get-own-tenant-v1', { token: server.adminToken });
  const { id, tenant_token: token } = tenant.json<{ id: string; tenant_token: string }>();
  const user = await server.call('get-own-user', { token: server.adminToken });
  secrets.push(id, token, user.json<{ id: string }>().id, 'device-1', '@first.example');
  const parameters = { name: secretOf('release-') };
  const tags = { token: server.adminToken, parameters, json: ['tag-of-the-first'] };
  expect((await server.call('put-release-tags', tags)).status).toBe(204);
  secrets.push('tag-of-the-first');
}

function secretOf(prefix: string): string {
  return secrets.find((one) => one.startsWith(prefix)) ?? '';
}

function call({ method, path }: Row, token: string): Promise<TestResponse> {
  const body = method === 'POST' ? { json: {} } : {};
  return server.request(method, path, { token, ...body });
}

/** Returns all that the first tenant can read about itself. */
async function everythingOfTheFirst(): Promise<string> {
  const responses = await Promise.all(telling.map((row) => call(row, server.adminToken)));
  return responses.map(({ status, text }) => `${status} ${text}`).join('\n');
}

type DoingId = Exclude<
  Id,
  ResourceCallId | `list-${string}` | `get-${string}` | `search-${string}`
>;

interface Doing {
  /** Returns the call by which a user of another tenant targets the first one. */
  readonly call?: () => TestCall | Promise<TestCall>;
  readonly status: number;
}

const json = (body: unknown) => () => ({ json: body });

async function secretMailedTo(email: string): Promise<TestCall> {
  const { secret } = await mailTo(server, email);
  return { json: { secret_hash: secret, password: testPassword } };
}

/** Each of these operations changes something without a path parameter; the type requires all. */
const doings: Readonly<Record<DoingId | 'list-deployment-statistics', Doing>> = {
  login: {
    call: () => {
      const text = `${foreign.adminEmail}:${foreign.adminPassword}`;
      return { headers: { Authorization: `Basic ${Buffer.from(text).toString('base64')}` } };
    },
    status: 200,
  },
  logout: { status: 202 },
  'complete-password-reset': {
    call: async () => {
      const email = `invited-${round}@second.example`;
      await server.call('create-user', { token: foreign.token, json: { email } });
      return secretMailedTo(email);
    },
    status: 202,
  },
  'complete-email-change': {
    call: async () => {
      const email = `other-${round}@second.example`;
      await server.call('start-email-change', { token: foreign.token, json: { email } });
      return secretMailedTo(email);
    },
    status: 204,
  },
  // An email address belongs to a user of one tenant only.
  'create-user-v1': {
    call: () => ({ json: { email: secretEmail, password: testPassword } }),
    status: 422,
  },
  'create-user': { call: () => ({ json: { email: secretEmail } }), status: 422 },
  'update-own-user-v1': {
    call: () => ({
      json: { email: secretEmail, current_password: foreign.adminPassword },
    }),
    status: 422,
  },
  'update-own-user': {
    call: () => ({
      json: { password: testPassword, current_password: foreign.adminPassword },
    }),
    status: 204,
  },
  'start-email-change': { call: () => ({ json: { email: secretEmail } }), status: 422 },
  'create-role-v1': {
    call: () => ({ json: { name: secretOf('role-'), permissions: [] } }),
    status: 201,
  },
  'create-role': {
    call: () => ({ json: { name: secretOf('role-'), permission_sets_with_scope: [] } }),
    status: 201,
  },
  'create-personal-token': { call: json({ name: 'token-1' }), status: 200 },
  'preauthorize-device': {
    call: async () => {
      const { privateKey, idData } = await acceptedDevice(server, 'of both');
      return { json: { identity_data: JSON.parse(idData), pubkey: pemOf(privateKey) } };
    },
    status: 201,
  },
  'count-devices': { status: 200 },
  'upload-artifact': {
    call: async () => {
      const body = new FormData();
      const bytes = await artifactBytes({ name: secretOf('release-') });
      body.append('artifact', new Blob([new Uint8Array(bytes)]), 'a.mender');
      return { body };
    },
    status: 201,
  },
  'generate-artifact': {
    call: () => {
      const body = new FormData();
      body.append('name', secretOf('release-'));
      body.append('device_types_compatible', 'board');
      body.append('type', 'script');
      body.append('file', new Blob(['x']), 'x');
      return { body };
    },
    status: 201,
  },
  'delete-releases': { call: () => ({ query: { name: secretOf('release-') } }), status: 204 },
  'create-deployment': {
    call: () => ({
      json: { name: 'x', artifact_name: secretOf('release-'), all_devices: true },
    }),
    status: 400,
  },
  'switch-alert-emails': { call: json({ enabled: false }), status: 204 },
  'list-deployment-statistics': {
    call: () => ({ json: { deployment_ids: [deploymentId] } }),
    status: 404,
  },
};

let secretEmail: string;
let deploymentId: string;

describe('the first tenant', () => {
  beforeAll(async () => {
    await furnish();
    ({ email: secretEmail } = await loggedInUser(server, 'known@first.example'));
    const list = await server.call('list-deployments', { token: server.adminToken });
    deploymentId = list.json<{ id: string }[]>()[0]?.id ?? '';
  });

  it('has an isolation test for each operation', () => {
    const covered = [...resourceCallIds, ...telling.map(({ id }) => id), ...Object.keys(doings)];
    const missing = rows.filter(({ id }) => !covered.includes(id) && !common.includes(id));
    expect(missing.map(({ id }) => id)).toEqual([]);
  });

  it.each(telling.map((row) => [row.id, row] as const))(
    'does not appear in the response of %s to another tenant',
    async (_, row) => {
      const response = await call(row, foreign.token);
      expect(response.status).toBe(200);
      expect(secrets.filter((secret) => response.text.includes(secret))).toEqual([]);
      expect((await call(row, server.adminToken)).text).not.toBe(response.text);
    },
  );

  it.each(Object.entries(doings))(
    'is unchanged after another tenant calls %s',
    async (id, doing) => {
      foreign = await secondTenant(server, `Second-${round}`);
      const call = await doing.call?.();
      const stateBefore = await everythingOfTheFirst();
      const token = id === 'login' ? {} : { token: foreign.token };
      const response = await server.call(id as Id, { ...token, ...call });
      expect(response.status).toBe(doing.status);
      expect(await everythingOfTheFirst()).toBe(stateBefore);
    },
  );
});
