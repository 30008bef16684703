/**
 * A fleet and our server in one process and on one clock, which is played as fast as both work:
 * minutes of a fleet in a second. The same seed gives the same events.
 */
import { playFast } from '../../fixtures/clock.ts';
import { publish } from '../../server/testing/test-artifacts.ts';
import { startTestServer } from '../../server/testing/test-server.ts';
import { type FleetEvent, inEventOrder } from '../../simulator/report/events.ts';
import { type FleetPlan, type FleetResult, simulateFleet } from '../../simulator/simulator.ts';

/** What is deployed to the whole fleet. */
const virtualArtifact = 'release-1';
const DEVICE_TYPE = 'board';
const ARTIFACT_BYTES = 20_000;

/** What a fleet did in its virtual world. */
export interface VirtualRun {
  readonly result: FleetResult;
  /** In their one order. */
  readonly events: readonly FleetEvent[];
}

/** What differs from ten minutes of steady devices that are deployed to. */
export type VirtualPlan = Pick<FleetPlan, 'devices' | 'seed'> & Partial<FleetPlan>;

/** Lets the fleet live through its plan in a world of its own. */
export async function virtualRun(plan: VirtualPlan): Promise<VirtualRun> {
  const server = await startTestServer();
  const { baseUrl, headerPrefix, adminEmail: email, adminPassword: password, clock } = server;
  const events: FleetEvent[] = [];
  try {
    const files = [{ name: 'app.bin', content: Buffer.alloc(ARTIFACT_BYTES, 7) }];
    await publish(server, { name: virtualArtifact, deviceTypes: [DEVICE_TYPE], files });
    const whole: FleetPlan = { ...tenMinutesOfSteadyDevices, baseUrl, headerPrefix, ...plan };
    const result = await simulateFleet(
      { ...whole, acceptWith: { email, password } },
      {
        clock,
        signal: new AbortController().signal,
        onEvent: (event) => events.push(event),
        drive: (isQuiet) => playFast(clock, isQuiet),
      },
    );
    return { result, events: events.sort(inEventOrder) };
  } finally {
    await server.close();
  }
}

const MINUTE_MS = 60_000;
const tenMinutesOfSteadyDevices: Omit<FleetPlan, 'devices' | 'seed' | 'baseUrl' | 'headerPrefix'> =
  {
    keys: { rsa: 0, ecdsa: 1, ed25519: 1 },
    behaviours: [{ name: 'steady', weight: 1 }],
    pollIntervalMs: MINUTE_MS,
    inventoryIntervalMs: 5 * MINUTE_MS,
    rampMs: MINUTE_MS,
    durationMs: 10 * MINUTE_MS,
    connect: false,
    deviceType: DEVICE_TYPE,
    deploy: virtualArtifact,
    requestTimeLimitMs: MINUTE_MS,
  };
