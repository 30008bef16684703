import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConformanceOptions,
  type ConformanceResult,
  listCases,
  runConformance,
} from '../../conformance/conformance.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { type RunningServer, startServer } from '../../server/server.ts';

/** A bound, not a benchmark: beside other work on two cores a run has taken over three minutes. */
const SUITE_MAX_MS = 420_000;

let server: RunningServer;

beforeAll(async () => {
  server = await startServer({ port: 0, controlPort: 0, logLevel: 'silent' });
});

afterAll(() => server.close());

function judge(more: Partial<ConformanceOptions> = {}) {
  const { baseUrl, headerPrefix, adminEmail: email, adminPassword: password } = server;
  const { controlUrl: url, controlToken: token } = server;
  return runConformance({
    baseUrl,
    headerPrefix,
    credentials: { email, password },
    control: { url, token },
    clock: systemClock,
    random: seededRandom(JSON.stringify(more)),
    caseTimeLimitMs: 30_000,
    requestTimeLimitMs: 10_000,
    jobs: 4,
    ...more,
  });
}

/** Returns the failures of a result as lines of text. */
function complaints({ verdicts }: ConformanceResult): string[] {
  return verdicts
    .filter(({ verdict }) => !['pass', 'skip', 'observed'].includes(verdict))
    .map((each) => `${each.verdict} ${each.id}: ${each.actual ?? each.reason?.text ?? ''}`);
}

describe('the reference server under the conformance suite', () => {
  it('fails no case, even if cases affect other devices', {
    timeout: SUITE_MAX_MS,
  }, async () => {
    const result = await judge({ disruptive: true });
    expect(complaints(result)).toEqual([]);
    expect(result.outcome).toBe('pass');
    expect(result.verdicts.map(({ id }) => id)).toEqual(listCases().map(({ id }) => id));
    expect(result.leftBehind).toEqual([]);
    expect(result.verdicts.filter(({ verdict }) => verdict === 'skip')).toEqual([]);
    expect(result.musts.undecidedMusts).toEqual([]);
    const touched = new Set(
      result.verdicts.flatMap(({ covers }) => covers.map((each) => each.split(' ')[0])),
    );
    expect([...touched].sort()).toEqual(Object.keys(operations).sort());
  });

  it('leaves no resources of the suite on the server', async () => {
    const { controlUrl, controlToken } = server;
    const headers = { Authorization: `Bearer ${controlToken}` };
    const overview = await fetch(`${controlUrl}/overview`, { headers });
    expect(await overview.json()).toMatchObject({ devices: [], deviceCounts: { accepted: 0 } });
  });

  it('passes with another header prefix', { timeout: SUITE_MAX_MS }, async () => {
    const otherServer = await startServer({
      port: 0,
      controlPort: 0,
      logLevel: 'silent',
      headerPrefix: 'X-MEN',
      adminEmail: server.adminEmail,
      adminPassword: server.adminPassword,
    });
    try {
      const { baseUrl, controlUrl: url, controlToken: token } = otherServer;
      const result = await judge({
        baseUrl,
        headerPrefix: 'X-MEN',
        control: { url, token },
        // Areas whose headers or link parameters contain the vendor's prefix.
        selection: ['authentication/', 'artifact-link/', 'configuration-download/', 'connect/'],
      });
      expect(complaints(result)).toEqual([]);
      expect(result.outcome).toBe('pass');
    } finally {
      await otherServer.close();
    }
  });

  it('fails when its header prefix differs from the declared one', async () => {
    const result = await judge({ headerPrefix: 'X-MEN', selection: ['errors/request-id'] });
    expect(result.outcome).toBe('fail');
  });
});
