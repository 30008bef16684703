import { afterEach, describe, expect, it } from 'vitest';
import { exchangerOf } from '../api-client/session.ts';
import { ClientFixture, sessionOf, token } from '../testing/client-fixture.ts';
import { type Responses, StubServer } from '../testing/stub-server.ts';
import { ExchangeTap, type WatchedExchange } from './exchange-tap.ts';

let server: StubServer;
let fixture: ClientFixture;
const seen: WatchedExchange[] = [];

afterEach(async () => {
  seen.length = 0;
  await fixture.close();
  await server.close();
});

async function watchedSession(responses: Responses) {
  server = await StubServer.start(responses);
  fixture = new ClientFixture(server.baseUrl);
  const { clock } = fixture;
  const saw = (exchange: WatchedExchange) => void seen.push(exchange);
  const session = await sessionOf();
  session.tap = new ExchangeTap({
    device: 7,
    baseUrl: `${server.baseUrl}/`,
    clock,
    onExchange: saw,
  });
  return session;
}

const granted = { 'post-auth-request': () => ({ status: 200, body: token }) };

describe('a tap on the exchanges of a device', () => {
  it('sees requests as they are sent and answers as they arrive', async () => {
    const configured = { status: 200, headers: { 'x-more': 'yes' }, body: { a: 'b' } };
    const session = await watchedSession({ ...granted, 'get-configuration': () => configured });
    expect(await fixture.client.configuration(session)).toEqual({ a: 'b' });
    expect(seen.map(({ operation }) => operation)).toEqual([
      'post-auth-request',
      'get-configuration',
    ]);
    const [authRequest, read] = seen;
    expect(String(authRequest?.body)).toBe(server.requests[0]?.body.toString());
    expect(authRequest?.headers).toHaveProperty('X-SVC-Signature');
    expect(read).toMatchObject({
      device: 7,
      method: 'GET',
      headers: { authorization: `Bearer ${token}` },
      response: { status: 200, headers: { 'x-more': 'yes' } },
    });
    expect(String(read?.response?.body)).toBe('{"a":"b"}');
    expect(new URL(read?.url ?? '').origin).toBe(server.baseUrl);
    expect(new URL(read?.url ?? '').pathname).not.toMatch(/^\/\//);
  });

  it('sees refusals, and exchanges without a response', async () => {
    const session = await watchedSession({
      ...granted,
      'get-configuration': () => ({ status: 500, body: 'out of order' }),
      'put-configuration': () => 'cut',
    });
    await expect(fixture.client.configuration(session)).rejects.toThrow(/500/);
    await expect(fixture.client.reportConfiguration(session, {})).rejects.toThrow(/no response/);
    expect(seen.slice(1).map(({ response }) => response?.status)).toEqual([500, undefined]);
  });

  it('keeps nothing of a long body, and passes the body on unchanged', async () => {
    const value = 'x'.repeat(300_000);
    const session = await watchedSession({
      ...granted,
      'get-configuration': () => ({ status: 500, body: { value } }),
    });
    await expect(fixture.client.configuration(session)).rejects.toThrow(/500/);
    expect(seen[1]?.response).toMatchObject({ status: 500 });
    expect(seen[1]?.response).not.toHaveProperty('body');
  });

  it('sees the head of a downloaded file and leaves its body alone', async () => {
    const session = await watchedSession({
      'download-artifact': () => ({ status: 200, body: 'the file' }),
    });
    const request = { operation: 'download-artifact', caller: 'device 7', method: 'GET' } as const;
    const target = new URL(`${server.baseUrl}/storage/artifacts/1`);
    const response = await exchangerOf(session, fixture.transport).open({
      ...request,
      target,
      headers: {},
    });
    const chunks: Buffer[] = [];
    for await (const chunk of response.chunks()) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('the file');
    expect(seen).toMatchObject([{ url: target.href, response: { status: 200 } }]);
    expect(seen[0]?.response).not.toHaveProperty('body');
  });

  it('is optional: without one, exchanges use the transport directly', async () => {
    const session = await watchedSession({});
    session.tap = undefined;
    expect(exchangerOf(session, fixture.transport)).toBe(fixture.transport);
  });
});
