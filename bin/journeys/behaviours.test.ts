import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { behaviours } from '../../simulator/behaviours/catalogue.ts';
import { isFinal } from '../../simulator/device/update-states.ts';
import type { FleetEvent, FleetResult } from '../../simulator/engine/simulate-fleet.ts';
import { FleetOnTestbed, release } from '../testing/fleet-on-testbed.ts';

const RUN_MAX_MS = 40_000;
/** Number of polls of each device after its update, so that its behaviour shows. */
const POLLS_AFTER = 6;
/** Number of behaviours whose update never ends. */
const NEVER_ENDING = 2;

/** The status of each behaviour's device deployment on the server after a few seconds. */
const recorded: Readonly<Record<string, string>> = {
  steady: 'success',
  slow: 'success',
  'night-only': 'success',
  'already-installed': 'already-installed',
  'flaky-2g': 'success',
  'clock-skew': 'success',
  'alert-storm': 'success',
  'socket-flapping': 'success',
  'key-rotation': 'success',
  'cloned-identity': 'success',
  'failing-install': 'failure',
  'failing-commit': 'failure',
  'wrong-checksum': 'failure',
  'disk-full': 'failure',
  refuse: 'failure',
  'hang-while-downloading': 'success',
  'hang-for-ever': 'installing',
  'reboot-loop': 'failure',
  bricked: 'rebooting',
  'crash-and-resume': 'success',
  'aborted-midway': 'aborted',
  'big-logs': 'failure',
  'never-renews': 'success',
  'ignores-429': 'success',
  'reports-success-without-installing': 'success',
  floods: 'success',
  'polls-in-lockstep': 'success',
  'ignores-409': 'aborted',
  'keeps-a-finished-deployments-id': 'success',
};

/** Parameters that shorten hours to a few seconds. */
const quick = {
  slow: { installMs: 700, rebootMs: 700 },
  'night-only': { nightFromHour: 0, nightToHour: 24 },
  'flaky-2g': {
    latencyMs: 10,
    jitterMs: 5,
    lossShare: 0.1,
    bandwidthBytesPerSecond: 200_000,
  },
  'alert-storm': { messagesCount: 2, alertsCount: 20 },
  'key-rotation': { everyCyclesCount: 5 },
  'hang-while-downloading': { hangMs: 800 },
  'crash-and-resume': { offMs: 300 },
  floods: { burstCount: 20 },
};

/**
 * Returns a predicate: each device that can finish has finished its update and polled a few times.
 */
function habitsHaveShown() {
  const pollsAfter = new Map<number, number>();
  let seen = 0;
  return (events: readonly FleetEvent[]): boolean => {
    for (const event of events.slice(seen)) count(event, pollsAfter);
    seen = events.length;
    const pollingDevices = [...pollsAfter.values()].filter((polls) => polls >= POLLS_AFTER).length;
    return pollingDevices >= Object.keys(recorded).length - NEVER_ENDING;
  };
}

function count(event: FleetEvent, pollsAfter: Map<number, number>): void {
  const { device = -1 } = event;
  if (event.kind === 'update' && isFinal(event.state)) pollsAfter.set(device, 0);
  const polls = pollsAfter.get(device);
  if (polls === undefined || event.kind !== 'exchange') return;
  if (event.operation === 'post-next-deployment-v2') pollsAfter.set(device, polls + 1);
}

let fleet: FleetOnTestbed;
let result: FleetResult;

beforeAll(async () => {
  fleet = await FleetOnTestbed.start();
  result = await fleet.run({
    behaviours: Object.keys(recorded),
    behaviourParameters: quick,
    durationMs: RUN_MAX_MS - 10_000,
    requestTimeLimitMs: 2000,
    endsWhen: habitsHaveShown(),
  });
}, RUN_MAX_MS);

afterAll(() => fleet.testbed.close());

function success(earlierReports: readonly string[] = []): string[] {
  const healthy = ['downloading 204', 'installing 204', 'rebooting 204', 'success 204'];
  return [...earlierReports, ...healthy];
}

