import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FleetState } from '../state/fleet-state.ts';
import { instructionsFor, softwareArtifact } from '../testing/artifacts.ts';
import {
  ClientFixture,
  deviceOf,
  InstantEnvironment,
  sessionOf,
  token,
} from '../testing/client-fixture.ts';
import { type Responses, type StubResponse, StubServer } from '../testing/stub-server.ts';
import {
  beginDeployment,
  type DeploymentRecord,
  expectedServerStatus,
  isSettled,
  type SimulatedDevice,
} from './device.ts';
import type { DeviceInRun } from './environment.ts';
import { resumeUpdates } from './resume-update.ts';
import { runUpdate } from './update-run.ts';

let folder: string;
const closers: (() => Promise<void>)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-resume-'));
});

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true });
});

/** A server that keeps the last status, and a device authenticated there. */
async function authenticated(responses: Responses = {}) {
  const file = await softwareArtifact('release-2');
  const statuses: string[] = [];
  const server = await StubServer.start({
    'put-deployment-status': (request): StubResponse => {
      statuses.push((request.json() as { status: string }).status);
      return { status: 204 };
    },
    'put-deployment-log': () => ({ status: 204 }),
    'get-update-control-map': () => ({ status: 404 }),
    'download-artifact': () => ({ status: 200, body: file }),
    ...responses,
  });
  const fixture = new ClientFixture(server.baseUrl);
  closers.push(
    () => server.close(),
    () => fixture.close(),
  );
  const environment = new InstantEnvironment(fixture);
  const session = { ...(await sessionOf()), token };
  const subject = (device: SimulatedDevice): DeviceInRun => ({ device, session, environment });
  return { server, environment, statuses, subject };
}

const plan = { baseUrl: 'http://127.0.0.1', seed: 'x', devices: 1 };

describe('a simulator that is killed during an update', () => {
  it('resumes at every point and reaches the same outcome', async () => {
    const { server, environment, statuses, subject } = await authenticated();
    const device = deviceOf();
    const state = FleetState.open({ folder: join(folder, 'live'), plan, devices: [device] });
    const copies: { readonly copy: string; readonly statusCount: number }[] = [];
    environment.onChange = (changed, deployment) => {
      state.recordChange(changed, deployment);
      const copy = join(folder, `moment-${copies.length}`);
      cpSync(join(folder, 'live', 'fleet.ndjson'), join(copy, 'fleet.ndjson'));
      copies.push({ copy, statusCount: statuses.length });
    };
    await runUpdate(subject(device), instructionsFor('release-2', server.baseUrl));
    state.close();
    expect(copies.length).toBeGreaterThan(7);
    environment.onChange = () => undefined;
    for (const { copy, statusCount } of copies) {
      statuses.splice(0, Number.POSITIVE_INFINITY, ...statuses.slice(0, statusCount));
      const restored = deviceOf();
      FleetState.open({ folder: copy, plan, devices: [restored] }).close();
      await resumeUpdates(subject(restored));
      const [deployment] = restored.deployments;
      if (deployment === undefined || !isSettled(deployment)) {
        await runUpdate(subject(restored), instructionsFor('release-2', server.baseUrl));
      }
      const [resumed] = restored.deployments;
      expect(resumed && expectedServerStatus(resumed), copy).toBe('success');
      expect(statuses.at(-1)).toBe('success');
      expect(restored.provides.artifact_name, copy).toBe('release-2');
      // A device that has the whole file does not request it again after a restart.
      if (deployment?.downloadedArtifact !== undefined) expect(deployment.attempts).toBe(1);
    }
  });
});

/** Returns a device whose update was in this state when it restarted. */
function restarted(change: Partial<DeploymentRecord>): SimulatedDevice {
  const device = deviceOf();
  const deployment = beginDeployment(device, 'deployment-1', 'release-2');
  const previousSoftware = { provides: device.provides, configuration: device.configuration };
  const downloadedArtifact = {
    provides: { device_type: 'board', artifact_name: 'release-2' },
    settings: { a: 'b' },
  };
  Object.assign(deployment, {
    interruptedBy: 'power',
    previousSoftware,
    downloadedArtifact,
    ...change,
  });
  return device;
}

