/** Every user operation refuses invalid input. The tests iterate over the table of operations. */
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../fixtures/contract/limits.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { rawRequest, sendRaw } from '../../testing/raw-http.ts';
import {
  type ResourceCallId,
  resourceCallIds,
  resourceCalls,
} from '../../testing/test-belongings.ts';
import {
  startTestServer,
  type TestCall,
  type TestResponse,
  type TestServer,
} from '../../testing/test-server.ts';

type Id = keyof typeof managementOperations;

let server: TestServer;
let round = 0;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

const rows = Object.values(managementOperations).map((row): [Id, Operation] => [row.id, row]);
const audited = [operations['list-audit-logs'], operations['export-audit-logs']];

/** The body of these operations is a list; every other body is an object. */
const lists: readonly Id[] = [
  'replace-tags',
  'add-tags',
  'put-release-tags',
  'add-group-devices',
  'remove-group-devices',
];

function expectError(response: TestResponse, status: number): void {
  expect([response.status, response.json()]).toEqual([
    status,
    expect.objectContaining({ error: expect.any(String), request_id: expect.any(String) }),
  ]);
}

/** Calls an operation as the admin, with path parameters that name nothing. */
function ask({ method, path, authorization }: Operation, call: TestCall): Promise<TestResponse> {
  const token = authorization === 'user' ? { token: server.adminToken } : {};
  return server.request(method, path.replace(/\{\w+\}/g, 'some'), { ...token, ...call });
}

const json = 'application/json';
const withBody = rows.filter(([, { body }]) => body);

describe.each(withBody)('the body of %s', (id, row) => {
  const send = (body: string | Buffer, type = json) =>
    ask(row, { body, headers: { 'Content-Type': type } });

  it.each<[number, string, string | Buffer]>([
    [400, 'no JSON', '{"name":'],
    [400, 'a form instead of JSON', 'status=accepted'],
    [400, 'no UTF-8 text', Buffer.from([0x22, 0xff, 0x22])],
    [400, 'null', 'null'],
    [400, 'a string', '"text"'],
    [400, 'a number', '7'],
    [400, 'true', 'true'],
    [400, 'nested 9,000 levels deep', '['.repeat(9000)],
    [413, 'of more values than a body may have', '['.repeat(200_000)],
    [413, 'larger than a body may be', JSON.stringify('x'.repeat(limits.bodyMaxBytes))],
  ])('returns %i if it is %s', async (status, _, body) => {
    expectError(await send(body), status);
  });

  it('returns 400 if it is a list instead of an object, or the reverse', async () => {
    expectError(await send(lists.includes(id) ? '{}' : '[]'), 400);
  });

  it('returns 415 with another media type', async () => {
    expectError(await send('name=x', 'application/x-www-form-urlencoded'), 415);
  });
});

describe.each(withBody.filter(([, { bodyOptional }]) => !bodyOptional))(
  'the operation %s',
  (_, row) => {
    it('returns 400 without a body', async () => {
      expectError(await ask(row, { body: '', headers: { 'Content-Type': json } }), 400);
    });
  },
);

const forms = rows.filter(([, { mediaType }]) => mediaType !== undefined);

describe.each(forms)('the multipart form of %s', (id, row) => {
  const type = 'multipart/form-data; boundary=cut';
  const part = '--cut\r\nContent-Disposition: form-data; name="path"\r\n\r\n/x\r\n';

  /** The operation for device files first checks whether the device exists, hence 404. */
  const refusal = id === 'upload-device-file' ? 404 : 400;

  it.each<[string, string]>([
    ['none', ''],
    ['no form', '{"name":"x"}'],
    ['without any file', `${part}--cut--\r\n`],
    ['cut off', part.slice(0, -10)],
    ['without its end', part],
  ])('is refused if it is %s', async (_, body) => {
    expectError(await ask(row, { body, headers: { 'Content-Type': type } }), refusal);
  });

  it('returns 415 with another media type', async () => {
    const response = await ask(row, { body: '{}', headers: { 'Content-Type': json } });
    expectError(response, 415);
  });

  it('is refused if its media type has no boundary', async () => {
    const headers = { 'Content-Type': 'multipart/form-data' };
    expectError(await ask(row, { body: part, headers }), refusal);
  });

  it('is refused by its Content-Length before the body arrives', async () => {
    const path = row.path.replace('{id}', 'some');
    const response = await sendRaw(
      server,
      rawRequest(`${row.method} ${path}`, [
        `Authorization: Bearer ${server.adminToken}`,
        `Content-Type: ${type}`,
        'Content-Length: 99999999999',
      ]),
    );
    expect([response.status, JSON.parse(response.body)]).toEqual([
      id === 'upload-device-file' ? 404 : 413,
      { error: expect.any(String), request_id: expect.any(String) },
    ]);
  });
});

