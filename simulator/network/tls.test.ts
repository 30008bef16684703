import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { DeviceSocket } from '../api-client/device-socket.ts';
import { RunMetrics } from '../metrics/run-metrics.ts';
import { certificatePem, keyPem } from '../testing/certificate.ts';
import { noonMs, token } from '../testing/client-fixture.ts';
import { TransportError } from './errors.ts';
import { Transport } from './transport.ts';

const server = createServer({ key: keyPem, cert: certificatePem }, (_request, response) => {
  response.end('hello');
});
const upgrades = new WebSocketServer({ server });
const clock = new ManualClock(noonMs);
const transports: Transport[] = [];
const closers: (() => void)[] = [];
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  for (const transport of transports.splice(0)) await transport.close();
  for (const close of closers.splice(0)) close();
});
afterAll(async () => {
  for (const client of upgrades.clients) client.terminate();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

interface HelloOptions {
  readonly serverPort?: number;
  readonly metrics?: RunMetrics;
  readonly certPem?: string;
  readonly keyPem?: string;
}

function hello(host: string, caPem?: string, at: HelloOptions = {}) {
  const { serverPort = port, metrics = new RunMetrics(clock), ...own } = at;
  const transport = new Transport({
    baseUrl: `https://${host}:${serverPort}`,
    clock,
    observer: metrics,
    requestTimeLimitMs: 5000,
    connectionsMax: 1,
    caPem,
    ...own,
  });
  transports.push(transport);
  const request = { operation: 'login', caller: 'user', method: 'GET' } as const;
  return transport.exchange({ ...request, target: '/', headers: {} });
}

describe('a server that requires client certificates', () => {
  const own = { certPem: certificatePem, keyPem };

  async function startServer() {
    const settings = { requestCert: true, rejectUnauthorized: true, ca: certificatePem };
    const strictServer = createServer(
      { key: keyPem, cert: certificatePem, ...settings },
      (_, response) => {
        response.end('hello');
      },
    );
    const sockets = new WebSocketServer({ server: strictServer });
    await new Promise<void>((resolve) => strictServer.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      for (const client of sockets.clients) client.terminate();
      strictServer.closeAllConnections();
      strictServer.close();
    });
    return {
      serverPort: (strictServer.address() as AddressInfo).port,
      metrics: new RunMetrics(clock),
    };
  }

  it('serves a client that has one and counts an error otherwise', async () => {
    const at = await startServer();
    const { body } = await hello('127.0.0.1', certificatePem, { ...at, ...own });
    expect(body.toString()).toBe('hello');
    const thrown = await hello('127.0.0.1', certificatePem, at).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(TransportError);
    expect(at.metrics.operations()).toMatchObject([{ responses: { '2xx': 1 }, unanswered: 1 }]);
  });

  it.each([
    ['opens for a device that has one', own, 'open', 0],
    ['closes for a device that has none, and counts it', {}, 'closed', 1],
  ])('has a WebSocket that %s', async (_what, mine, state, unanswered) => {
    const { serverPort, metrics: observer } = await startServer();
    const options = { baseUrl: `https://127.0.0.1:${serverPort}`, clock, observer };
    const limits = { requestTimeLimitMs: 5000, caPem: certificatePem };
    const socket = new DeviceSocket(token, { ...options, ...limits, ...mine });
    while (socket.state === 'opening') await new Promise((resolve) => setImmediate(resolve));
    expect(socket.state).toBe(state);
    expect(observer.operations()).toMatchObject([{ operation: 'connect', unanswered }]);
    socket.close();
  });
});

describe('a server with its own certificate', () => {
  it('is not trusted without a known CA, and the error names the remedy', async () => {
    const thrown = await hello('127.0.0.1').catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(TransportError);
    expect(thrown).toMatchObject({ label: 'transport/DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(String(thrown)).toContain('give the CA certificate');
  });

  it('is trusted when its CA is configured', async () => {
    expect((await hello('127.0.0.1', certificatePem)).body.toString()).toBe('hello');
  });

  it('is not trusted under a name that the certificate does not contain', async () => {
    const thrown = await hello('127.0.0.2', certificatePem).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(TransportError);
  });

  it.each([
    ['opens for a device that knows the authority', certificatePem, 'open'],
    ['stays closed for a device that does not', undefined, 'closed'],
  ])('has a WebSocket that %s', async (_what, caPem, state) => {
    const options = { baseUrl: `https://127.0.0.1:${port}`, clock, requestTimeLimitMs: 5000 };
    const socket = new DeviceSocket(token, { ...options, observer: new RunMetrics(clock), caPem });
    while (socket.state === 'opening') await new Promise((resolve) => setImmediate(resolve));
    expect(socket.state).toBe(state);
    socket.close();
  });
});