describe('a fleet with every behaviour', () => {
  it('has for each device the outcome that its behaviour expects of a good server', async () => {
    expect(Object.keys(recorded)).toEqual([...behaviours.keys()]);
    expect(await fleet.recordedStatuses()).toEqual(recorded);
  });

  it('agrees with the server in every detail, whatever its devices do', () => {
    expect(result.reconciliation).toMatchObject({ checked: true, differences: [] });
  });
});

describe("the server's record of a device", () => {
  it('has each status once, in order, and the new artifact if the device is steady', async () => {
    expect(fleet.reportsOf('steady')).toEqual(success());
    expect(await fleet.inventoryArtifact('steady')).toBe(release);
    // A device loses its token in the reboot, so it authenticates again before its last report.
    const asked = fleet.requestsOf('steady').map(({ operation }) => operation);
    const last = asked.lastIndexOf('put-deployment-status');
    expect(asked.slice(last - 2, last)).toEqual(['put-deployment-status', 'post-auth-request']);
  });

  it('has the same statuses at later times if the device is slow', () => {
    const times = fleet.requestsOf('slow', 'put-deployment-status').map(({ at }) => Date.parse(at));
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1400);
    expect(fleet.reportsOf('slow')).toEqual(success());
  });

  it('has no report and no download if the device has the artifact already', () => {
    expect(fleet.reportsOf('already-installed')).toEqual([]);
  });

  it('has every status, some more than once, if the device is on a bad network', () => {
    const reports = fleet.reportsOf('flaky-2g');
    expect([...new Set(reports)]).toEqual(success());
    expect(result.errors.map(({ cause }) => cause)).toContain('transport/NETWORK_LOSS');
  });

  it('has alerts of years ago, unchanged, if the device has a wrong clock', async () => {
    const [alert] = fleet.requestsOf('clock-skew', 'post-alerts');
    expect(alert?.status).toBe(204);
    const year = new Date(fleet.testbed.clock.now()).getUTCFullYear();
    expect(JSON.stringify(alert?.requestBody)).toContain(`${year - 5}-`);
  });

  it('has all alerts if the device sends many', async () => {
    const sent = fleet
      .requestsOf('alert-storm', 'post-alerts')
      .filter(({ status }) => status === 204);
    expect(sent.length).toBeGreaterThan(POLLS_AFTER);
    const { body } = await fleet.testbed.admin.call('list-alerts', {
      parameters: { id: fleet.idOf('alert-storm') },
      query: { per_page: 500 },
    });
    expect(body.length).toBeGreaterThan(20 * POLLS_AFTER);
  });

  it('has a second accepted authentication set if the device changes its key', async () => {
    const { body } = await fleet.testbed.admin.call('get-device', {
      parameters: { id: fleet.idOf('key-rotation') },
    });
    expect(body.auth_sets.length).toBeGreaterThanOrEqual(2);
    expect(new Set(body.auth_sets.map(({ pubkey }) => pubkey)).size).toBe(body.auth_sets.length);
    const authRequests = fleet.requestsOf('key-rotation', 'post-auth-request');
    const statuses = authRequests.map(({ status }) => status).join(' ');
    expect(statuses).toMatch(/200.* 401.* 200/);
  });

  it('has one key and two alternating inventories if the device runs twice', async () => {
    const { body } = await fleet.testbed.admin.call('get-device', {
      parameters: { id: fleet.idOf('cloned-identity') },
    });
    expect(body.auth_sets).toHaveLength(1);
    const inventories = fleet
      .requestsOf('cloned-identity', 'put-attributes')
      .map(({ requestBody }) => JSON.stringify(requestBody).includes(release));
    expect(inventories).toContain(true);
    expect(inventories.at(-1)).toBe(false);
  });
});

