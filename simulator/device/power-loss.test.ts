import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Behaviour, BehaviourHooks } from '../behaviours/behaviour.ts';
import { behaviours } from '../behaviours/catalogue.ts';
import { PowerLoss } from '../network/errors.ts';
import { FleetState } from '../state/fleet-state.ts';
import { instructionsFor, softwareArtifact } from '../testing/artifacts.ts';
import {
  ClientFixture,
  deviceOf,
  InstantEnvironment,
  sessionOf,
  token,
} from '../testing/client-fixture.ts';
import {
  type Responses,
  type StubRequest,
  type StubResponse,
  StubServer,
} from '../testing/stub-server.ts';
import { expectedServerStatus, isSettled, type SimulatedDevice } from './device.ts';
import { resumeUpdates } from './resume-update.ts';
import { runUpdate } from './update-run.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function behaviourNamed(name: string): Behaviour {
  const behaviour = behaviours.get(name);
  if (behaviour === undefined) throw new Error(`there is no behaviour ${name}`);
  return behaviour;
}

/** Returns the file as a server with range support sends it. */
function rangeResponse(
  file: Buffer,
  etag: string,
  { headers: { range, 'if-range': ifRange } }: StubRequest,
): StubResponse {
  const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1]);
  if (Number.isNaN(from) || (ifRange !== undefined && ifRange !== etag)) {
    return { status: 200, headers: { etag }, body: file };
  }
  const span = `bytes ${from}-${file.length - 1}/${file.length}`;
  return { status: 206, headers: { etag, 'content-range': span }, body: file.subarray(from) };
}

/** Returns an authenticated device that is offered `release-2` every time it asks. */
async function deviceWithOffer(behaviour: Behaviour, responses: Responses = {}) {
  const file = await softwareArtifact('release-2');
  const statuses: string[] = [];
  const server = await StubServer.start({
    'put-deployment-status': (request): StubResponse => {
      statuses.push((request.json() as { status: string }).status);
      return { status: 204 };
    },
    'put-deployment-log': () => ({ status: 204 }),
    'get-update-control-map': () => ({ status: 404 }),
    'download-artifact': (request) => rangeResponse(file, '"one"', request),
    ...responses,
  });
  const fixture = new ClientFixture(server.baseUrl);
  closers.push(
    () => server.close(),
    () => fixture.close(),
  );
  const environment = new InstantEnvironment(fixture);
  const session = { ...(await sessionOf()), token };
  /** Runs a device each time it has power: first the interrupted update, then the due one. */
  const runUpdates = async (device: SimulatedDevice): Promise<void> => {
    const subject = { device, session, environment };
    await resumeUpdates(subject);
    if (device.deployments.some(isSettled)) return;
    await runUpdate(subject, instructionsFor('release-2', server.baseUrl));
  };
  const ranges = () => server.requestsFor('download-artifact').map(({ headers }) => headers.range);
  return {
    server,
    environment,
    statuses,
    runUpdates,
    ranges,
    file,
    device: deviceOf(behaviour),
  };
}

function losingPower(hook: keyof BehaviourHooks): Behaviour {
  const hooks = {
    [hook]: async (context: { readonly attempt: number; losePower(offMs: number): never }) => {
      if (context.attempt === 1) context.losePower(1000);
    },
  };
  return { ...behaviourNamed('steady'), name: 'tested', hooks };
}

describe('a device that loses power during a download', () => {
  it('requests the rest of the file by range and installs it', async () => {
    const { device, runUpdates, statuses, ranges, server } = await deviceWithOffer(
      behaviourNamed('crash-and-resume'),
    );
    await expect(runUpdates(device)).rejects.toThrow(PowerLoss);
    expect(device.deployments).toMatchObject([{ state: 'downloading', interruptedBy: 'power' }]);
    await runUpdates(device);
    expect(ranges()).toEqual([undefined, 'bytes=2048-']);
    expect(server.requestsFor('download-artifact')[1]?.headers['if-range']).toBe('"one"');
    expect(statuses).toEqual(['downloading', 'downloading', 'installing', 'rebooting', 'success']);
    expect(device.provides.artifact_name).toBe('release-2');
  });

  it('detects that the remaining bytes are of another file than the downloaded part', async () => {
    const file = await softwareArtifact('release-2');
    const spoiled = Buffer.from(file);
    // The change is past the manifest, which arrived before the power loss.
    spoiled.fill('x', 3100, 3150);
    let requestCount = 0;
    const { device, runUpdates, statuses } = await deviceWithOffer(
      behaviourNamed('crash-and-resume'),
      {
        'download-artifact': (request) =>
          rangeResponse(requestCount++ === 0 ? file : spoiled, '"one"', request),
      },
    );
    await expect(runUpdates(device)).rejects.toThrow(PowerLoss);
    await runUpdates(device);
    expect(statuses.at(-1)).toBe('failure');
    expect(device.provides.artifact_name).toBe('factory-image');
  });

  it('restarts the download when the file has changed, and counts an error', async () => {
    const file = await softwareArtifact('release-2');
    let requestCount = 0;
    const { device, runUpdates, statuses, ranges, environment } = await deviceWithOffer(
      behaviourNamed('crash-and-resume'),
      {
        'download-artifact': (request) =>
          rangeResponse(file, requestCount++ === 0 ? '"one"' : '"two"', request),
      },
    );
    await expect(runUpdates(device)).rejects.toThrow(PowerLoss);
    await runUpdates(device);
    expect(ranges()).toEqual([undefined, 'bytes=2048-', undefined]);
    expect(environment.metrics.errors()).toMatchObject([{ cause: 'download/changed', count: 1 }]);
    expect(statuses.at(-1)).toBe('success');
  });
});

