import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rolesOperations } from '../../fixtures/contract/management/roles.ts';
import { tokensOperations } from '../../fixtures/contract/management/tokens.ts';
import { usersOperations } from '../../fixtures/contract/management/users.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

const rows: readonly Operation[] = [
  ...Object.values(usersOperations),
  ...Object.values(rolesOperations),
  ...Object.values(tokensOperations),
];
const taking = rows.filter(({ body }) => body).map((row) => [row.id, row] as const);
const json = 'application/json';

function send({ method, path, authorization }: Operation, body: string | Buffer, type = json) {
  const headers = {
    'Content-Type': type,
    ...(authorization === 'user' && { Authorization: `Bearer ${server.adminToken}` }),
  };
  return server.request(method, path.replace(/\{\w+\}/g, 'some'), { headers, body });
}

describe.each(taking)('the body of %s', (_, row) => {
  it.each<[string, number, string | Buffer, string]>([
    ['too large', 413, JSON.stringify({ name: 'x'.repeat(1_048_577) }), json],
    ['no JSON', 400, '{"name":', json],
    ['no UTF-8 text', 400, Buffer.from([0x22, 0xff, 0x22]), json],
    ['a list', 400, '[]', json],
    ['null', 400, 'null', json],
    ['of another media type', 415, 'name=x', 'application/x-www-form-urlencoded'],
  ])('is refused when it is %s: %i', async (_what, status, body, type) => {
    const reply = await send(row, body, type);
    expect(reply.status).toBe(status);
    expect(reply.json()).toMatchObject({ error: expect.any(String) });
  });
});

describe.each(taking.filter(([, { bodyOptional }]) => !bodyOptional))('%s', (_, row) => {
  it('is 400 without a body', async () => {
    expect((await send(row, '')).status).toBe(400);
  });
});
