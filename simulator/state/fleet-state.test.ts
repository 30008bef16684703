import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { beginDeployment, type SimulatedDevice } from '../device/device.ts';
import { deviceOf, sessionOf } from '../testing/client-fixture.ts';
import { FleetState, type StateSubject } from './fleet-state.ts';
import { keptSeed } from './state-head.ts';

let folder: string;
const open: FleetState[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-state-'));
});

afterEach(() => {
  for (const state of open.splice(0)) state.close();
  rmSync(folder, { recursive: true });
});

const plan = { baseUrl: 'http://127.0.0.1:8080', seed: 'x', devices: 2 };

function devicesOf(count: number, first = 0): SimulatedDevice[] {
  return Array.from({ length: count }, (_, position) => ({
    ...deviceOf(),
    index: first + position,
    deployments: [],
  }));
}

function stateOf(devices: readonly SimulatedDevice[], change: Partial<StateSubject['plan']> = {}) {
  const state = FleetState.open({ folder, plan: { ...plan, ...change }, devices });
  open.push(state);
  return state;
}

/** Ends the simulator like a kill: nothing more is written, and its lock is released. */
function killed(): void {
  open.splice(0);
  rmSync(join(folder, 'lock'), { force: true });
}

/** Returns a fleet of two in which device 1 has accumulated state. */
async function livedFleet(): Promise<SimulatedDevice[]> {
  const devices = devicesOf(2);
  const state = stateOf(devices);
  const [, device = deviceOf()] = devices;
  device.session = { ...(await sessionOf()), token: 'a.b.c', nextEndpoint: 'post-v1' };
  device.id = 'id-1';
  device.keyGeneration = 2;
  device.onboardingDone = 4;
  device.configuration = { key: 'value' };
  state.recordChange(device);
  device.provides = { device_type: 'board', artifact_name: 'release-2', other: 'y' };
  const deployment = beginDeployment(device, 'deployment-1', 'release-2');
  Object.assign(deployment, {
    state: 'installing',
    unacknowledgedStatus: 'installing',
    abortRequested: true,
  });
  deployment.reported.push('downloading');
  state.recordChange(device, deployment);
  state.recordDeployment({ deploymentId: 'deployment-1', artifactName: 'release-2' });
  return devices;
}

describe('a fleet kept in a state folder', () => {
  it('is restored unchanged after a kill at any time', async () => {
    const [, deviceBefore] = await livedFleet();
    killed();
    const restored = devicesOf(2);
    const state = stateOf(restored);
    const {
      session: _,
      storedSession: __,
      deployments: ___,
      ...facts
    } = deviceBefore ?? deviceOf();
    expect(restored[1]).toMatchObject(facts);
    expect(restored[1]?.storedSession).toEqual({ token: 'a.b.c', nextEndpoint: 'post-v1' });
    expect(restored[1]?.deployments).toEqual([
      { ...deviceBefore?.deployments[0], interruptedBy: 'simulator' },
    ]);
    expect(state.runDeployment).toEqual({
      deploymentId: 'deployment-1',
      artifactName: 'release-2',
    });
    expect(restored[0]).toEqual({ ...devicesOf(1)[0] });
  });

  it('is the same again after each further restart', async () => {
    await livedFleet();
    killed();
    const first = devicesOf(2);
    stateOf(first);
    killed();
    const second = devicesOf(2);
    stateOf(second);
    expect(second).toEqual(first);
  });

  it('loses only the content of the last line when it was cut off', async () => {
    await livedFleet();
    killed();
    const file = join(folder, 'fleet.ndjson');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.slice(0, -20));
    const restored = devicesOf(2);
    expect(stateOf(restored).runDeployment).toBeUndefined();
    expect(restored[1]?.deployments).toHaveLength(1);
  });

  it('does not restore what a device has lost, such as its token', async () => {
    const [, device = deviceOf()] = await livedFleet();
    if (device.session) device.session.token = undefined;
    device.deployments[0] = Object.assign(device.deployments[0] ?? {}, {
      state: 'aborted',
      unacknowledgedStatus: undefined,
    }) as SimulatedDevice['deployments'][number];
    open[0]?.recordChange(device, device.deployments[0]);
    killed();
    const restored = devicesOf(2);
    stateOf(restored);
    expect(restored[1]?.storedSession?.token).toBeUndefined();
    expect(restored[1]?.deployments).toMatchObject([
      { state: 'aborted', interruptedBy: undefined },
    ]);
  });

  it('writes only members that have changed', async () => {
    const [, device = deviceOf()] = await livedFleet();
    const file = join(folder, 'fleet.ndjson');
    const sizeBytes = statSync(file).size;
    open[0]?.recordChange(device);
    expect(statSync(file).size).toBe(sizeBytes);
    device.onboardingDone = 5;
    open[0]?.recordChange(device);
    expect(readFileSync(file, 'utf8').slice(sizeBytes)).toMatch(
      /^\w{8} \{"device":1,"onboardingDone":5\}\n$/,
    );
  });

  it('stays small in its file after many changes', { timeout: 30_000 }, () => {
    const [device = deviceOf()] = devicesOf(1);
    const state = stateOf([device], { devices: 1 });
    const deployment = beginDeployment(device, 'deployment-1', 'release-2');
    device.configuration = { long: 'x'.repeat(200_000) };
    for (let iteration = 0; iteration < 400; iteration++) {
      device.configuration = { ...device.configuration, iteration: String(iteration) };
      state.recordChange(device, deployment);
    }
    expect(statSync(join(folder, 'fleet.ndjson')).size).toBeLessThan(40 * 2 ** 20);
    killed();
    const [restored = deviceOf()] = devicesOf(1);
    stateOf([restored], { devices: 1 });
    expect(restored.configuration.iteration).toBe('399');
  });

  it('keeps its tokens in files that only their owner can read', async () => {
    await livedFleet();
    for (const name of readdirSync(folder)) {
      expect(statSync(join(folder, name)).mode & 0o077, name).toBe(0);
    }
  });

  it('is kept separately for each shard', () => {
    const [device = deviceOf()] = devicesOf(1, 1);
    const state = stateOf([device], { shard: { index: 1, of: 2 } });
    device.id = 'id-1';
    state.recordChange(device);
    state.close();
    open.splice(0);
    const [restored = deviceOf()] = devicesOf(1, 1);
    stateOf([restored], { shard: { index: 1, of: 2 } });
    expect(restored.id).toBe('id-1');
    expect(readdirSync(folder)).toEqual(['shard-1-of-2']);
  });

  it('restores its seed, which does not have to be given again', async () => {
    expect(keptSeed(folder)).toBeUndefined();
    await livedFleet();
    expect(keptSeed(folder)).toBe('x');
  });
});

