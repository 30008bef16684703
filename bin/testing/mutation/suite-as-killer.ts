/**
 * The suite as the killer of mutants: each of its cases is a test, against a server that runs in the
 * same process, so that a mutant in the server's code is seen. Run by `npm run mutation` only.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCases, runConformance } from '../../../conformance/conformance.ts';
import { systemClock } from '../../../fixtures/clock.ts';
import { seededRandom } from '../../../fixtures/random.ts';
import { type RunningServer, startServer } from '../../../server/server.ts';

let server: RunningServer;

beforeAll(async () => {
  server = await startServer({ port: 0, controlPort: 0, logLevel: 'silent' });
});

afterAll(() => server.close());

describe('the suite', () => {
  it.each(listCases().map(({ id }) => id))('%s', async (id) => {
    const { baseUrl, headerPrefix, adminEmail: email, adminPassword: password } = server;
    const { controlUrl: url, controlToken: token } = server;
    const { verdicts } = await runConformance({
      baseUrl,
      headerPrefix,
      credentials: { email, password },
      control: { url, token },
      ids: new Set([id]),
      // A mutant that answers 404 must fail its cases, not skip them.
      probe: false,
      disruptive: true,
      clock: systemClock,
      random: seededRandom(id),
      caseTimeLimitMs: 15_000,
      requestTimeLimitMs: 5000,
    });
    const bad = verdicts.filter(({ verdict }) => verdict === 'fail');
    expect(bad.map((each) => `${each.id}: ${each.actual}`)).toEqual([]);
  });
});
