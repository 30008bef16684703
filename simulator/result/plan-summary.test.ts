import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, describe, expect, it } from 'vitest';
import type { FleetPlan } from '../plan/plan.ts';
import { planWith } from '../testing/plan-with.ts';
import { planDifferences } from './plan-differences.ts';
import { planSummary } from './plan-summary.ts';
import { planSummaryShape } from './result-plan.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetbed-plan-'));
afterAll(() => rmSync(folder, { recursive: true }));

const plan = planWith({
  baseUrl: 'http://127.0.0.1:8080',
  devices: 12,
  keys: { rsa: 0, ecdsa: 1, ed25519: 1 },
  cohorts: [
    { name: 'town', weight: 1 },
    { name: 'country', weight: 2, network: { latencyMs: 300 } },
  ],
  stages: [
    { kind: 'ramp', durationMs: 1000, devices: 12 },
    { kind: 'hold', durationMs: 5000 },
  ],
  incidents: [{ name: 'power-cut', atMs: 2000, lastingMs: 500, cohort: 'town' }],
  arrivals: [{ event: 'alerts', perSecond: 5 }],
});

const summaryOf = (change: Partial<FleetPlan> = {}) => planSummary({ ...plan, ...change });

/** Returns the differences between the summaries of the plan and of the changed plan. */
async function differencesBy(change: Partial<FleetPlan>): Promise<readonly string[]> {
  return planDifferences(await summaryOf(), await summaryOf(change));
}

describe('the plan in a result', () => {
  it('matches the published schema of a plan', async () => {
    const summary = await summaryOf();
    expect(v.parse(planSummaryShape, summary)).toEqual(summary);
  });

  it.each<[string, Partial<FleetPlan>, string]>([
    [
      'a weight of a cohort',
      { cohorts: [{ name: 'town', weight: 3 }, ...(plan.cohorts?.slice(1) ?? [])] },
      'cohorts[0].weight is 1 in one and 3 in the other',
    ],
    ['a back-off', { backOff: { kind: 'fixed' } }, 'cohorts[0].policy.backOff.kind is "equal-'],
    [
      'a network',
      { network: { lossShare: 0.5 } },
      'cohorts[0].policy.network is absent in one and {"latencyMs"',
    ],
    [
      'a length of a stage',
      { stages: [{ kind: 'hold', durationMs: 7 }] },
      'stages[0].kind is "ramp" in one and "hold" in the other',
    ],
    ['stages that are not there', { stages: undefined }, 'stages is [{"kind":"ramp",'],
    [
      'the time of an incident',
      { incidents: [{ name: 'power-cut', atMs: 2500, lastingMs: 500, cohort: 'town' }] },
      'incidents[0].atMs is 2000 in one and 2500 in the other',
    ],
    ['an arrival', { arrivals: [{ event: 'logs', perSecond: 5 }] }, 'arrivals[0].event is "alerts'],
    ['iterations', { iterations: 4 }, 'iterations is absent in one and 4 in the other'],
    ['the drain', { drainMs: 4 }, 'drainMs is 0 in one and 4 in the other'],
    ['a sample', { checkShare: 0.5 }, 'checkShare is absent in one and 0.5 in the other'],
    ['a parameter', { behaviourParameters: { steady: { installMs: 7 } } }, 'behaviourParameters'],
  ])('differs after a change of %s, with the path named', async (_what, change, said) => {
    const [difference] = await differencesBy(change);
    expect(difference).toContain(said);
    expect((await summaryOf(change)).digest).not.toBe((await summaryOf()).digest);
  });

  it('contains no secrets, no paths, and nothing specific to one machine', async () => {
    const own: Partial<FleetPlan> = {
      acceptWith: { email: 'who@example.com', password: 'secret-word' },
      tenantToken: 'secret-token',
      ledger: '/home/somebody/made.ndjson',
      keyFolder: '/home/somebody/keys',
      sourceAddresses: ['127.0.0.9'],
    };
    const summary = await summaryOf(own);
    expect(JSON.stringify(summary)).not.toMatch(/secret|who@|somebody|127\.0\.0\.9/);
    expect(summary).toEqual(await summaryOf());
  });

  it('differs when the content of a file differs, but not for another path', async () => {
    const fileOf = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const [one, same, other] = [
      await summaryOf({ idDataFile: fileOf('a.csv', 'mac\n1\n') }),
      await summaryOf({ idDataFile: fileOf('b.csv', 'mac\n1\n') }),
      await summaryOf({ idDataFile: fileOf('c.csv', 'mac\n2\n') }),
    ];
    expect(same).toEqual(one);
    expect(planDifferences(one, other)).toEqual([expect.stringContaining('files.idData is "')]);
    expect(JSON.stringify(one)).not.toContain(folder);
  });

  it('differs from a summary without a digest by at least the digest', async () => {
    const { digest: _, ...older } = await summaryOf();
    expect(planDifferences(older, await summaryOf())).toEqual([
      expect.stringMatching(/^digest is absent in one and "[0-9a-f]{10}/),
    ]);
  });
});
