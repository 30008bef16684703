import { describe, expect, it } from 'vitest';
import { runConformance } from '../conformance/conformance.ts';
import { systemClock } from '../fixtures/clock.ts';
import { seededRandom } from '../fixtures/random.ts';
import { publish } from '../server/testing/test-artifacts.ts';
import { startTestServer, type TestServer } from '../server/testing/test-server.ts';
import { legalVariations } from '../server/vary/variations.ts';
import { type FleetPlan, simulateFleet } from '../simulator/simulator.ts';
import { runCommand, startServe } from './testing/built-command.ts';

const RUN_MAX_MS = 120_000;

function judge({ baseUrl, headerPrefix, adminEmail: email, adminPassword: password }: TestServer) {
  return runConformance({
    baseUrl,
    headerPrefix,
    credentials: { email, password },
    clock: systemClock,
    random: seededRandom('varied server'),
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
    seed: 'varied server',
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
    deploymentName: 'varied server',
    requestTimeLimitMs: 10_000,
  };
  return simulateFleet(plan, { clock: systemClock, signal: new AbortController().signal });
}

describe('suite and fleet', () => {
  it.each(['one', 's1', 'four'])(
    'pass against answers in all legal forms of the seed "%s"',
    { timeout: RUN_MAX_MS },
    async (varySeed) => {
      const server = await startTestServer({ clock: systemClock, varySeed });
      try {
        await publish(server, { name: 'release-2', deviceTypes: ['board'] });
        const fleet = await runFleet(server);
        const suite = await judge(server);
        expect(fleet.ended).toBe('settled');
        const troubles = suite.verdicts.filter(
          ({ verdict }) => !['pass', 'observed', 'skip'].includes(verdict),
        );
        expect(troubles).toEqual([]);
        expect(suite.outcome).toBe('pass');
      } finally {
        await server.close();
      }
    },
  );
});

describe('serve --vary', () => {
  it('without a seed tells every variation and its rule, and starts nothing', async () => {
    const { stdout, code } = await runCommand(['serve', '--vary']);
    expect(code).toBe(0);
    for (const { id, varies, rule } of legalVariations) {
      for (const sentence of [id, varies, rule]) expect(stdout).toContain(sentence);
    }
  });

  it('without a seed is one JSON value with --json', async () => {
    const { stdout, code } = await runCommand(['serve', '--vary', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(
      legalVariations.map(({ id, varies, rule }) => ({ id, varies, rule })),
    );
  });

  it('with a seed varies what is answered', async () => {
    const { ready, running } = await startServe(['--vary', 'one']);
    try {
      const types = new Set<string | null>();
      for (let round = 0; round < 12; round += 1) {
        const answer = await fetch(`${ready.baseUrl}/nowhere`);
        types.add(answer.headers.get('content-type'));
      }
      expect(types.size).toBeGreaterThan(1);
    } finally {
      await running.end();
    }
  });

  it('does not take an empty seed, and says what it takes', async () => {
    const { stderr, code } = await runCommand(['serve', '--vary', '']);
    expect(code).toBe(2);
    expect(stderr).toContain('a text that is not empty');
  });
});
