import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { ManualClock } from '../../fixtures/clock.ts';
import { Ledger } from '../report/ledger.ts';
import { noonMs, token } from '../testing/bench.ts';
import { certificatePem, keyPem } from '../testing/certificate.ts';
import { DeviceSocket } from './device-socket.ts';
import { TransportError } from './errors.ts';
import { Transport } from './transport.ts';

const server = createServer({ key: keyPem, cert: certificatePem }, (_request, response) => {
  response.end('hello');
});
const upgrades = new WebSocketServer({ server });
const clock = new ManualClock(noonMs);
const transports: Transport[] = [];
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  for (const transport of transports.splice(0)) await transport.close();
});
afterAll(async () => {
  for (const client of upgrades.clients) client.terminate();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function hello(host: string, caPem?: string) {
  const transport = new Transport({
    baseUrl: `https://${host}:${port}`,
    clock,
    observer: new Ledger(clock),
    requestTimeLimitMs: 5000,
    connectionsMax: 1,
    caPem,
  });
  transports.push(transport);
  const request = { operation: 'login', caller: 'operator', method: 'GET' } as const;
  return transport.exchange({ ...request, target: '/', headers: {} });
}

describe('a server with a certificate', () => {
  it('is not trusted when nobody vouches for it, and the way out is told', async () => {
    const fault = await hello('127.0.0.1').catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(TransportError);
    expect(fault).toMatchObject({ label: 'transport/DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(String(fault)).toContain("name the CA's certificate");
  });

  it('is trusted when its authority is named', async () => {
    expect((await hello('127.0.0.1', certificatePem)).body.toString()).toBe('hello');
  });

  it('is not trusted under a name that the certificate does not hold', async () => {
    const fault = await hello('127.0.0.2', certificatePem).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(TransportError);
  });

  it.each([
    ['opens for a device that knows the authority', certificatePem, 'open'],
    ['stays closed for a device that does not', undefined, 'closed'],
  ])('has a websocket that %s', async (_what, caPem, state) => {
    const options = { baseUrl: `https://127.0.0.1:${port}`, clock, requestTimeLimitMs: 5000 };
    const socket = new DeviceSocket(token, { ...options, observer: new Ledger(clock), caPem });
    while (socket.state === 'opening') await new Promise((resolve) => setImmediate(resolve));
    expect(socket.state).toBe(state);
    socket.close();
  });
});
