import { afterEach, describe, expect, it } from 'vitest';
import type { FleetEvent } from '../../simulator/engine/simulate-fleet.ts';
import { FleetOnTestbed, release } from '../testing/fleet-on-testbed.ts';

const RUN_MAX_MS = 20_000;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function start(): Promise<FleetOnTestbed> {
  const fleet = await FleetOnTestbed.start();
  closers.push(() => fleet.testbed.close());
  return fleet;
}

/** Returns a predicate: this many updates have ended, and `condition` returns true. */
function haveEnded(
  count: number,
  condition: (events: readonly FleetEvent[]) => boolean = () => true,
) {
  return (events: readonly FleetEvent[]): boolean => {
    const last = events.at(-1);
    const isWorthLooking = last?.kind === 'update' || last?.kind === 'exchange';
    if (!isWorthLooking && !last?.kind.startsWith('socket')) return false;
    const over = events.filter(
      (event) => event.kind === 'update' && /success|failure|aborted/.test(event.state),
    );
    return over.length >= count && condition(events);
  };
}

const quick = { installMs: 20, rebootMs: 20 };

describe('a server that limits its rate', () => {
  it('returns 429 more often to devices that ignore it, and serves all devices', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const fleet = await start();
    const names = ['steady', 'ignores-429', 'floods'];
    fleet.testbed.rates.set({ requests: 12, windowSeconds: 2 });
    await fleet.run({
      behaviours: names,
      pollIntervalMs: 100,
      behaviourParameters: { 'ignores-429': quick, floods: quick, steady: quick },
      durationMs: 7000,
      requestTimeLimitMs: 5000,
    });
    const [steady = 0, ignores = 0, floods = 0] = names.map(
      (name) => fleet.requestsOf(name).filter(({ status }) => status === 429).length,
    );
    // In each window, an obedient device gets one 429; the others ask again every 100 ms.
    expect(steady).toBeLessThanOrEqual(5);
    expect(ignores).toBeGreaterThan(2 * Math.max(1, steady));
    expect(floods).toBeGreaterThan(0);
    expect(await fleet.recordedStatuses()).toEqual({
      steady: 'success',
      'ignores-429': 'success',
      floods: 'success',
    });
  });
});

describe('the persistent connection of a device', () => {
  it('is restored after a reboot, and reopens each time a behaviour drops it', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const fleet = await start();
    const openedOf = (events: readonly FleetEvent[]) =>
      events.flatMap((event) => (event.kind === 'socket-opened' ? [event.device] : []));
    const isOver = haveEnded(2, (events) => openedOf(events).length >= 9);
    const json = { name: 'to all', artifact_name: release, all_devices: true };
    let deploying: Promise<unknown> | undefined;
    const result = await fleet.run({
      behaviours: ['steady', 'socket-flapping', 'bricked'],
      connect: true,
      behaviourParameters: { 'socket-flapping': { holdMs: 300 }, bricked: quick },
      durationMs: 12_000,
      deploy: undefined,
      endsWhen: (events) => {
        // A device that updates before its socket opens would lose no socket.
        if (new Set(openedOf(events)).size === 3) {
          deploying ??= fleet.testbed.admin.call('create-deployment', { json });
        }
        return isOver(events);
      },
    });
    await deploying;
    const causes = (name: string): string[] => {
      const device = result.devices.find(({ behaviour }) => behaviour === name)?.index;
      return fleet.events.flatMap((event) =>
        event.kind === 'socket-closed' && event.device === device ? [event.cause] : [],
      );
    };
    expect(causes('steady').filter((cause) => cause === 'power-lost')).toHaveLength(1);
    const connects = (name: string) =>
      fleet.requestsOf(name, 'connect').map(({ status }) => status);
    expect(connects('steady')).toEqual([101, 101]);
    expect(connects('bricked')).toEqual([101]);
    expect(connects('socket-flapping').length).toBeGreaterThan(3);
    expect(causes('socket-flapping')).toContain('dropped');
    const { body } = await fleet.testbed.admin.call('get-connection', {
      parameters: { id: fleet.idOf('bricked') },
    });
    expect(body.status).toBe('disconnected');
    // A socket that closes in a power loss does not count as an error.
    expect(result.errors.filter(({ operation }) => operation === 'connect')).toEqual([]);
  });
});

