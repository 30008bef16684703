import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { startTestServer } from '../../../server/testing/test-server.ts';
import { wholeRun } from '../../testing/whole-run.ts';

const RUN_MAX_MS = 600_000;

describe('suite and fleet against a varied server', () => {
  it.each(['one', 's1', 'four'])(
    'pass with all allowed variations of responses for the seed "%s"',
    { timeout: RUN_MAX_MS },
    async (varySeed) => {
      const server = await startTestServer({ clock: systemClock, variationSeed: varySeed });
      try {
        const run = await wholeRun(server, 'varied server');
        expect(run).toEqual({ ended: 'settled', troubles: [], outcome: 'pass' });
      } finally {
        await server.close();
      }
    },
  );
});
