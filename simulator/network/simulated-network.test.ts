import { afterEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import type { NetworkShape } from '../plan/policy.ts';
import { ClientFixture } from '../testing/client-fixture.ts';
import { StubServer } from '../testing/stub-server.ts';
import { ClientError } from './errors.ts';
import { SimulatedNetwork } from './simulated-network.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const still: NetworkShape = { latencyMs: 0, jitterMs: 0, lossShare: 0, bytesPerSecond: 0 };
const request = {
  operation: 'post-alerts',
  caller: 'device 0',
  method: 'POST',
  target: '/api/devices/v1/devicemonitor/alert',
  headers: {},
  body: 'x'.repeat(500),
} as const;
const file = Buffer.alloc(10_000, 3);

/** Returns a transport behind a simulated network. Its waits are recorded and take no time. */
async function startBehindNetwork(shape: Partial<NetworkShape>, seed = 'x') {
  const server = await StubServer.start({
    'post-alerts': () => ({ status: 200, body: 'y'.repeat(1000) }),
    'download-artifact': () => ({ status: 200, body: file }),
  });
  const fixture = new ClientFixture(server.baseUrl);
  closers.push(
    () => server.close(),
    () => fixture.close(),
  );
  const { clock, transport, metrics } = fixture;
  const waitsMs: number[] = [];
  const sleep = async (waitMs: number): Promise<void> => {
    waitsMs.push(waitMs);
    clock.advance(waitMs);
  };
  const random = seededRandom(seed);
  const network = new SimulatedNetwork(
    { ...still, ...shape },
    { clock, random, sleep, requestTimeLimitMs: 5000 },
  );
  const total = (): number => Math.round(waitsMs.reduce((sum, each) => sum + each, 0));
  return { server, metrics, clock, through: network.wrap(transport), waitsMs, total };
}

async function outcomeOf(exchange: Promise<unknown>): Promise<string> {
  return exchange.then(
    () => 'through',
    (error: unknown) => (error instanceof ClientError ? error.label : String(error)),
  );
}

function fetchFile(through: ReturnType<SimulatedNetwork['wrap']>) {
  const target = '/storage/artifacts/1';
  const { caller, headers } = request;
  return through.open({ operation: 'download-artifact', caller, method: 'GET', target, headers });
}

async function bytesOf(through: ReturnType<SimulatedNetwork['wrap']>): Promise<number> {
  let bytes = 0;
  for await (const chunk of (await fetchFile(through)).chunks()) bytes += chunk.length;
  return bytes;
}

describe('a simulated network', () => {
  it('changes nothing when its shape is empty', async () => {
    const { through, total } = await startBehindNetwork({});
    const { status, body } = await through.exchange(request);
    expect([status, body.length, total()]).toEqual([200, 1000, 0]);
    expect(await bytesOf(through)).toBe(file.length);
  });

  it('adds its latency in both directions, with jitter around it', async () => {
    const steady = await startBehindNetwork({ latencyMs: 300 });
    await steady.through.exchange(request);
    expect(steady.total()).toBe(600);
    const jittery = await startBehindNetwork({ latencyMs: 300, jitterMs: 100 });
    for (let sent = 0; sent < 20; sent++) await jittery.through.exchange(request);
    const delaysMs = jittery.waitsMs.filter((waitMs) => waitMs > 0);
    expect(Math.min(...delaysMs)).toBeGreaterThanOrEqual(400);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(800);
    expect(new Set(delaysMs.map(Math.round)).size).toBeGreaterThan(15);
  });

  it('transfers bodies at its bandwidth, in both directions', async () => {
    const { through, total } = await startBehindNetwork({ bytesPerSecond: 1000 });
    await through.exchange(request);
    expect(total()).toBe(500 + 1000);
    await bytesOf(through);
    expect(total()).toBe(1500 + 10_000);
  });

  it('pauses the time limit of the request while it transfers bytes', async () => {
    const { through, clock } = await startBehindNetwork({ bytesPerSecond: 100 });
    expect(await bytesOf(through)).toBe(file.length);
    // The transfer takes a hundred seconds; the limit is five seconds for each pause of the server.
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(100_000);
  });

  it('loses its share of exchanges, by a reset or by silence until the time limit', async () => {
    const { server, through, waitsMs } = await startBehindNetwork({ lossShare: 0.5 });
    const outcomes: string[] = [];
    for (let sent = 0; sent < 200; sent++)
      outcomes.push(await outcomeOf(through.exchange(request)));
    const count = (outcome: string): number => outcomes.filter((each) => each === outcome).length;
    expect(count('through')).toBeGreaterThan(70);
    expect(count('through')).toBeLessThan(130);
    expect(count('transport/NETWORK_LOSS')).toBeGreaterThan(20);
    expect(count('timeout')).toBeGreaterThan(20);
    expect(count('through') + count('timeout') + count('transport/NETWORK_LOSS')).toBe(200);
    expect(waitsMs.filter((waitMs) => waitMs > 4000)).toHaveLength(count('timeout'));
    // Some responses were lost on the way back, so the server has received those requests.
    const receivedCount = server.requestsFor('post-alerts').length;
    expect(receivedCount).toBeGreaterThan(count('through'));
    expect(receivedCount).toBeLessThan(200);
  });

  it('loses the same exchanges for the same seed, and others for another seed', async () => {
    const outcomes = async (seed: string) => {
      const { through } = await startBehindNetwork({ lossShare: 0.5 }, seed);
      const all: string[] = [];
      for (let sent = 0; sent < 40; sent++) all.push(await outcomeOf(through.exchange(request)));
      return all;
    };
    expect(await outcomes('x')).toEqual(await outcomes('x'));
    expect(await outcomes('x')).not.toEqual(await outcomes('y'));
  });

  it('breaks off a file at different places, including its middle', async () => {
    const { through } = await startBehindNetwork({ lossShare: 1 });
    const received: number[] = [];
    for (let sent = 0; sent < 30; sent++) {
      let bytes = 0;
      const read = async (): Promise<void> => {
        for await (const chunk of (await fetchFile(through)).chunks()) bytes += chunk.length;
      };
      expect(await outcomeOf(read())).not.toBe('through');
      received.push(bytes);
    }
    expect(received).toContain(0);
    const middles = received.filter((bytes) => bytes > 0 && bytes < file.length);
    expect(new Set(middles).size).toBeGreaterThan(5);
  });

  it('adds no lateness: its latency is not a delay of the generator', async () => {
    const { through, metrics, clock } = await startBehindNetwork({ latencyMs: 400 });
    await through.exchange({ ...request, dueMs: clock.monotonicMs() });
    expect(metrics.latencies()[0]?.maxMs).toBeLessThan(400);
  });
});