describe('a device that lost power and restarted', () => {
  it.each([
    ['offered', []],
    ['downloading', []],
    ['pause_before_installing', []],
    ['installing', ['failure']],
    ['pause_before_rebooting', ['failure']],
    ['rebooting', ['success']],
    ['pause_before_committing', ['failure']],
    ['aborted', []],
  ] as const)('reports after a loss of power with its update %s: %j', async (state, reports) => {
    const { statuses, subject, server, environment } = await authenticated();
    const device = restarted({ state });
    await resumeUpdates(subject(device));
    expect(statuses).toEqual(reports);
    expect(server.requestsFor('put-deployment-log')).toHaveLength(
      statuses.includes('failure') ? 1 : 0,
    );
    const name = statuses.includes('success') ? 'release-2' : 'factory-image';
    expect(device.provides.artifact_name).toBe(name);
    expect(environment.settledDeployments).toHaveLength(
      statuses.length === 0 && state !== 'aborted' ? 0 : 1,
    );
    await resumeUpdates(subject(device));
    expect(statuses).toEqual(reports);
  });

  it.each(['success', 'failure', 'already-installed'] as const)(
    'reports %s again when that report may not have arrived',
    async (state) => {
      const { statuses, subject } = await authenticated();
      const device = restarted({ state, unacknowledgedStatus: state });
      await resumeUpdates(subject(device));
      expect(statuses).toEqual([state]);
      expect(device.deployments[0]?.unacknowledgedStatus).toBeUndefined();
    },
  );

  it('says in its log why the update failed', async () => {
    const { subject, server } = await authenticated();
    await resumeUpdates(subject(restarted({ state: 'installing' })));
    expect(server.requestsFor('put-deployment-log')[0]?.body.toString()).toContain(
      'the device restarted while the update was installing; the update is rolled back',
    );
  });

  it('waits after its reboot as long as the control map says pause', async () => {
    const maps = ['pause', 'pause', 'continue'];
    const { statuses, subject, environment } = await authenticated({
      'get-update-control-map': () => {
        const states = { ArtifactCommit_Enter: { action: maps.shift() } };
        return { status: 200, body: { update_control_map: { id: 'map', priority: 0, states } } };
      },
    });
    await resumeUpdates(subject(restarted({ state: 'rebooting' })));
    expect(statuses).toEqual(['pause_before_committing', 'success']);
    expect(environment.sleepsMs).toHaveLength(2);
  });

  it('reports a failure when its state lacks the downloaded artifact', async () => {
    const { statuses, subject } = await authenticated();
    await resumeUpdates(subject(restarted({ state: 'rebooting', downloadedArtifact: undefined })));
    expect(statuses).toEqual(['failure']);
  });

  it.each(['rebooting', 'success', 'installing'] as const)(
    'rolls back when the server has aborted the update that was %s',
    async (state) => {
      const { subject } = await authenticated({ 'put-deployment-status': () => ({ status: 409 }) });
      const device = restarted({ state, unacknowledgedStatus: state });
      device.provides = { device_type: 'board', artifact_name: 'release-2' };
      await resumeUpdates(subject(device));
      expect(device.deployments[0]?.state).toBe('aborted');
      expect(device.provides.artifact_name).toBe('factory-image');
    },
  );

  it('retries later when the server cannot be reached', async () => {
    let isUp = false;
    const responses = { 'put-deployment-status': () => ({ status: isUp ? 204 : 404 }) };
    const { subject } = await authenticated(responses);
    const device = restarted({ state: 'installing' });
    await expect(resumeUpdates(subject(device))).rejects.toThrow('404');
    expect(device.deployments[0]?.interruptedBy).toBe('power');
    isUp = true;
    await resumeUpdates(subject(device));
    expect(device.deployments[0]).toMatchObject({
      state: 'failure',
      unacknowledgedStatus: undefined,
    });
  });
});