describe('each operation with path parameters', () => {
  it('has a case in this file', () => {
    expect(Object.keys(resourceCalls).sort()).toEqual([...resourceCallIds].sort());
  });

  describe.each(resourceCallIds.map((id) => [id, resourceCalls[id]] as const))(
    'the operation %s',
    (id, resourceCall) => {
      const row: Operation = managementOperations[id];
      const { foreign = 404, malformed = 404 } = resourceCall;

      async function expectStatus(name: string, status: number): Promise<void> {
        const names = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, one = '']) => [one, name]);
        const parameters = Object.fromEntries(names);
        const call = { token: server.adminToken, parameters, ...resourceCall.call?.(parameters) };
        const response = await server.call(id, call);
        expect([name.slice(0, 40), response.status]).toEqual([name.slice(0, 40), status]);
        if (status < 300) return;
        if (row.method === 'HEAD') expect(response.text).toBe('');
        else expectError(response, status);
      }

      it(`returns ${foreign} for a name that does not exist`, async () => {
        await expectStatus('00000000-0000-4000-8000-000000000000', foreign);
      });

      it(`returns ${malformed} for a malformed name`, async () => {
        for (const name of ['ü/%', "' OR 1=1 --", '\0', '{}', ' ', 'x'.repeat(5000)]) {
          await expectStatus(name, malformed);
        }
      });
    },
  );
});

const paged = rows.filter(([, { query }]) => query && 'page' in query);

/** Calls an operation on a resource that exists, with the given query. */
async function callOwn(id: Id, query: Readonly<Record<string, string>>): Promise<TestResponse> {
  const token = server.adminToken;
  if (!managementOperations[id].path.includes('{')) {
    const body = withBody.some(([taken]) => taken === id) ? { json: {} } : {};
    return server.call(id, { token, query, ...body });
  }
  round += 1;
  const parameters = (await resourceCalls[id as ResourceCallId].make?.(server, round)) ?? {};
  return server.call(id, { token, query, parameters });
}

describe.each(paged)('the pages of %s', (id, { query = {} }) => {
  const accepted = (perPage: string) => v.is(v.object(query), { page: '1', per_page: perPage });

  it('return 400 unless their number is at least 1 and their size limited', async () => {
    const beyond = accepted('21') ? '501' : '21';
    for (const page of ['0', '-1', '1.5', 'x', '']) {
      expectError(await callOwn(id, { page }), 400);
    }
    for (const per_page of ['0', '-1', 'x', beyond, '99999999999999999999']) {
      expectError(await callOwn(id, { per_page }), 400);
    }
  });

  it('are empty past the end', async () => {
    const response = await callOwn(id, { page: '1000000' });
    expect([response.status, response.json()]).toEqual([200, []]);
  });
});

const pagedByBody = withBody.filter(
  ([, { body }]) => body && v.is(body, { page: 1 }) && !v.is(body, { page: 0 }),
);

it('only search-inventory has its page parameters in the body', () => {
  expect(pagedByBody.map(([id]) => id)).toEqual(['search-inventory']);
});

describe.each(pagedByBody)('the pages of %s', (id) => {
  const send = (body: object) => server.call(id, { token: server.adminToken, json: body });

  it('return 400 unless their number is at least 1 and their size limited', async () => {
    for (const page of [0, -1, 1.5, '1', null]) expectError(await send({ page }), 400);
    for (const per_page of [0, 501, '20']) expectError(await send({ per_page }), 400);
  });

  it('are empty past the end', async () => {
    const response = await send({ page: 1_000_000 });
    expect([response.status, response.json()]).toEqual([200, []]);
  });
});

const withRequiredQuery = rows.filter(([, { query }]) => query && !v.is(v.object(query), {}));

describe.each(withRequiredQuery)('the query of %s', (_, row) => {
  it('returns 400 if a required parameter is missing', async () => {
    const response = await ask(row, {});
    expect(response.status).toBe(400);
    if (row.method !== 'HEAD') expectError(response, 400);
  });
});

describe.each([...rows.map(([, row]) => row), ...audited].filter(({ query }) => query))(
  'the query of $id',
  (row) => {
    it('can have any unknown parameters without a server error', async () => {
      const query = new URLSearchParams({ unknown: '\0', '__proto__[x]': '1', constructor: 'ü' });
      const target = `${row.path.replace(/\{\w+\}/g, 'some')}?${query}&%zz=%&&=&`;
      const response = await server.request(row.method, target, { token: server.adminToken });
      expect(response.status).toBeLessThan(500);
    });
  },
);
