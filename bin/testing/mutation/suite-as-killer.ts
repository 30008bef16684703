/**
 * The suite as the killer of mutants: each of its areas is a test, against a server that runs in the
 * same process, so that a mutant in the server's code is seen. Run by `npm run mutation` only.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCases, runConformance, type VerdictName } from '../../../conformance/conformance.ts';
import { systemClock } from '../../../fixtures/clock.ts';
import { seededRandom } from '../../../fixtures/random.ts';

/** Each test waits for it, so that a mutant with which no server starts fails the tests. */
const starting = import('../../../server/server.ts').then(({ startServer }) =>
  startServer({ port: 0, controlPort: 0, logLevel: 'silent' }),
);

/** What runs while the server loads belongs to no single test. */
beforeAll(() => starting.then(String, String));

afterAll(async () => (await starting).close());

/** What a case's id begins with. */
const areaOf = (id: string): string => id.slice(0, id.indexOf('/'));
const caseIds = listCases().map(({ id }) => id);
/** The area that takes longest comes last: most mutants are killed before it. */
const areas = [...new Set(caseIds.map(areaOf))].sort(
  (one, other) => Number(one === 'model') - Number(other === 'model'),
);

/** Verdicts with which a run does not pass: our own server gets none of them. */
const caught: ReadonlySet<VerdictName> = new Set(['fail', 'inconclusive', 'error']);

describe('the suite', () => {
  it.each(areas)('%s', async (area) => {
    const server = await starting;
    const { baseUrl, headerPrefix, adminEmail: email, adminPassword: password } = server;
    const { controlUrl: url, controlToken: token } = server;
    const bad: string[] = [];
    const enough = new AbortController();
    await runConformance({
      baseUrl,
      headerPrefix,
      credentials: { email, password },
      control: { url, token },
      ids: new Set(caseIds.filter((id) => areaOf(id) === area)),
      // A mutant that answers 404 must fail its cases, not skip them.
      probe: false,
      disruptive: true,
      jobs: 8,
      clock: systemClock,
      random: seededRandom(area),
      caseTimeLimitMs: 15_000,
      requestTimeLimitMs: 5000,
      signal: enough.signal,
      onVerdict: ({ id, verdict, actual }) => {
        if (!caught.has(verdict)) return;
        bad.push(`${id}: ${actual}`);
        enough.abort();
      },
    });
    expect(bad).toEqual([]);
  });
});
