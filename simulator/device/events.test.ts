import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock, systemClock } from '../../fixtures/base/clock.ts';
import { type FleetEvent, type FleetPlan, simulateFleet } from '../engine/simulate-fleet.ts';
import { FakeServer, release } from '../testing/fake-server.ts';
import { planWith } from '../testing/plan-with.ts';
import { closedPortUrl } from '../testing/stub-server.ts';
import { compareEvents, EventSource } from './events.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const password = 'secret-word';

/** Runs a fleet until every device has finished, or until an event for which `isEnough` holds. */
async function eventsOf(
  baseUrl: string,
  change: Partial<FleetPlan> = {},
  isEnough: (event: FleetEvent) => boolean = () => false,
) {
  const events: FleetEvent[] = [];
  const stop = new AbortController();
  const onEvent = (event: FleetEvent): void => {
    events.push(event);
    if (isEnough(event)) stop.abort();
  };
  const plan = planWith({
    baseUrl,
    devices: 4,
    keys: { rsa: 0, ecdsa: 1, ed25519: 1 },
    pollIntervalMs: 40,
    rampMs: 20,
    behaviours: ['steady', 'failing-install', 'aborted-midway', 'already-installed'].map((name) => {
      return { name, weight: 1 };
    }),
    deviceType: 'board',
    acceptWith: { email: 'admin@example.com', password },
    deploy: release,
    until: 'settled',
    ...change,
  });
  const { signal } = stop;
  const result = await simulateFleet(plan, { clock: systemClock, signal, onEvent });
  return { events, result };
}

async function smallServer(): Promise<FakeServer> {
  const environment = await FakeServer.start();
  closers.push(() => environment.server.close());
  return environment;
}

describe('the events of a run', () => {
  it('describe the life of every device without gaps', async () => {
    const environment = await smallServer();
    const { events, result } = await eventsOf(environment.server.baseUrl);
    for (const { index, behaviour, reported } of result.devices) {
      const own = events.filter(({ device }) => device === index);
      expect(own.map(({ sequence }) => sequence)).toEqual(own.map((_, position) => position + 1));
      const lives = own.filter((event) => event.kind === 'life');
      expect(lives[0]).toMatchObject({ from: 'unstarted', state: 'pending' });
      for (const [position, life] of lives.slice(1).entries()) {
        expect(life.from).toBe(lives[position]?.state);
      }
      const updates = own.flatMap((event) => (event.kind === 'update' ? event.state : []));
      const wanted = behaviour === 'already-installed' ? ['already-installed'] : reported;
      expect(updates).toEqual(expect.arrayContaining([...wanted]));
      expect(updates.at(-1)).toBe(result.devices[index]?.outcome);
    }
  });

  it('report the deployment once, every exchange, and the end of the run last', async () => {
    const environment = await smallServer();
    const { events, result } = await eventsOf(environment.server.baseUrl);
    expect(events.filter(({ kind }) => kind === 'deployment')).toMatchObject([
      { deploymentId: 'deployment-1', artifactName: release },
    ]);
    const exchanges = events.filter(({ kind }) => kind === 'exchange');
    // The reconciliation runs after the end.
    const reconciliation = result.operations.find(
      ({ operation }) => operation === 'list-deployment-devices',
    );
    const counted = result.operations.reduce((sum, { responses, unanswered }) => {
      return sum + unanswered + Object.values(responses).reduce((one, other) => one + other, 0);
    }, 0);
    expect(exchanges).toHaveLength(counted);
    expect(reconciliation?.responses).toEqual({ '2xx': 1 });
    const ended = events.findIndex(({ kind }) => kind === 'ended');
    expect(events[ended]).toMatchObject({ reason: 'settled' });
    const late = events.slice(ended + 1).filter(({ kind }) => kind !== 'exchange');
    expect(late).toEqual([]);
  });

  it('give the cause of each exchange that got no response', async () => {
    const environment = await FakeServer.start(() => ({ 'post-next-deployment-v2': () => 'cut' }));
    closers.push(() => environment.server.close());
    const { events } = await eventsOf(environment.server.baseUrl, {}, (event) => 'cause' in event);
    const unanswered = events.find((event) => event.kind === 'exchange' && event.cause);
    expect(unanswered).toMatchObject({ operation: 'post-next-deployment-v2' });
    expect(unanswered).not.toHaveProperty('status');
  });

  it('do not exist when the server cannot be reached', async () => {
    await expect(eventsOf(await closedPortUrl())).rejects.toThrow('nothing listens');
  });

  it('contain no token, signature, key or password in any encoding', async () => {
    const environment = await smallServer();
    const { events } = await eventsOf(environment.server.baseUrl);
    const text = JSON.stringify(events);
    const secrets = new Set([password]);
    for (const { headers, operation, body } of environment.server.requests) {
      const signature = headers['x-svc-signature'];
      if (typeof signature === 'string') secrets.add(signature);
      if (headers.authorization) secrets.add(headers.authorization.replace(/^\w+ /, ''));
      if (operation === 'post-auth-request') {
        secrets.add((JSON.parse(String(body)) as { pubkey: string }).pubkey);
      }
    }
    expect(secrets.size).toBeGreaterThan(8);
    for (const secret of secrets) {
      for (const form of formsOf(secret)) expect(text).not.toContain(form);
    }
  });
});

/** Returns a secret verbatim, in parts, and in common encodings. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const deployments = secret
    .split(/[.\n]/)
    .filter((deployment) => deployment.length > 8 && !deployment.startsWith('---'));
  return [
    secret,
    ...deployments,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    Buffer.from(secret, 'base64').toString('hex'),
  ].filter((form) => form.length > 8);
}

describe('the order of events', () => {
  it('follows time, then fleet before devices, then order of emission', () => {
    const events: FleetEvent[] = [];
    const clock = new ManualClock(1000);
    const source = new EventSource(clock, (event) => events.push(event));
    source.emit({ kind: 'socket-opened', device: 2 });
    source.emit({ kind: 'socket-closed', device: 2, cause: 'closed/1001' });
    source.emit({ kind: 'socket-opened', device: 1 });
    source.emit({ kind: 'stage', stage: 'ramp' });
    clock.advance(1);
    source.emit({ kind: 'socket-opened', device: 0 });
    const sorted = events.toSorted(compareEvents);
    expect(sorted.map(({ atMs, device, sequence }) => [atMs, device, sequence])).toEqual([
      [1000, undefined, 1],
      [1000, 1, 1],
      [1000, 2, 1],
      [1000, 2, 2],
      [1001, 0, 1],
    ]);
    expect(events.toReversed().toSorted(compareEvents)).toEqual(sorted);
  });
});
