import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { startServer } from '../../../server/server.ts';
import { type FleetPlan, simulateFleet } from '../../../simulator/engine/simulate-fleet.ts';
import { planDefaults } from '../../../simulator/plan/plan.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { runCommand } from '../../testing/built-command.ts';
import { virtualUser } from '../../virtual/virtual-server.ts';
import { trafficOf } from './estimate.ts';

const startMs = Date.parse('2026-11-21T12:00:00Z');
const { signal } = new AbortController();

const plan: FleetPlan = {
  ...planDefaults,
  devices: 20,
  seed: 'estimate',
  keys: { rsa: 0, ecdsa: 0, ed25519: 1 },
  baseUrl: 'http://server.invalid',
  headerPrefix: 'X-SVC',
  rampMs: 0,
  drainMs: 0,
  requestTimeLimitMs: 30_000,
  pollIntervalMs: 500,
  inventoryIntervalMs: 3_600_000,
};

/** Forwards connections to a server, and counts the bytes in each direction. */
async function countingProxy(port: number) {
  const bytes = { sent: 0, received: 0 };
  const proxy = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    client.on('data', (chunk) => {
      bytes.sent += chunk.length;
      server.write(chunk);
    });
    server.on('data', (chunk) => {
      bytes.received += chunk.length;
      client.write(chunk);
    });
    client.on('close', () => server.destroy()).on('error', () => server.destroy());
    server.on('close', () => client.destroy()).on('error', () => client.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const baseUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return { baseUrl, bytes, close: () => proxy.close() };
}

describe("the estimate of a fleet's traffic", () => {
  it('matches the requests of a real fleet and their bytes on the wire', {
    timeout: 60_000,
  }, async () => {
    const server = await startServer({
      port: 0,
      controlPort: 0,
      logLevel: 'silent',
      autoAccept: true,
    });
    const proxy = await countingProxy(Number(new URL(server.baseUrl).port));
    const readings: { requests: number; sent: number; received: number; atMs: number }[] = [];
    let isSteady = false;
    try {
      await simulateFleet(
        { ...plan, baseUrl: proxy.baseUrl, durationMs: 10_000 },
        {
          clock: systemClock,
          signal,
          onProgress: ({ exchanges, elapsedMs, funnel }) => {
            // Only steady polling is compared, because authentication takes long on a busy machine.
            if (isSteady) readings.push({ requests: exchanges, ...proxy.bytes, atMs: elapsedMs });
            isSteady = funnel.idle === plan.devices;
          },
        },
      );
    } finally {
      proxy.close();
      await server.close();
    }
    const [from] = readings;
    const to = readings.findLast(({ atMs }) => atMs < 10_000);
    if (!from || !to) throw new Error('the fleet never polled steadily');
    const requests = to.requests - from.requests;
    const perSecond = requests / plan.devices / ((to.atMs - from.atMs) / 1000);
    const estimated = await trafficOf({ ...plan, acceptWith: virtualUser }, startMs, { signal });
    expect(estimated.requests / perSecond).toBeCloseTo(1, 1);
    const wire = { sent: to.sent - from.sent, received: to.received - from.received };
    expect(estimated.sentBytes / estimated.requests / (wire.sent / requests)).toBeCloseTo(1, 1);
    const received = estimated.receivedBytes / estimated.requests;
    expect(received / (wire.received / requests)).toBeCloseTo(1, 1);
  });

  it('is printed for any command line without any request', { timeout: 60_000 }, async () => {
    const args = ['--url', 'http://server.invalid', '--devices', '50000', '--poll', '30m'];
    const more = ['--connect', '--keys', 'ed25519=1', '--processes', '4', '--duration', '30d'];
    const { code, stdout } = await runCommand([
      'simulate',
      ...args,
      ...more,
      '--estimate',
      '--json',
    ]);
    expect(code).toBe(exitCodes.pass);
    const { device, fleets } = JSON.parse(stdout);
    expect(device.connectedShare).toBe(1);
    expect(fleets.map(({ devices }: { devices: number }) => devices)).toEqual([
      ...[50_000, 1_000_000, 10_000_000, 100_000_000],
    ]);
    expect(fleets[0]).toMatchObject({ sockets: 50_000 });
    expect(fleets[0].requestsPerSecond).toBeCloseTo(50_000 * device.requests);
  });

  it.each([
    [['--virtual']],
    [['--explore', '3']],
    [['--events', 'x.ndjson']],
    [['--report', 'json=x.json']],
  ])('is refused in combination with %j', async (args) => {
    const { code, stderr } = await runCommand(['simulate', '--estimate', ...args]);
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toContain('--estimate');
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