describe('a device that loses power later in its update', () => {
  it.each([
    ['whileInstalling', ['downloading', 'installing', 'failure'], 'factory-image'],
    ['afterReboot', ['downloading', 'installing', 'rebooting', 'success'], 'release-2'],
    ['whileCommitting', ['downloading', 'installing', 'rebooting', 'success'], 'release-2'],
  ] as const)('ends its update as after other restarts: %s', async (hook, reports, installed) => {
    const { device, runUpdates, statuses, ranges } = await deviceWithOffer(losingPower(hook));
    device.inventoryDueMs = 1_000_000;
    await expect(runUpdates(device)).rejects.toThrow(PowerLoss);
    await runUpdates(device);
    expect(statuses).toEqual(reports);
    expect(ranges()).toEqual([undefined]);
    expect(device.provides.artifact_name).toBe(installed);
    const isDue = device.inventoryDueMs === Number.NEGATIVE_INFINITY;
    expect(isDue).toBe(installed === 'release-2');
    await runUpdates(device);
    expect(statuses).toEqual(reports);
  });
});

describe('a simulator that continues from its state folder', () => {
  const plan = { baseUrl: 'http://127.0.0.1', seed: 'x', devices: 1 };
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'fleetbed-power-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  /**
   * Runs until the power loss, with a state folder, and returns what the next simulator starts
   * from.
   */
  async function untilPowerLoss(name: string, responses: Responses = {}) {
    const life = await deviceWithOffer(behaviourNamed(name), responses);
    const state = FleetState.open({ folder, plan, devices: [life.device] });
    life.environment.onChange = (device, deployment) => state.recordChange(device, deployment);
    life.environment.downloads = state.downloads;
    life.environment.onRest = () => {
      // The simulator itself is killed during a reboot.
      if (life.device.deployments[0]?.state === 'rebooting') throw new Error('killed');
    };
    const thrown: unknown = await life.runUpdates(life.device).catch((error: unknown) => error);
    state.close();
    life.environment.onChange = () => undefined;
    life.environment.onRest = () => undefined;
    const restored = deviceOf(behaviourNamed(name));
    const next = FleetState.open({ folder, plan, devices: [restored] });
    life.environment.downloads = next.downloads;
    closers.push(async () => next.close());
    return { ...life, thrown, restored };
  }

  it('remembers that a device has crashed and does not crash it again', async () => {
    const { thrown, restored, runUpdates, ranges, statuses } =
      await untilPowerLoss('crash-and-resume');
    expect(thrown).toBeInstanceOf(PowerLoss);
    expect(restored.deployments).toMatchObject([
      { attempts: 1, interruptedBy: 'power', state: 'downloading' },
    ]);
    await runUpdates(restored);
    expect(restored.deployments).toMatchObject([{ attempts: 2, state: 'success' }]);
    expect(ranges()).toEqual([undefined, 'bytes=2048-']);
    expect(statuses.at(-1)).toBe('success');
  });

  it('keeps a device deployment aborted after the device ignored a 409', async () => {
    const { restored, environment, runUpdates } = await untilPowerLoss('ignores-409', {
      'put-deployment-status': (request): StubResponse => {
        const { status } = request.json() as { status: string };
        return { status: status === 'downloading' ? 204 : 409 };
      },
    });
    expect(restored.deployments).toMatchObject([
      { abortIgnored: true, state: 'rebooting', interruptedBy: 'simulator' },
    ]);
    await runUpdates(restored);
    expect(restored.provides.artifact_name).toBe('release-2');
    const [deployment] = restored.deployments;
    expect(deployment && expectedServerStatus(deployment)).toBe('aborted');
    expect(environment.settledDeployments).toHaveLength(1);
  });
});
