/**
 * `npm run walk FILE`: calls every operation of the device API, the management API and the control
 * API in several ways, and writes each response as a line. `diff` on the files of two versions
 * shows how the behaviour changed. Nothing is measured or judged.
 */
import { writeFileSync } from 'node:fs';
import {
  type ManagementId,
  managementOperations,
} from '../../fixtures/contract/management/index.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { publish } from '../../server/testing/test-artifacts.ts';
import { resourceCalls } from '../../server/testing/test-belongings.ts';
import { board, deploy, nextRequests } from '../../server/testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../server/testing/test-device.ts';
import {
  send,
  startTestServer,
  type TestCall,
  type TestResponse,
  type TestServer,
  targetOf,
} from '../../server/testing/test-server.ts';
import { logIn } from '../../server/testing/test-tenants.ts';

type PathNames = Readonly<Record<string, string>>;

/** Wrong calls of an operation; every response is recorded. */
const wrongCalls: readonly TestCall[] = [
  { json: [] },
  { json: { unknown: 1 } },
  { body: '{"a":', headers: { 'Content-Type': 'application/json' } },
  { query: { page: '0', per_page: '1000', unknown: 'x' } },
  { token: 'x.y.z' },
];

/** Valid calls of operations whose calls need a body or a query, by the operation's ID. */
const bodies: Readonly<Partial<Record<OperationId | ManagementId, TestCall>>> = {
  'create-user': { json: { email: 'walker@example.com' } },
  'create-user-v1': { json: { email: 'walker-1@example.com', password: 'long-password' } },
  'create-role': { json: { name: 'walkers', permission_sets_with_scope: [] } },
  'create-role-v1': { json: { name: 'walkers-1', permissions: [] } },
  'create-personal-token': { json: { name: 'walk' } },
  'search-devices': { json: { status: 'accepted' } },
  'search-inventory': { json: { page: 1, per_page: 5 } },
  'put-deployment-status': { json: { status: 'installing' } },
  'put-deployment-log': {
    json: { messages: [{ timestamp: '2026-11-21T12:00:00Z', level: 'info', message: 'walked' }] },
  },
  'put-attributes': { json: [{ name: 'mem', value: '1' }] },
  'patch-attributes': { json: [{ name: 'cpu', value: ['a', 'b'] }] },
  'put-configuration': { json: { tz: 'UTC' } },
  'get-next-deployment': { query: { artifact_name: 'release-0', device_type: 'board' } },
  'post-next-deployment': { json: { artifact_name: 'release-0', device_type: 'board' } },
  'post-next-deployment-v2': { json: { device_provides: board } },
};

const readPaths = [
  '/ready',
  '/overview',
  '/devices',
  '/clock',
  '/faults',
  '/faults/schema',
  '/rate-limit',
  '/journal?limit=5',
  '/journal/1',
  '/journal/1/har',
  '/journal.har?limit=2',
  '/tenants',
  '/outbox',
  '/world/schema',
  '/snapshots',
  '/explanations',
  '/explanations/none',
  '/await?count=1&timeoutSeconds=0',
  '/runs',
  '/nothing',
  '/journal?tenant=none',
];

/** Calls of the control listener: first those that read, then those that change something. */
const controlCalls: readonly (readonly [method: string, path: string, json?: unknown])[] = [
  ...readPaths.map((path) => ['GET', path] as const),
  ['POST', '/clock', { advanceSeconds: 3600 }],
  ['POST', '/clock', { advanceSeconds: 'x' }],
  ['DELETE', '/clock'],
  ['POST', '/faults', { rules: [{ operation: 'get-inventory', action: { status: 503 } }] }],
  ['POST', '/faults', { rules: [{}] }],
  ['DELETE', '/faults'],
  ['POST', '/rate-limit', { requests: 5, windowSeconds: 1 }],
  ['DELETE', '/rate-limit'],
  ['PUT', '/snapshots/one'],
  ['POST', '/snapshots/one/restore'],
  ['DELETE', '/snapshots/one'],
  ['POST', '/assert', { operation: 'post-auth-request', count: 1 }],
  ['POST', '/tenants', { name: 'Walked', adminEmail: 'admin@walked.example' }],
  ['POST', '/doctor', {}],
  ['POST', '/world', { devices: [{ name: 'one' }] }],
  ['POST', '/reset'],
  ['DELETE', '/journal'],
];

/** Masks values that differ between runs: random values and ports. */
class OutputMask {
  readonly #names = new Map<string, string>();

