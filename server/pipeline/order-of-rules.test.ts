import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { rawRequest, sendRaw } from '../testing/raw-http.ts';
import { publish } from '../testing/test-artifacts.ts';
import { abort, board, deploy, nextRequests } from '../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { startTestServer, type TestCall, type TestServer } from '../testing/test-server.ts';

/**
 * Every rule answers one problem. A request with the problems of several rules must get the
 * response of the first of them; a request with only the last problem must get its own response, so
 * that the pair shows the order and not the absence of a rule.
 */
interface Problem {
  readonly status: number;
  /** Adds the problem to a request that satisfies the rules before it. */
  readonly into: (request: SentRequest) => SentRequest;
}

interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly call: TestCall;
}

const statusPath = (id: string): string =>
  operations['put-deployment-status'].path.replace('{id}', id);
const unknownId = '00000000-0000-4000-8000-000000000000';
const tooLarge = Buffer.alloc(1_048_577, ' ');

let server: TestServer;
let device: AcceptedDevice;
let abortedId: string;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'order');
  await publish(server);
  abortedId = await deploy(server, [device]);
  await nextRequests['GET v1'](server, device.token, board);
  await abort(server, abortedId);
});

afterAll(() => server.close());

function withHeaders(request: SentRequest, headers: Readonly<Record<string, string>>): SentRequest {
  return {
    ...request,
    call: { ...request.call, headers: { ...request.call.headers, ...headers } },
  };
}

/** The problems in the order of the rules; the first rule decides first. */
const problems = {
  'unknown path': {
    status: 404,
    into: (request) => ({ ...request, path: `${request.path}/nowhere` }),
  },
  'wrong method': { status: 405, into: (request) => ({ ...request, method: 'POST' }) },
  'no token': {
    status: 401,
    into: ({ call: { token: _, ...call }, ...request }) => ({ ...request, call }),
  },
  'body too large': {
    status: 413,
    into: (request) => ({ ...request, call: { ...request.call, body: tooLarge } }),
  },
  'other media type': {
    status: 415,
    into: (request) => withHeaders(request, { 'Content-Type': 'text/plain' }),
  },
  'input of the wrong form': {
    status: 400,
    into: (request) => ({ ...request, call: { body: '{"status":"done"}', ...request.call } }),
  },
  'nothing of this ID': {
    status: 404,
    into: (request) => ({ ...request, path: request.path.replace(abortedId, unknownId) }),
  },
  'state that forbids it': { status: 409, into: (request) => request },
} as const satisfies Record<string, Problem>;
type ProblemName = keyof typeof problems;

const names = Object.keys(problems) as ProblemName[];
const pairs = names.flatMap((first, index) =>
  names.slice(index + 1).map((second) => [first, second] as const),
);

/** Sends a status report to the aborted deployment, with the given problems. */
async function responseTo(...chosen: readonly ProblemName[]): Promise<number> {
  const headers = { 'Content-Type': 'application/json' };
  const call = { token: device.token, headers };
  let request: SentRequest = { method: 'PUT', path: statusPath(abortedId), call };
  // The last rule's problem is added first, because it must not overwrite what an earlier rule
  // needs.
  for (const name of chosen.toReversed()) request = problems[name].into(request);
  const body = request.call.body ?? '{"status":"success"}';
  return (await server.request(request.method, request.path, { ...request.call, body })).status;
}

describe('a request with one problem', () => {
  it.each(names)('returns the status of its rule: %s', async (name) => {
    expect(await responseTo(name)).toBe(problems[name].status);
  });
});

describe('a request with two problems', () => {
  it.each(pairs)('returns the status of the first rule: %s before %s', async (first, second) => {
    expect(await responseTo(first, second)).toBe(problems[first].status);
  });
});

describe('a request with every remaining problem', () => {
  it.each(names.map((name, index) => [name, index] as const))(
    'returns the status of the first remaining rule: %s',
    async (name, index) => {
      expect(await responseTo(...names.slice(index))).toBe(problems[name].status);
    },
  );
});

describe('the media type of a body', () => {
  it.each([
    ['missing', []],
    ['empty', ['Content-Type: ']],
    ['without a subtype', ['Content-Type: json']],
    ['with two slashes', ['Content-Type: application/json/x']],
    ['nothing but a slash', ['Content-Type: /']],
  ])('returns 400 when malformed or missing, before the body is read: %s', async (_, given) => {
    const authorization = `Authorization: Bearer ${device.token}`;
    const headers = [authorization, ...given, 'Content-Length: 1'];
    const response = await sendRaw(
      server,
      rawRequest(`PUT ${statusPath(abortedId)}`, headers, '{'),
    );
    expect(response.status).toBe(400);
    expect(JSON.parse(response.body).error).toMatch(
      /^the Content-Type header is (missing|malformed)/,
    );
  });

  it.each(['text/json', 'application/jsonx', 'application/x-www-form-urlencoded', 'x/y; a=b'])(
    'returns 415 for another type, and the response names both: %s',
    async (mediaType) => {
      const headers = { 'Content-Type': mediaType };
      const call = { token: device.token, headers, body: '{' };
      const response = await server.request('PUT', statusPath(abortedId), call);
      expect(response.status).toBe(415);
      expect(response.json().error).toContain('"application/json"');
      expect(response.json().error).toContain(mediaType.split(';')[0]);
    },
  );

  it.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;'])(
    'is accepted as JSON with any parameters and case: %s',
    async (mediaType) => {
      const headers = { 'Content-Type': mediaType };
      const call = { token: device.token, headers, body: '{"status":"success"}' };
      expect((await server.request('PUT', statusPath(abortedId), call)).status).toBe(409);
    },
  );

  it('is ignored without a body, whether optional or required', async () => {
    const call = { token: device.token, headers: { 'Content-Type': 'text/plain' } };
    expect((await server.call('put-configuration', call)).status).toBe(204);
    const response = await server.request('PUT', statusPath(abortedId), call);
    expect(response.json()).toMatchObject({ error: 'body: is required' });
  });
});

describe('a user operation', () => {
  it('returns 401 without a token before its body or resource is examined', async () => {
    const path = managementOperations['abort-deployment'].path.replace('{id}', unknownId);
    expect((await server.request('PUT', path, { body: tooLarge })).status).toBe(401);
    const token = server.adminToken;
    expect((await server.request('PUT', path, { token, json: { status: 'x' } })).status).toBe(400);
    const aborted = { status: 'aborted' };
    expect((await server.request('PUT', path, { token, json: aborted })).status).toBe(422);
  });
});