describe("the server's record of an update", () => {
  it.each([
    ['failing-install', 'input/output error', ['downloading 204', 'installing 204', 'failure 204']],
    ['wrong-checksum', 'SHA-256', ['downloading 204', 'failure 204']],
    ['disk-full', 'no space left on device', ['downloading 204', 'failure 204']],
    ['refuse', 'refused on the device', ['failure 204']],
    [
      'failing-commit',
      'rolling back to the old artifact',
      ['downloading 204', 'installing 204', 'rebooting 204', 'failure 204'],
    ],
    [
      'reboot-loop',
      'boot 3 of the new artifact',
      [
        'downloading 204',
        'installing 204',
        'rebooting 204',
        'rebooting 204',
        'rebooting 204',
        'failure 204',
      ],
    ],
  ])('ends by %s: has a log with "%s", and the old artifact', async (name, line, reports) => {
    expect(fleet.reportsOf(name)).toEqual(reports);
    expect(await fleet.logOf(name)).toContain(line);
    expect(await fleet.inventoryArtifact(name)).toBe('factory-image');
  });

  it('has every line of the log if the update leaves a big one', async () => {
    const log = await fleet.logOf('big-logs');
    expect(log).toContain('line 1 .');
    expect(log).toContain('line 4900 .');
    expect(log).toContain('the installer gave up');
  });

  it('has a late success if the update hangs in its download', () => {
    const times = fleet.requestsOf('hang-while-downloading', 'put-deployment-status');
    const [downloading = 0, installing = 0] = times.map(({ at }) => Date.parse(at));
    expect(installing - downloading).toBeGreaterThanOrEqual(800);
  });

  it('has the last reported status if the update hangs for ever or bricks the device', () => {
    expect(fleet.reportsOf('hang-for-ever')).toEqual(['downloading 204', 'installing 204']);
    expect(fleet.requestsOf('hang-for-ever').at(-1)?.operation).toBe('put-deployment-status');
    expect(fleet.reportsOf('bricked').at(-1)).toBe('rebooting 204');
    expect(fleet.requestsOf('bricked').at(-1)?.operation).toBe('put-deployment-status');
  });

  it('has an authentication and the rest of the artifact file after a loss of power', () => {
    expect(fleet.reportsOf('crash-and-resume')).toEqual(success(['downloading 204']));
    const asked = fleet.requestsOf('crash-and-resume').map(({ operation }) => operation);
    const crash = asked.indexOf('put-deployment-status');
    expect(asked.slice(crash, crash + 3)).toEqual([
      'put-deployment-status',
      'download-artifact',
      'post-auth-request',
    ]);
    const downloads = fleet
      .responsesTo('crash-and-resume')
      .filter(({ operation }) => operation === 'download-artifact');
    expect(downloads.map(({ status }) => status)).toEqual([200, 206]);
  });

  it('has a 409 and no further report if the update is aborted', async () => {
    expect(fleet.reportsOf('aborted-midway')).toEqual([
      'downloading 204',
      'installing 204',
      'rebooting 409',
    ]);
    expect(await fleet.inventoryArtifact('aborted-midway')).toBe('factory-image');
  });
});

describe('a defective client', () => {
  it('still installs when it ignores 409, and its deployment stays aborted', async () => {
    expect(fleet.reportsOf('ignores-409')).toEqual([
      'downloading 204',
      'installing 204',
      'rebooting 409',
      'success 409',
    ]);
    expect(await fleet.inventoryArtifact('ignores-409')).toBe(release);
  });

  it('is recorded as successful, with the old inventory, when it falsely reports success', async () => {
    const name = 'reports-success-without-installing';
    expect(fleet.reportsOf(name)).toEqual(['success 204']);
    expect(await fleet.inventoryArtifact(name)).toBe('factory-image');
  });

  it('receives 204 each time when it keeps its deployment ID', () => {
    const again = fleet.reportsOf('keeps-a-finished-deployments-id').slice(4);
    expect(again.length).toBeGreaterThan(3);
    expect(new Set(again)).toEqual(new Set(['success 204']));
  });

  it('sends more requests than other clients, in bursts, when it floods', () => {
    const polls = (name: string): number =>
      fleet.requestsOf(name, 'post-next-deployment-v2').length;
    expect(polls('floods')).toBeGreaterThan(polls('steady'));
    const times = fleet
      .requestsOf('floods', 'post-next-deployment-v2')
      .map(({ at }) => Date.parse(at));
    const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(Math.max(...gaps)).toBeGreaterThan(100);
  });
});