  /** Replaces each secret, ID and key by a name, numbered in order of first appearance. */
  apply(text: string): string {
    return text
      .replace(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g, 'KEY')
      .replace(/127\.0\.0\.1:\d+/g, 'SERVER')
      .replace(/(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]+/g, (token) => this.#name('token', token))
      .replace(/[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/g, (id) => this.#name('id', id))
      .replace(/(formdata-undici-)\d+/g, '$1BOUNDARY')
      .replace(/(signature=)[^&"]+/g, '$1SIGNATURE')
      .replace(/\b[\da-f]{64}\b/g, (sum) => this.#name('digest', sum));
  }

  #name(kind: string, value: string): string {
    const alias = this.#names.get(value) ?? `${kind}-${this.#names.size}`;
    this.#names.set(value, alias);
    return alias;
  }
}

/** Headers whose values differ between calls. */
const varying = new Set(['content-length', 'date']);

/** Records each response as one line of JSON, with random values masked. */
class ResponseRecorder {
  readonly lines: string[] = [];
  readonly #mask = new OutputMask();

  note(
    request: string,
    { status, headers, text }: Pick<TestResponse, 'status' | 'headers' | 'text'>,
  ): void {
    const steadyHeaders = [...headers].filter(([name]) => !varying.has(name)).sort();
    const response = { request, status, headers: Object.fromEntries(steadyHeaders), text };
    this.lines.push(this.#mask.apply(JSON.stringify(response)));
  }
}

/** Creates a deployment, polls as the device, and returns the path parameters of its operations. */
async function offerUpdate(server: TestServer, device: AcceptedDevice): Promise<PathNames> {
  const id = await deploy(server, [device], { name: 'walk', update_control_map: {} });
  await nextRequests['POST v2'](server, device.token, board);
  return { id, deployment_id: id };
}

async function walkApi(opened: TestServer): Promise<void> {
  const rows: readonly Operation[] = [
    ...Object.values(operations),
    ...Object.values(managementOperations),
    ...Object.values(storageOperations),
  ];
  let round = 0;
  for (const row of rows) {
    round += 1;
    // Logs in again, because an earlier call may have ended the session.
    const { text: adminToken } = await logIn(opened, opened.adminEmail, opened.adminPassword);
    const server = { ...opened, adminToken };
    const device = await acceptedDevice(server, `walker-${round}`);
    const isForDevices = row.authorization === 'device' || row.authorization === 'socket';
    const [ownToken, otherToken] = isForDevices
      ? [device.token, server.adminToken]
      : [server.adminToken, device.token];
    const resourceCall = resourceCalls[row.id as keyof typeof resourceCalls];
    const parameters = isForDevices
      ? await offerUpdate(server, device)
      : ((await resourceCall?.make?.(server, round)) ?? {});
    const right = { ...bodies[row.id as keyof typeof bodies], ...resourceCall?.call?.(parameters) };
    const call = (given: TestCall): Promise<TestResponse> =>
      server.request(row.method, targetOf(row, { parameters, ...given }), given);
    await call({});
    await call({ token: otherToken, ...right });
    for (const wrong of wrongCalls) await call({ token: ownToken, ...right, ...wrong });
    await call({
      token: ownToken,
      ...right,
      parameters: { ...parameters, id: 'no ID', name: 'n o' },
    });
    await call({ token: ownToken, ...right });
  }
}

async function walkControl(server: TestServer, walk: ResponseRecorder): Promise<void> {
  const token = server.controlToken;
  for (const [method, path, json] of controlCalls) {
    const url = server.controlUrl + path;
    walk.note(`${method} ${path} without a token`, await send(url, method, {}));
    const call = { token, ...(json !== undefined && { json }) };
    walk.note(`${method} ${path}`, await send(url, method, call));
  }
}

async function main(file: string): Promise<void> {
  const walk = new ResponseRecorder();
  const noting = () => async (url: string, method: string, call: TestCall) => {
    const { json, body, ...bodiless } = call;
    const isBodiless = method === 'GET' || method === 'HEAD';
    const response = await send(url, method, isBodiless ? bodiless : call);
    walk.note(`${method} ${new URL(url).pathname}`, response);
    return response;
  };
  const server = await startTestServer({ adminPassword: 'long-password' }, noting);
  try {
    await publish(server, { name: 'release-1' });
    await walkApi(server);
    await walkControl(server, walk);
  } finally {
    await server.close();
  }
  writeFileSync(file, `${walk.lines.join('\n')}\n`);
  process.stdout.write(`${walk.lines.length} responses in ${file}\n`);
}

const [file] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write('usage: npm run walk FILE\n');
  process.exitCode = 2;
} else await main(file);
