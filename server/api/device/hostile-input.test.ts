import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import type { Authorization, Operation } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { pathsIn, replaced } from '../../testing/bodies.ts';
import { publish } from '../../testing/test-artifacts.ts';
import { board, deploy, nextRequests, report } from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

const rows: Readonly<Record<string, Operation>> = { ...operations, ...managementOperations };
type OperationId = keyof typeof operations | keyof typeof managementOperations;

let server: TestServer;
let device: AcceptedDevice;
/** These IDs of existing resources fill paths; the calling device's ID is not among them. */
let ids: readonly string[];

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'hostile');
  const victim = await acceptedDevice(server, 'victim');
  const artifact = await publish(server);
  const deployment = await deploy(server, [device, victim]);
  await nextRequests['POST v1'](server, device.token, board);
  await report(server, device, { id: deployment, status: 'installing' });
  ids = [victim.id, victim.authSetId, artifact, deployment];
});

afterAll(() => server.close());

const tokens: Record<Authorization, () => { token?: string }> = {
  device: () => ({ token: device.token }),
  socket: () => ({ token: device.token }),
  user: () => ({ token: server.adminToken }),
  basic: () => ({}),
  signature: () => ({}),
  link: () => ({}),
  secret: () => ({}),
};

const words = [
  ...['', ' ', '\u0000', 'a\u0000b', '\ud83d', '\ude00', '\u{FEFF}', '__proto__', 'constructor'],
  ...['../../etc/passwd', '%', '%00', "'; DROP TABLE devices; --", '=1+1', 'x'.repeat(5000)],
  ...['-1', '1e999', 'NaN', 'null', 'aborted', 'success', 'release-1', 'board', 'asc'],
];
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...words));
const names = [
  ...[
    'status',
    'substate',
    'messages',
    'timestamp',
    'level',
    'message',
    'name',
    'value',
    'subject',
  ],
  ...[
    'device_type',
    'artifact_name',
    'device_provides',
    'update_control_map',
    'states',
    'priority',
  ],
  ...[
    'id_data',
    'pubkey',
    'identity_data',
    'force',
    'devices',
    'all_devices',
    'retries',
    'details',
  ],
];
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    text,
    fc.constantFrom(null, true, false, [], {}),
    fc.double({ noNaN: true }),
    fc.integer(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...names), text), tie('value'), { maxKeys: 6 }),
  ),
})).value;
const mediaType = fc.oneof(
  { weight: 6, arbitrary: fc.constant('application/json') },
  fc.constantFrom(
    'text/plain',
    'application/json; charset=x',
    'multipart/form-data; boundary=x',
    'x',
  ),
);
const queryNames = [
  ...['page', 'per_page', 'sort', 'status', 'id', 'name', 'created_after', 'created_before'],
  ...['release_name', 'device_type', 'artifact_name', 'limit', 'ignore', 'format_separator'],
  ...['x-svc-expire', 'x-svc-signature', 'tenant_id', 'actor_id', 'object_type', 'issued_after'],
];
const query = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...queryNames), text), text), {
  maxLength: 4,
});
const body = fc.oneof(
  { weight: 8, arbitrary: json.map((value) => JSON.stringify(value)) },
  text,
  fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
);
const request = fc.record({
  body,
  mediaType,
  query: query.map((pairs) => new URLSearchParams(pairs)),
  id: fc.nat({ max: 5 }),
  aid: fc.oneof(text, fc.uuid()),
});

const line = { line_number: 1, data: 'x' };
const details = { description: 'x', lines_before: [line], line_matching: line };
const subject = { name: 'x', type: 'x', status: 'x', details };
const state = { action: 'pause', on_map_expire: 'fail' };
const attributes = [
  { name: 'a', value: 1 },
  { name: 'b', value: ['x'], description: 'x' },
];
const validBodies = {
  'post-next-deployment': { ...board, further: 'x' },
  'post-next-deployment-v2': { device_provides: { ...board, a: 'x' }, update_control_map: true },
  'put-deployment-status': { status: 'downloading', substate: 'x' },
  'put-deployment-log': {
    messages: [{ timestamp: '2026-11-21T12:00:00Z', level: 'info', message: 'x' }],
  },
  'put-configuration': { a: 'x', b: 'y' },
  'post-alerts': [{ name: 'x', level: 'OK', subject, timestamp: '2026-11-21T12:00:00Z' }],
  'post-monitor-configuration': [{ name: 'x', status: 'x', type: 'x' }],
  'patch-attributes': attributes,
  'put-attributes': attributes,
  'set-configuration': { a: 'x' },
  'set-auth-set-status': { status: 'rejected' },
  'create-deployment': {
    name: 'x',
    artifact_name: 'release-1',
    all_devices: true,
    update_control_map: { priority: 1, states: { ArtifactInstall_Enter: state } },
  },
  'preauthorize-device': { identity_data: { mac: 'x' }, pubkey: 'x', force: true },
  'abort-deployment': { status: 'aborted' },
  'create-group-deployment': {
    name: 'x',
    artifact_name: 'release-1',
    retries: 1,
    max_devices: 1,
    phases: [{ batch_size: 100, start_ts: '2026-11-21T12:00:00Z' }],
    autogenerate_delta: true,
  },
  'update-deployment': { update_control_map: { priority: 1 } },
  'list-deployment-statistics': { deployment_ids: ['11111111-2222-4333-8444-555555555555'] },
  'update-artifact': { description: 'x' },
  'update-release': { notes: 'x' },
  'put-release-tags': ['x'],
} as const satisfies Partial<Record<OperationId, object>>;

