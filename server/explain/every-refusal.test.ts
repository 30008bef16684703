import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { sendCorrected } from '../testing/corrected-request.ts';
import { rawRequest, sendRaw } from '../testing/raw-http.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import {
  contradictionsIn,
  correctedOf,
  explanationOf,
  runInBash,
} from '../testing/test-explanations.ts';
import { startTestServer, type TestCall, type TestServer } from '../testing/test-server.ts';
import { control, loggedInUser, testPassword } from '../testing/test-tenants.ts';
import type { Explanation } from './explain.ts';

const rows: readonly Operation[] = Object.values({
  ...operations,
  ...managementOperations,
  ...storageOperations,
});
const commands: string[] = [];
/** The variables that the reader of each command must set. */
const needed = new Map<string, readonly string[]>();

/** Operations of users on their own account, which may end their token. */
const endsToken: ReadonlySet<string> = new Set([
  managementOperations.logout.id,
  managementOperations['update-own-user'].id,
  managementOperations['update-own-user-v1'].id,
]);
let sentAgain = 0;

let userToken: string;
let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer({ adminPassword: testPassword });
  device = await acceptedDevice(server, 'every');
  userToken = (await loggedInUser(server, 'sender@first.example')).token;
});

afterAll(() => server.close());

const filled = expect.stringMatching(/\S/);

