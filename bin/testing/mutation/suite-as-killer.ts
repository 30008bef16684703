/**
 * The suite as the killer of mutants: each of its cases is a test, against a server that runs in the
 * same process, so that a mutant in the server's code is seen. Run by `npm run mutation` only.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCases, runConformance } from '../../../conformance/conformance.ts';
import { systemClock } from '../../../fixtures/clock.ts';
import { seededRandom } from '../../../fixtures/random.ts';
import { startTestServer, type TestServer } from '../../../server/testing/test-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

describe('the suite', () => {
  it.each(listCases().map(({ id }) => id))('%s', async (id) => {
    const { baseUrl, headerPrefix, adminEmail: email, adminPassword: password } = server;
    const { verdicts } = await runConformance({
      baseUrl,
      headerPrefix,
      credentials: { email, password },
      selection: [id],
      clock: systemClock,
      random: seededRandom(id),
      caseTimeLimitMs: 15_000,
      requestTimeLimitMs: 5000,
    });
    const bad = verdicts.filter(({ verdict }) => verdict === 'fail');
    expect(bad.map((each) => `${each.id}: ${each.actual}`)).toEqual([]);
  });
});
