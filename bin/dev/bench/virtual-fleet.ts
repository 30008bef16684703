/**
 * Runs a fleet and the reference server in one process and on one clock, over HTTP and WebSockets:
 * unlike `simulate --virtual`, it includes connections. The same seed gives the same events.
 */
import { ManualClock, runFast } from '../../../fixtures/base/clock.ts';
import { seededRandom } from '../../../fixtures/base/random.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { type RunningServer, startServer } from '../../../server/server.ts';
import { compareEvents, type FleetEvent } from '../../../simulator/device/events.ts';
import {
  type FleetPlan,
  type FleetResult,
  simulateFleet,
} from '../../../simulator/engine/simulate-fleet.ts';
import { planDefaults } from '../../../simulator/plan/plan.ts';
import { artifactOf } from '../../virtual/virtual-server.ts';

/** The artifact deployed to the whole fleet. */
const virtualArtifact = 'release-1';
const DEVICE_TYPE = 'board';

/** The outcome of a fleet in virtual time. */
export interface VirtualRun {
  readonly result: FleetResult;
  /** Events in order; the seed determines them. */
  readonly events: readonly FleetEvent[];
}

/** Overrides of the default plan: steady devices with a deployment for ten minutes. */
export type VirtualPlan = Pick<FleetPlan, 'devices' | 'seed'> & Partial<FleetPlan>;

/** Start time of every virtual run. */
const startMs = Date.parse('2026-11-21T12:00:00.000Z');

/** Runs the fleet through its plan on a new server. */
export async function virtualRun(plan: VirtualPlan): Promise<VirtualRun> {
  const clock = new ManualClock(startMs);
  const random = seededRandom('virtual world');
  const server = await startServer({ port: 0, controlPort: 0, logLevel: 'silent', clock, random });
  const { baseUrl, headerPrefix, adminEmail: email, adminPassword: password } = server;
  const events: FleetEvent[] = [];
  try {
    await uploadRelease(server);
    const whole: FleetPlan = { ...tenMinutesOfSteadyDevices, baseUrl, headerPrefix, ...plan };
    const result = await simulateFleet(
      { ...whole, acceptWith: { email, password } },
      {
        clock,
        signal: new AbortController().signal,
        onEvent: (event) => events.push(event),
        advanceTime: (isIdle) => runFast(clock, isIdle),
      },
    );
    return { result, events: events.sort(compareEvents) };
  } finally {
    await server.close();
  }
}

async function uploadRelease({ baseUrl, adminToken }: RunningServer): Promise<void> {
  const artifact = await artifactOf({ deviceType: DEVICE_TYPE }, virtualArtifact, startMs);
  const form = new FormData();
  form.append('artifact', new Blob([Uint8Array.from(artifact)]), 'release.mender');
  const { method, path } = managementOperations['upload-artifact'];
  const headers = { Authorization: `Bearer ${adminToken}` };
  const response = await fetch(baseUrl + pathOf({ path }), { method, headers, body: form });
  if (response.status !== 201) throw new Error(`the upload was answered with ${response.status}`);
}

const MINUTE_MS = 60_000;
const tenMinutesOfSteadyDevices: Omit<FleetPlan, 'devices' | 'seed' | 'baseUrl' | 'headerPrefix'> =
  {
    ...planDefaults,
    keys: { rsa: 0, ecdsa: 1, ed25519: 1 },
    pollIntervalMs: MINUTE_MS,
    inventoryIntervalMs: 5 * MINUTE_MS,
    rampMs: MINUTE_MS,
    durationMs: 10 * MINUTE_MS,
    drainMs: 0,
    deviceType: DEVICE_TYPE,
    deploy: virtualArtifact,
    requestTimeLimitMs: MINUTE_MS,
  };
