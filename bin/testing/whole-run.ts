/** Runs a small fleet and the whole suite against a test server, for tests of both. */
import { runConformance } from '../../conformance/conformance.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { publish } from '../../server/testing/test-artifacts.ts';
import type { TestServer } from '../../server/testing/test-server.ts';
import { type FleetPlan, simulateFleet } from '../../simulator/engine/simulate-fleet.ts';
import { planDefaults } from '../../simulator/plan/plan.ts';

const deploy = 'release-2';
const deviceType = 'board';
const requestTimeLimitMs = 10_000;

/**
 * Returns the outcomes of the fleet and of the suite, and the verdicts that a good server does
 * not get.
 */
export async function wholeRun(server: TestServer, seed: string) {
  await publish(server, { name: deploy, deviceTypes: [deviceType] });
  const fleet = await runFleet(server, seed);
  const { verdicts, outcome } = await judge(server, seed);
  const troubles = verdicts
    .filter(({ verdict }) => !['pass', 'observed', 'skip'].includes(verdict))
    .map(({ id, verdict, expected, actual }) => ({ id, verdict, expected, actual }));
  return { ended: fleet.ended, troubles, outcome };
}

function judge(
  { baseUrl, headerPrefix, adminEmail: email, adminPassword: password, ...server }: TestServer,
  seed: string,
) {
  return runConformance({
    baseUrl,
    headerPrefix,
    credentials: { email, password },
    control: { url: server.controlUrl, token: server.controlToken },
    clock: systemClock,
    random: seededRandom(seed),
    caseTimeLimitMs: 30_000,
    jobs: 4,
    requestTimeLimitMs,
  });
}

function runFleet({ baseUrl, headerPrefix, adminEmail, adminPassword }: TestServer, seed: string) {
  const plan: FleetPlan = {
    ...planDefaults,
    baseUrl,
    headerPrefix,
    devices: 4,
    keys: { rsa: 0, ecdsa: 1, ed25519: 1 },
    seed,
    pollIntervalMs: 200,
    inventoryIntervalMs: 2000,
    rampMs: 0,
    durationMs: 30_000,
    until: 'settled',
    connect: true,
    behaviours: [{ name: 'steady', weight: 1 }],
    deviceType,
    acceptWith: { email: adminEmail, password: adminPassword },
    deploy,
    deploymentName: seed,
    requestTimeLimitMs,
  };
  return simulateFleet(plan, { clock: systemClock, signal: new AbortController().signal });
}