describe('a state folder unsuitable for the run', () => {
  it.each([
    [{ seed: 'y' }, 'the seed is "x" there and "y" in the plan'],
    [{ devices: 3 }, 'the number of devices is 2 there and 3 in the plan'],
    [{ baseUrl: 'http://b' }, 'the server is "http://127.0.0.1:8080" there and "http://b" in the'],
  ])('is refused for a change to %j', async (change, difference) => {
    await livedFleet();
    killed();
    expect(() => stateOf(devicesOf(2), change)).toThrow(
      `the state folder ${folder} belongs to another fleet: ${difference}`,
    );
  });

  it('is refused when its devices have other identities', async () => {
    await livedFleet();
    killed();
    const otherDevices = devicesOf(2).map((device) => ({ ...device, idData: { mac: 'other' } }));
    expect(() => stateOf(otherDevices)).toThrow(
      'its devices have other key types or id_data; use the same',
    );
  });

  it('is refused when the fleet had another number of processes', () => {
    stateOf(devicesOf(1), { shard: { index: 0, of: 2 } }).close();
    open.splice(0);
    const remedy = 'use the same number as before, or another folder.';
    expect(() => stateOf(devicesOf(2))).toThrow(
      `the state folder ${folder} belongs to a fleet in 2 shards, not in one process; ${remedy}`,
    );
    expect(() => stateOf(devicesOf(1), { shard: { index: 0, of: 3 } })).toThrow(
      'belongs to a fleet in 2 shards, not in 3 shards',
    );
    const otherDevices = devicesOf(1, 1);
    expect(() => stateOf(otherDevices, { shard: { index: 1, of: 2 } })).not.toThrow();
  });

  it('is refused for a shard when the fleet was in one process', async () => {
    await livedFleet();
    killed();
    expect(() => stateOf(devicesOf(1), { shard: { index: 0, of: 2 } })).toThrow(
      'belongs to a fleet in one process, not in 2 shards',
    );
  });

  it('is refused while another simulator uses it', async () => {
    await livedFleet();
    expect(() => stateOf(devicesOf(2))).toThrow(`process ${process.pid} is using the state folder`);
  });

  it('is refused and unchanged when it contains a foreign file', async () => {
    const file = join(folder, 'fleet.ndjson');
    writeFileSync(file, 'hello\n');
    expect(() => stateOf(devicesOf(2))).toThrow(/line 1 of .* is damaged/);
    expect(readFileSync(file, 'utf8')).toBe('hello\n');
    expect(readdirSync(folder)).toEqual(['fleet.ndjson']);
  });

  it('is refused when it cannot be created', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const inFile = { folder: join(file, 'state'), plan, devices: devicesOf(2) };
    expect(() => FleetState.open(inFile)).toThrow(
      /^cannot use the state folder .*: it is not a folder/,
    );
  });
});
