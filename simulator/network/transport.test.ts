import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ClientFixture } from '../testing/client-fixture.ts';
import { closedPortUrl, type StubResponse, StubServer } from '../testing/stub-server.ts';
import {
  ClientError,
  FleetStopped,
  ResponseError,
  TimeoutError,
  TransportError,
} from './errors.ts';
import type { HttpRequest, Transport } from './transport.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('it should have failed');
}

function benchFor(baseUrl: string): ClientFixture {
  const fixture = new ClientFixture(baseUrl);
  closers.push(() => fixture.close());
  return fixture;
}

async function answering(response: StubResponse) {
  const server = await StubServer.start({ 'get-configuration': () => response });
  closers.push(() => server.close());
  return { server, fixture: benchFor(server.baseUrl) };
}

/** A server that does not speak HTTP: writes these bytes to every client, then closes. */
async function rawServer(bytes: string): Promise<string> {
  const server: Server = createServer((socket: Socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => void server.close(() => resolve())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const path = '/api/devices/v1/deviceconfig/configuration';

function ask(transport: Transport, change: Partial<HttpRequest> = {}) {
  const request = { operation: 'get-configuration', caller: 'device 7', method: 'GET' } as const;
  return transport.exchange({ ...request, target: path, headers: {}, ...change });
}

describe('an exchange with a server', () => {
  it('returns the whole response whatever its status, and is measured', async () => {
    const { fixture } = await answering({ status: 418, body: 'short and stout' });
    const response = await ask(fixture.transport);
    expect(response.status).toBe(418);
    expect(response.body.toString()).toBe('short and stout');
    expect(fixture.metrics.operations()).toMatchObject([
      { operation: 'get-configuration', responses: { '4xx': 1 }, unanswered: 0 },
    ]);
  });

  it('is measured from its planned time, and its time limit from the actual sending', async () => {
    const { fixture } = await answering({ status: 200 });
    fixture.clock.advance(9000);
    const dueMs = fixture.clock.monotonicMs() - 7000;
    const response = await ask(fixture.transport, { dueMs });
    expect(response.elapsedMs).toBe(0);
    expect(fixture.metrics.latencies()[0]).toMatchObject({ count: 1, maxMs: 7000 });
    expect(fixture.metrics.lateness.maxMs).toBe(7000);
  });

  it('is measured from the actual sending when it is sent early', async () => {
    const { fixture } = await answering({ status: 200 });
    await ask(fixture.transport, { dueMs: fixture.clock.monotonicMs() + 7000 });
    expect(fixture.metrics.latencies()[0]).toMatchObject({ count: 1, maxMs: 0 });
    expect(fixture.metrics.lateness).toMatchObject({ count: 1, maxMs: 0 });
  });

  it('counts the bytes of its body and of the response that arrived, also of a broken one', async () => {
    const { fixture } = await answering({ status: 200, body: 'a'.repeat(100), cutAfterBytes: 10 });
    await errorOf(ask(fixture.transport, { body: '{"ü":1}' }));
    expect(fixture.metrics.operations()).toMatchObject([
      { unanswered: 1, sentBytes: 8, receivedBytes: 10 },
    ]);
  });

  it('puts the path of the base URL before that of the operation', async () => {
    const { server } = await answering({ status: 200 });
    const fixture = benchFor(`${server.baseUrl}/behind/a/proxy/`);
    expect((await ask(fixture.transport)).status).toBe(404);
    const open = benchFor(`${server.baseUrl}/`);
    expect((await ask(open.transport)).status).toBe(200);
  });

  it('fails with a transport error that says so when nothing listens at the port', async () => {
    const fixture = benchFor(await closedPortUrl());
    const error = await errorOf(ask(fixture.transport));
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({
      code: 'transport',
      label: 'transport/ECONNREFUSED',
      operation: 'get-configuration',
      caller: 'device 7',
      isTransient: true,
    });
    expect(String(error)).toContain('nothing listens at that address');
    expect(fixture.metrics.operations()[0]).toMatchObject({
      responses: {},
      unanswered: 1,
      refusedConnections: 1,
    });
  });

  it('fails with a transport error when the server hangs up before a response', async () => {
    const { fixture } = await answering('cut');
    const error = await errorOf(ask(fixture.transport));
    expect(error).toBeInstanceOf(TransportError);
    expect(String(error)).toContain('closed the connection before it answered');
  });

  it('fails with a transport error when the server hangs up within the body', async () => {
    const { fixture } = await answering({ status: 200, body: 'a'.repeat(100), cutAfterBytes: 10 });
    expect(await errorOf(ask(fixture.transport))).toBeInstanceOf(TransportError);
    expect(fixture.metrics.operations()[0]).toMatchObject({ unanswered: 1, resets: 1 });
  });

  it('fails with a transport error when the server does not speak HTTP', async () => {
    const fixture = benchFor(await rawServer('220 mail ready\r\n'));
    const error = await errorOf(ask(fixture.transport));
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ label: 'transport/HTTPParserError' });
    expect(fixture.metrics.operations()[0]).toMatchObject({ unanswered: 1, otherErrors: 1 });
  });

  it('ends at the time limit, not before, when the server does not respond', async () => {
    const { server, fixture } = await answering('no-response');
    const exchange = errorOf(ask(fixture.transport));
    await server.untilAsked('get-configuration');
    fixture.clock.advance(4999);
    expect(fixture.metrics.exchangeCount).toBe(0);
    fixture.clock.advance(1);
    const error = await exchange;
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ code: 'timeout', label: 'timeout', elapsedMs: 5000 });
    expect(String(error)).toContain('no complete response within 5000 ms');
    expect(fixture.metrics.operations()[0]).toMatchObject({ unanswered: 1, timeouts: 1 });
  });

  it('fails when the response is too large, and names the limit', async () => {
    const { fixture } = await answering({ status: 200, body: 'a'.repeat(1001) });
    const error = await errorOf(ask(fixture.transport, { responseMaxBytes: 1000 }));
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toMatchObject({ label: 'response/too-large', isTransient: false });
    expect(String(error)).toContain('larger than 1000 bytes');
    expect((await ask(fixture.transport, { responseMaxBytes: 1001 })).body.length).toBe(1001);
  });

  it('is stopped and not counted when the run is interrupted', async () => {
    const { server, fixture } = await answering('no-response');
    const exchange = errorOf(ask(fixture.transport));
    await server.untilAsked('get-configuration');
    fixture.transport.abortAll();
    expect(await exchange).toBeInstanceOf(FleetStopped);
    expect(fixture.metrics.operations()).toEqual([]);
  });

  it('names the remedy when the CA of the certificate is unknown', () => {
    const circumstances = { operation: 'login', caller: 'user', elapsedMs: 1 };
    const error = new TransportError('DEPTH_ZERO_SELF_SIGNED_CERT', circumstances);
    expect(error.message).toContain('give the CA certificate');
  });

  it('never copies control characters of an error into its message', () => {
    const circumstances = { operation: 'login', caller: 'user', elapsedMs: 1 };
    const error = new TransportError('\u001b[2J', circumstances);
    expect(error.message).not.toContain('\u001b');
    expect(error).toBeInstanceOf(ClientError);
  });
});
