import { describe, expect, it } from 'vitest';
import { runConformance } from '../conformance/conformance.ts';
import { clockStartingAt, systemClock } from '../fixtures/clock.ts';
import { managementOperations } from '../fixtures/contract/management/index.ts';
import type { Operation } from '../fixtures/contract/operation.ts';
import { seededRandom } from '../fixtures/random.ts';
import { publish } from '../server/testing/test-artifacts.ts';
import { startTestServer, type TestServer } from '../server/testing/test-server.ts';
import { type FleetPlan, simulateFleet } from '../simulator/simulator.ts';

const RUN_MAX_MS = 120_000;
const deprecated = (Object.values(managementOperations) as Operation[])
  .filter((operation) => operation.deprecated)
  .map(({ id }) => id);

/** Everything that is asked of the server from now on, by operation; ends with the server. */
async function watch({ controlUrl, controlToken }: TestServer) {
  const headers = { Authorization: `Bearer ${controlToken}` };
  const events = await fetch(`${controlUrl}/events`, { headers });
  const text = events.text();
  return {
    operations: async () =>
      new Set([...(await text).matchAll(/"operation":"([^"]+)"/g)].map(([, id]) => id)),
  };
}

function judge({ baseUrl, headerPrefix, adminEmail: email, adminPassword: password }: TestServer) {
  return runConformance({
    baseUrl,
    headerPrefix,
    credentials: { email, password },
    clock: systemClock,
    random: seededRandom('every date'),
    caseTimeLimitMs: 30_000,
    requestTimeLimitMs: 10_000,
  });
}

function runFleet({ baseUrl, headerPrefix, adminEmail, adminPassword }: TestServer) {
  const plan: FleetPlan = {
    baseUrl,
    headerPrefix,
    devices: 4,
    keys: { rsa: 0, ecdsa: 1, ed25519: 1 },
    seed: 'every date',
    pollIntervalMs: 200,
    inventoryIntervalMs: 2000,
    rampMs: 0,
    durationMs: 30_000,
    until: 'settled',
    connect: true,
    behaviours: [{ name: 'steady', weight: 1 }],
    deviceType: 'board',
    acceptWith: { email: adminEmail, password: adminPassword },
    deploy: 'release-2',
    deploymentName: 'every date',
    requestTimeLimitMs: 10_000,
  };
  return simulateFleet(plan, { clock: systemClock, signal: new AbortController().signal });
}

describe('suite and fleet', () => {
  it.each(['2019-06-01', '2026-11-21', '2027-08-24', '2027-08-25', '2038-01-20'])(
    'pass on %s, and call nothing that is deprecated',
    { timeout: RUN_MAX_MS },
    async (date) => {
      const clock = clockStartingAt(Date.parse(date));
      const server = await startTestServer({ clock });
      const asked = await watch(server);
      await publish(server, { name: 'release-2', deviceTypes: ['board'] });
      const fleet = await runFleet(server);
      const suite = await judge(server);
      await server.close();
      expect(fleet.ended).toBe('settled');
      const troubles = suite.verdicts.filter(
        ({ verdict }) => !['pass', 'observed', 'skip'].includes(verdict),
      );
      expect(troubles).toEqual([]);
      expect(suite.outcome).toBe('pass');
      const operations = await asked.operations();
      expect(operations.size).toBeGreaterThan(30);
      expect(deprecated.filter((id) => operations.has(id))).toEqual([]);
    },
  );
});
