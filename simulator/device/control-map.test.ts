import { afterEach, describe, expect, it } from 'vitest';
import type { UpdateControlMap } from '../../fixtures/contract/resources.ts';
import { UpdateFailure } from '../behaviours/behaviour.ts';
import { instructionsFor } from '../testing/artifacts.ts';
import {
  ClientFixture,
  deviceOf,
  InstantEnvironment,
  policy,
  sessionOf,
  token,
} from '../testing/client-fixture.ts';
import { type StubResponse, StubServer } from '../testing/stub-server.ts';
import { ControlMap } from './control-map.ts';
import { beginDeployment } from './device.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Entry = NonNullable<UpdateControlMap['states']>[string];

const mapOf = (entry: Entry): UpdateControlMap => ({
  id: 'deployment-1',
  priority: 0,
  states: { ArtifactInstall_Enter: entry },
});
const unavailable: StubResponse = { status: 503 };

/** A device with an update in progress, and the server's responses to its requests for the map. */
async function startDevice(answer: (requestCount: number) => StubResponse) {
  let requestCount = 0;
  const server = await StubServer.start({ 'get-update-control-map': () => answer(++requestCount) });
  const fixture = new ClientFixture(server.baseUrl);
  closers.push(
    () => server.close(),
    () => fixture.close(),
  );
  const environment = new InstantEnvironment(fixture);
  const device = deviceOf();
  const subject = { device, session: { ...(await sessionOf()), token }, environment };
  return { subject, environment, clock: fixture.clock, server };
}

/** A map that came with the instructions and starts as `pause`. */
async function paused(
  entry: Entry,
  answer: (requestCount: number) => StubResponse = () => unavailable,
) {
  const fixture = await startDevice(answer);
  const instructions = instructionsFor('release-2', fixture.server.baseUrl, {
    update_control_map: mapOf({ action: 'pause', ...entry }),
  });
  const map = ControlMap.of(fixture.subject, instructions);
  const isPaused = (): Promise<boolean> => map.isPausedAt('ArtifactInstall_Enter');
  return { ...fixture, isPaused };
}

describe('an update control map that cannot be fetched again', () => {
  it.each([
    ['continue', 'goes on'],
    ['force_continue', 'goes on'],
    ['fail', /has expired and could not be fetched again, says fail at ArtifactInstall_Enter/],
    [undefined, /could not be fetched again, says fail/],
    ['', /could not be fetched again, says fail/],
    // No device waits forever on a map that no longer exists.
    ['pause', /asks for the unknown action "pause"/],
    ['dance', /asks for the unknown action "dance"/],
  ] as const)('lets a paused device act on its on_map_expire of %j', async (atEnd, outcome) => {
    const { isPaused, environment, clock } = await paused(
      atEnd === undefined ? {} : { on_map_expire: atEnd },
    );
    const startedMs = clock.monotonicMs();
    expect(await isPaused()).toBe(true);
    const next = isPaused();
    if (outcome === 'goes on') expect(await next).toBe(false);
    else {
      await expect(next).rejects.toThrow(UpdateFailure);
      await expect(next).rejects.toThrow(outcome);
    }
    // The map expires exactly two polls after the server last sent it.
    expect(clock.monotonicMs() - startedMs).toBe(2 * policy.pollIntervalMs);
    expect(environment.metrics.errors()).toMatchObject([
      { operation: 'get-update-control-map', cause: 'status/503' },
    ]);
    expect(environment.metrics.errors()[0]?.count).toBeGreaterThan(2);
  });

  it('does not occur while the server still sends the map', async () => {
    const body = { update_control_map: mapOf({ action: 'pause', on_map_expire: 'fail' }) };
    const { isPaused, clock } = await paused({}, (requestCount) =>
      requestCount % 2 === 1 ? unavailable : { status: 200, body },
    );
    for (let count = 0; count < 10; count++) {
      expect(await isPaused()).toBe(true);
      clock.advance(policy.pollIntervalMs);
    }
  });

  it('pauses the device again when the server sends it again', async () => {
    const body = { update_control_map: mapOf({ action: 'pause' }) };
    let isBack = false;
    const { isPaused } = await paused({ on_map_expire: 'continue' }, () =>
      isBack ? { status: 200, body } : unavailable,
    );
    expect(await isPaused()).toBe(true);
    expect(await isPaused()).toBe(false);
    isBack = true;
    expect(await isPaused()).toBe(true);
  });

  it('fails the update after 400 and pauses nothing after 404', async () => {
    const refused = await paused({}, () => ({ status: 400 }));
    await refused.isPaused();
    await expect(refused.isPaused()).rejects.toThrow('400');
    const over = await paused({ on_map_expire: 'fail' }, () => ({ status: 404 }));
    await over.isPaused();
    expect(await over.isPaused()).toBe(false);
  });
});

describe('an update control map not fetched since the restart', () => {
  it('does not expire: the device retries up to its limit', async () => {
    const { subject, server } = await startDevice(() => unavailable);
    const part = beginDeployment(subject.device, 'deployment-1', 'release-2');
    const map = ControlMap.afterRestart(subject, part);
    await expect(map.isPausedAt('ArtifactCommit_Enter')).rejects.toThrow('503');
    expect(server.requestsFor('get-update-control-map')).toHaveLength(20);
  });
});