/** Sends a request and requires a complete explanation if it is refused. */
async function ask(method: string, row: Operation, call: TestCall & { path?: string }) {
  const { path = row.path.replace(/\{\w+\}/g, 'nothing'), ...rest } = call;
  const response = await server.request(method, path, rest);
  if (response.status < 400) return undefined;
  const explanation = await correctedOf(server, response);
  commands.push(explanation.command);
  needed.set(explanation.command, Object.keys(explanation.variables));
  expect(explanation).toMatchObject({
    requestId: filled,
    tenant: filled,
    at: '2026-11-21T12:00:00.000Z',
    request: { method, path: filled },
    status: response.status,
    sentence: method === 'HEAD' ? filled : response.json().error,
    rule: { heading: filled, sentence: filled, requirements: expect.any(Array) },
    problem: { path: filled },
    correctedRequest: { method: filled, path: expect.stringMatching(/^\//) },
    command: expect.stringMatching(/curl/),
    variables: { URL: filled },
  } satisfies Partial<Record<keyof Explanation, unknown>>);
  expect(contradictionsIn(explanation)).toEqual([]);
  await expectServed(row, explanation);
  // The explanation names at most one rule, and none where the contract has none.
  expect(explanation.rule.requirements.length).toBeLessThanOrEqual(1);
  return { response, explanation };
}

/** Requires that the corrected request is not refused for the same reason again. */
async function expectServed(row: Operation, explanation: Awaited<ReturnType<typeof correctedOf>>) {
  const { correctedRequest, isUnchanged, problem, status, sentence, variables } = explanation;
  // The test takes no preparatory steps, and the sender's own token must stay valid.
  const isRepeated = isUnchanged || explanation.request.path.startsWith(correctedRequest.path);
  if ((isRepeated && problem.path === 'state') || endsToken.has(row.id)) return;
  // `fetch` cannot open WebSockets; the tests of commands cover them.
  if (correctedRequest.headers.Upgrade) return;
  const sent = await sendCorrected(server, correctedRequest, { device, userToken, variables });
  sentAgain += 1;
  expect(sent.text.includes(JSON.stringify(sentence)) && sent.status === status).toBe(false);
  // A valid authentication request may be the first contact of a device and thus still be refused.
  if (row.authorization !== 'signature')
    expect([sent.status, sent.text]).not.toEqual([401, sent.text]);
}

function tokenFor({ id, authorization }: Operation): { token?: string } {
  // A logout with this token would end it for all later tests.
  if (id === managementOperations.logout.id) return {};
  if (authorization === 'user') return { token: server.adminToken };
  return authorization === 'device' || authorization === 'socket' ? { token: device.token } : {};
}

describe.each(rows.map((row) => [row.id, row] as const))('every refusal of %s', (_, row) => {
  it('is explained for a missing token and for a wrong token', async () => {
    const unauthorized = await ask(row.method, row, {});
    const forged = await ask(row.method, row, { token: 'eyJhbGciOiJub25lIn0.e30.' });
    const isOfToken = ['device', 'user', 'socket'].includes(row.authorization);
    expect([unauthorized?.response.status, forged?.response.status]).toEqual(
      isOfToken ? [401, 401] : [expect.any(Number), expect.any(Number)],
    );
  });

  it('is explained for an unknown method and an almost valid path', async () => {
    const method = await server.request('PROPFIND', row.path.replace(/\{\w+\}/g, 'nothing'));
    const { problem, correctedRequest } = await explanationOf(server, method);
    expect([problem.path, correctedRequest?.method ?? 'GET']).toEqual(['method', 'GET']);
    const path = row.path.replace(/\{\w+\}/g, 'nothing').replace('s', 'z');
    const misspelt = await ask(row.method, row, { path, ...tokenFor(row) });
    expect(misspelt?.explanation.problem).toEqual({
      path: 'path',
      expected: `${row.method} ${row.path}`,
      actual: path,
    });
  });

  it('is explained when the body is missing, malformed, or of a wrong kind or type', async () => {
    const token = tokenFor(row);
    if (row.method === 'GET' || row.method === 'HEAD') return;
    for (const [type, body] of [
      ['application/json', ''],
      ['application/json', '{"a":'],
      ['application/json', '7'],
      ['application/json', '{}'],
      ['application/json', '[{"name":7}]'],
      ['text/plain', 'a=b'],
    ] as const) {
      await ask(row.method, row, { body, headers: { 'Content-Type': type }, ...token });
    }
  });

  it('is explained for an unknown resource and for a wrong query', async () => {
    const token = tokenFor(row);
    const path = `${row.path.replace(/\{\w+\}/g, 'nothing')}?page=0&per_page=x&status=y`;
    await ask(row.method, row, token);
    await ask(row.method, row, { path, ...token });
  });
});

it('bytes that are not HTTP are explained too', async () => {
  const response = await sendRaw(server, 'GET /api/devices/v1/inventory HTTX/1.1\r\n\r\n');
  const id = JSON.parse(response.body).request_id;
  const { status, text } = await control(server, 'GET', `/explanations/${id}`);
  expect([status, JSON.parse(text)]).toEqual([
    200,
    expect.objectContaining({
      sentence: JSON.parse(response.body).error,
      problem: {
        path: 'request',
        expected: 'an HTTP/1.1 request (RFC 9112)',
        actual: expect.stringMatching(/^the request line does not end with its version: .* HTTX/),
      },
    }),
  ]);
});

it('a percent escape that cannot be decoded is explained too', async () => {
  const path = operations['get-artifact'].path.replace('{id}', '%zz');
  const head = [`X-SVC-RequestID: undecodable`, `Authorization: Bearer ${device.token}`];
  expect((await sendRaw(server, rawRequest(`GET ${path}`, head))).status).toBe(400);
  const { text } = await control(server, 'GET', '/explanations/undecodable');
  expect(JSON.parse(text)).toMatchObject({ problem: { path: 'path' }, command: filled });
});

it('every corrected request that could be sent was sent', () => {
  expect(sentAgain).toBeGreaterThan(500);
});

it('every proposed command is valid bash and contains no token', async () => {
  expect(commands.length).toBeGreaterThan(500);
  const functions = commands.map((command, index) => `command_${index}() {\n${command}\n}`);
  const { stderr } = await runInBash(`${functions.join('\n')}\necho`);
  expect(stderr).toBe('');
  expect(commands.filter((command) => command.includes('eyJ'))).toEqual([]);
});

it('every proposed command defines or asks for each variable that it uses', async () => {
  const calls = ['openssl', 'sleep'].map((name) => `${name}() { :; }`);
  calls.push(`curl() { echo '{"uri":"set"}'; }`);
  const runs = [...needed].map(([command, names]) => {
    return `(\n${names.map((name) => `${name}=set`).join(' ')}\n${command}\n)`;
  });
  const { stderr } = await runInBash(['set -u', ...calls, ...runs].join('\n'));
  expect(stderr).toBe('');
});
