import { describe, expect, it } from 'vitest';
import {
  type CaseVerdict,
  type Declaration,
  runConformance,
} from '../../conformance/conformance.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { type DialectName, dialectNames } from '../../fixtures/contract/dialects.ts';
import { startServer } from '../../server/server.ts';

const RUN_MAX_MS = 300_000;

/** Options for dialects that no probe can detect. */
const declaredOf: Readonly<Partial<Record<DialectName, Declaration>>> = {
  'split-configuration': { without: ['configuration-read-back'] },
};

function complaintOf({ verdict, id, actual, reason }: CaseVerdict): readonly string[] {
  if (!['fail', 'error', 'inconclusive'].includes(verdict)) return [];
  return [`${verdict} ${id}: ${actual ?? reason?.text ?? ''}`];
}

describe.each(dialectNames)('a server with the dialect %s', (dialect) => {
  it('passes the suite without a failed or inconclusive case', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const quiet = { port: 0, controlPort: 0, logLevel: 'silent' } as const;
    const server = await startServer({ ...quiet, dialects: new Set([dialect]) });
    try {
      const { verdicts, leftBehind } = await runConformance({
        baseUrl: server.baseUrl,
        headerPrefix: server.headerPrefix,
        credentials: { token: server.adminToken },
        control: { url: server.controlUrl, token: server.controlToken },
        declared: declaredOf[dialect] ?? {},
        clock: systemClock,
        random: seededRandom(dialect),
        disruptive: true,
        caseTimeLimitMs: 60_000,
        requestTimeLimitMs: 15_000,
        jobs: 4,
      });
      expect([verdicts.flatMap(complaintOf), leftBehind]).toEqual([[], []]);
      expect(verdicts.filter(({ verdict }) => verdict === 'pass').length).toBeGreaterThan(3);
    } finally {
      await server.close();
    }
  });
});