/** Asserts that the reply is not an error of the server, and that a refusal has the Error body. */
function expectOrderly(response: TestResponse): void {
  expect(response.status).toBeLessThan(500);
  if (response.status < 400) return;
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(response.json()).toMatchObject({
    error: expect.stringMatching(/./),
    request_id: response.headers.get('x-svc-requestid'),
  });
}

describe('a server under random input', () => {
  // A logout would end the session that all other calls use; a response to HEAD has no body.
  const operationIds = (Object.keys(rows) as OperationId[]).filter(
    (id) => id !== 'logout' && (rows[id] as Operation).method !== 'HEAD',
  );

  it.each(operationIds)('never fails with 5xx in the operation %s', async (operation) => {
    const { method, authorization } = rows[operation] as Operation;
    const property = fc.asyncProperty(request, async (sent) => {
      // A lone surrogate cannot be written into a path.
      const sentId = Buffer.from(sent.aid).toString() || 'x';
      const id = ids[sent.id] ?? sentId;
      const parameters = {
        id,
        aid: sentId,
        deployment_id: id,
        device_id: sentId,
        device_type: sentId,
      };
      const headers = { 'Content-Type': sent.mediaType };
      const call = { ...tokens[authorization](), parameters, query: sent.query, headers };
      const sentBody = method === 'GET' ? {} : { body: sent.body };
      expectOrderly(await server.call(operation, { ...call, ...sentBody }));
    });
    await fc.assert(property, { seed: 20_261_121, numRuns: 4, endOnFailure: true });
  });

  it.each(Object.keys(validBodies) as (keyof typeof validBodies)[])(
    'never fails with 5xx in %s if one part of the body is altered',
    async (operation) => {
      const { authorization } = rows[operation] as Operation;
      const validBody = validBodies[operation];
      const paths = pathsIn(validBody);
      const parameters = { id: ids.at(-1) ?? '', aid: ids[1] ?? '' };
      const property = fc.asyncProperty(fc.constantFrom(...paths), json, async (path, value) => {
        const call = {
          ...tokens[authorization](),
          parameters,
          json: replaced(validBody, path, value),
        };
        expectOrderly(await server.call(operation, call));
      });
      await fc.assert(property, { seed: 20_261_121, numRuns: 10, endOnFailure: true });
    },
  );

  it('still serves new devices, artifacts and deployments afterwards', async () => {
    const newcomer = await acceptedDevice(server, 'newcomer');
    await publish(server, { name: 'after-all-that' });
    const id = await deploy(server, [newcomer], { artifact_name: 'after-all-that' });
    expect((await nextRequests['POST v1'](server, newcomer.token, board)).json()).toMatchObject({
      id,
    });
  });
});

describe('a device type with half a surrogate pair', () => {
  const half = { device_type: 'board\ud83d', artifact_name: 'release-0' };

  it.each(['POST v1', 'POST v2'] as const)(
    'returns 400 if a configuration is deployed: %s',
    async (operation) => {
      const poller = await acceptedDevice(server, `half-${operation}`);
      const call = { token: server.adminToken, parameters: { id: poller.id }, json: {} };
      expect((await server.call('deploy-configuration', call)).status).toBe(200);
      const response = await nextRequests[operation](server, poller.token, half);
      expectOrderly(response);
      expect([response.status, response.json().error]).toEqual([
        400,
        expect.stringContaining('half a surrogate pair'),
      ]);
      expect((await nextRequests[operation](server, poller.token, board)).status).toBe(200);
    },
  );
});
