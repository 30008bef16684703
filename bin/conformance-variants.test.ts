import { describe, expect, it } from 'vitest';
import { type CaseVerdict, runConformance } from '../conformance/conformance.ts';
import { systemClock } from '../fixtures/clock.ts';
import { type VariantName, variantNames } from '../fixtures/contract/variants.ts';
import { seededRandom } from '../fixtures/random.ts';
import { startServer } from '../server/server.ts';

/** The whole suite against every variant takes minutes; else what a variant has once misled. */
const isWhole = process.env.FLEETBED_FULL_TESTS === '1';
const PLAY_MAX_MS = isWhole ? 600_000 : 60_000;

const samples: Readonly<Partial<Record<VariantName, readonly string[]>>> = {
  'open-source': ['versioning/', 'faults/', 'tenants/t', 'roles/', 'time/e', 'audit-log/list-is'],
  'asynchronous-provisioning': ['authorization/put-configuration-r', 'configuration-download/'],
};

/**
 * The contract has one store of settings that a device writes and reads; this variant has two, so
 * that what the suite says of it is true.
 */
const trueOf: Readonly<Partial<Record<VariantName, RegExp>>> = {
  'split-configuration': /^(?:fail|inconclusive) (?:configuration\/|model\/random-)/,
};

function complaintOf({ verdict, id, actual, reason }: CaseVerdict): readonly string[] {
  if (!['fail', 'error', 'inconclusive'].includes(verdict)) return [];
  return [`${verdict} ${id}: ${actual ?? reason?.text ?? ''}`];
}

const played = isWhole ? variantNames : variantNames.filter((name) => samples[name]);

describe.each(played)('a server with the variant %s', (variant) => {
  it('is judged without a false failure, and no case is inconclusive', {
    timeout: PLAY_MAX_MS,
  }, async () => {
    const quiet = { port: 0, controlPort: 0, logLevel: 'silent' } as const;
    const server = await startServer({ ...quiet, variants: new Set([variant]) });
    try {
      const { verdicts, leftBehind } = await runConformance({
        baseUrl: server.baseUrl,
        headerPrefix: server.headerPrefix,
        credentials: { token: server.adminToken },
        control: { url: server.controlUrl, token: server.controlToken },
        clock: systemClock,
        random: seededRandom(variant),
        selection: isWhole ? [] : (samples[variant] ?? []),
        disruptive: true,
        caseTimeLimitMs: 60_000,
        requestTimeLimitMs: 15_000,
        jobs: 4,
      });
      const isTrue = (complaint: string) => trueOf[variant]?.test(complaint) ?? false;
      const complaints = verdicts.flatMap(complaintOf).filter((each) => !isTrue(each));
      expect([complaints, leftBehind]).toEqual([[], []]);
      expect(verdicts.filter(({ verdict }) => verdict === 'pass').length).toBeGreaterThan(3);
    } finally {
      await server.close();
    }
  });
});