describe('the share of an artifact that a cohort downloads', () => {
  it.each([
    ['full', [200], `downloaded ${release}, `],
    ['head', [206], 'only the first bytes were fetched, and the length checked'],
    ['none', [], 'was not fetched, as configured'],
  ] as const)(
    'is %s in what the server sends and what the log shows',
    {
      timeout: RUN_MAX_MS,
    },
    async (download, statuses, line) => {
      const fleet = await start();
      await fleet.run({
        behaviours: ['failing-install'],
        behaviourParameters: { 'failing-install': quick },
        download,
        endsWhen: haveEnded(1, (events) => events.at(-1)?.kind === 'exchange'),
        durationMs: 10_000,
      });
      const files = fleet.testbed.journal.list({ operation: 'download-artifact' });
      expect(files.map(({ status }) => status)).toEqual(statuses);
      expect(await fleet.logOf('failing-install')).toContain(line);
    },
  );
});

describe('a download that breaks off', () => {
  it('is resumed by range requests until the file is complete', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const fleet = await start();
    const match = { operation: 'download-artifact' };
    fleet.testbed.faults.add({
      rules: [
        {
          id: 'cut',
          match,
          times: { next: 3 },
          when: 'body',
          act: { kind: 'reset', afterBytes: 700 },
        },
      ],
    });
    await fleet.run({
      behaviours: ['steady'],
      behaviourParameters: { steady: quick },
      endsWhen: haveEnded(1),
      durationMs: 15_000,
    });
    expect(await fleet.recordedStatuses()).toEqual({ steady: 'success' });
    const files = fleet.testbed.journal.list(match);
    expect(files.map(({ status }) => status)).toEqual([200, 206, 206, 206]);
  });

  it('restarts when the file has changed in the meantime', { timeout: RUN_MAX_MS }, async () => {
    const fleet = await start();
    const match = { operation: 'download-artifact' };
    fleet.testbed.faults.add({
      rules: [
        {
          id: 'replaced',
          match,
          when: 'body',
          script: [{ kind: 'reset', afterBytes: 700 }, { kind: 'changed-validator' }],
        },
      ],
    });
    const result = await fleet.run({
      behaviours: ['steady'],
      behaviourParameters: { steady: quick },
      endsWhen: haveEnded(1),
      durationMs: 15_000,
    });
    expect(await fleet.recordedStatuses()).toEqual({ steady: 'success' });
    expect(result.errors.map(({ cause }) => cause)).toContain('download/changed');
    const files = fleet.testbed.journal.list(match);
    expect(files.map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});

describe('an update control map', () => {
  it('pauses a device before its reboot, and resumes it when the map changes', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const fleet = await start();
    const { admin, journal } = fleet.testbed;
    const actionAtReboot = (action: 'pause' | 'force_continue') => ({
      update_control_map: { states: { ArtifactReboot_Enter: { action } } },
    });
    const run = fleet.run({
      behaviours: ['steady'],
      behaviourParameters: { steady: quick },
      deploy: undefined,
      endsWhen: haveEnded(1),
      durationMs: 15_000,
    });
    const accepted = await journal.await({ operation: 'put-attributes', status: '200' });
    const { id: device } = accepted.device as { id: string };
    const { headers } = await admin.call('create-deployment', {
      json: { name: 'held', artifact_name: release, devices: [device], ...actionAtReboot('pause') },
    });
    const id = headers.get('location')?.split('/').at(-1) ?? '';
    await journal.await({ operation: 'get-update-control-map', deployment: id });
    await admin.call('update-deployment', {
      parameters: { id },
      json: actionAtReboot('force_continue'),
    });
    await run;
    expect(fleet.reportsOf('steady')).toEqual([
      'downloading 204',
      'installing 204',
      'pause_before_rebooting 204',
      'rebooting 204',
      'success 204',
    ]);
  });
});
