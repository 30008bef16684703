import { describe, expect, it } from 'vitest';
import { runConformance } from '../../conformance/conformance.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { startTestServer } from '../../server/testing/test-server.ts';
import { openRoughNetwork } from '../testing/rough-network.ts';

const RUN_MAX_MS = 600_000;

describe('a good server behind a rough network', () => {
  it.each([
    ['that compresses and is slow', { latencyMs: 30, resets: 0, isCompressing: true }],
    ['that resets connections', { latencyMs: 0, resets: 0.02, isCompressing: false }],
  ])(
    'fails no case on a network %s',
    async (_, faults) => {
      const server = await startTestServer({ clock: systemClock });
      const random = seededRandom('rough network');
      const network = await openRoughNetwork(server.baseUrl, {
        clock: systemClock,
        random: random.stream('network'),
        ...faults,
      });
      try {
        const { verdicts } = await runConformance({
          baseUrl: network.baseUrl,
          headerPrefix: server.headerPrefix,
          credentials: { email: server.adminEmail, password: server.adminPassword },
          control: { url: server.controlUrl, token: server.controlToken },
          clock: systemClock,
          random,
          caseTimeLimitMs: 60_000,
          jobs: 8,
          requestTimeLimitMs: 15_000,
        });
        const decided = ['pass', 'observed', 'skip'];
        const undecided = verdicts.filter(({ verdict }) => !decided.includes(verdict));
        const byNetwork = undecided.filter(({ reason }) => reason?.code === 'connection-closed');
        expect(undecided.filter((each) => !byNetwork.includes(each))).toEqual([]);
        // Each case runs up to three times, and only cases with hundreds of requests are always cut
        // short.
        expect(byNetwork.length).toBeLessThan(faults.resets * verdicts.length * 3 + 1);
      } finally {
        network.close();
        await server.close();
      }
    },
    RUN_MAX_MS,
  );
});
