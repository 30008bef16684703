import { afterEach, describe, expect, it } from 'vitest';
import { ClientFixture } from '../testing/client-fixture.ts';
import { StubServer } from '../testing/stub-server.ts';
import type { HttpRequest } from './transport.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const path = '/api/devices/v1/deviceconfig/configuration';
const request: HttpRequest = {
  operation: 'get-configuration',
  caller: 'device 7',
  method: 'GET',
  target: path,
  headers: {},
};

/** Starts a server that answers one request for each `release`, and a client with a connection. */
async function heldServer() {
  const releases: (() => void)[] = [];
  const server = await StubServer.start({
    'get-configuration': async () => {
      await new Promise<void>((resolve) => releases.push(resolve));
      return { status: 200, body: 'a'.repeat(100) };
    },
  });
  closers.push(() => server.close());
  const fixture = new ClientFixture(server.baseUrl, { connectionsMax: 1 });
  closers.push(() => fixture.close());
  const release = async (count: number): Promise<void> => {
    await server.untilAsked('get-configuration', count);
    releases.shift()?.();
  };
  return { server, fixture, release };
}

describe('the latency of an exchange', () => {
  it('is divided into the wait for a connection and the service of the server', async () => {
    const { server, fixture, release } = await heldServer();
    const { clock, transport, metrics } = fixture;
    const first = transport.exchange(request);
    await server.untilAsked('get-configuration', 1);
    const second = transport.exchange({ ...request, dueMs: clock.monotonicMs() - 100 });
    clock.advance(300);
    await release(1);
    await first;
    await server.untilAsked('get-configuration', 2);
    clock.advance(50);
    await release(2);
    await second;
    const [latency] = metrics.latencies();
    expect(latency).toMatchObject({ count: 2, maxMs: 450 });
    // The second was due 100 ms before it began, and waited 300 ms for the only connection.
    expect(latency?.waiting).toMatchObject({ count: 2, p50Ms: 0, maxMs: 400 });
    expect(latency?.service?.p50Ms).toBeCloseTo(50, 0);
    expect(latency?.service).toMatchObject({ count: 2, maxMs: 300 });
  });

  it('divides in the same way for a file, and counts the bytes as they arrive', async () => {
    const { server, fixture, release } = await heldServer();
    const { clock, transport, metrics } = fixture;
    const first = transport.exchange(request);
    await server.untilAsked('get-configuration', 1);
    const opened = transport.open({ ...request, operation: 'download-artifact' });
    clock.advance(300);
    await release(1);
    await first;
    await server.untilAsked('get-configuration', 2);
    clock.advance(20);
    await release(2);
    let arrived = 0;
    for await (const chunk of (await opened).chunks()) {
      arrived += chunk.length;
      expect(metrics.operations()[0]).toMatchObject({ receivedBytes: arrived });
      clock.advance(5);
    }
    expect(arrived).toBe(100);
    const [download] = metrics.latencies();
    expect(download?.waiting).toMatchObject({ count: 1, maxMs: 300 });
    expect(download?.service?.maxMs).toBeGreaterThanOrEqual(25);
    expect(download?.maxMs).toBe(300 + (download?.service?.maxMs ?? 0));
  });

  it('has no parts when no response arrived', async () => {
    const { server, fixture } = await heldServer();
    const exchange = fixture.transport.exchange(request);
    await server.untilAsked('get-configuration', 1);
    fixture.clock.advance(5000);
    await expect(exchange).rejects.toThrow('no complete response');
    expect(fixture.metrics.latencies()).toEqual([]);
  });
});
