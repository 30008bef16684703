import { describe, expect, it } from 'vitest';
import { variationNames } from '../../fixtures/contract/variation-names.ts';
import { FleetOnTestbed } from '../testing/fleet-on-testbed.ts';
import { findingsOn } from '../testing/judged-fleet.ts';

const RUN_MS = 10_000;
const seeds = Array.from({ length: 20 }, (_, index) => `seed-${index + 1}`);

describe('the judge of simulated devices that behave', { timeout: 60_000 }, () => {
  it.each(seeds)(
    'finds no violation on a server with every allowed variation and %s',
    async (seed) => {
      const variations = new Set(variationNames);
      const fleet = await FleetOnTestbed.start({ seed, variations });
      try {
        await fleet.run({
          behaviours: ['steady', 'already-installed', 'failing-install', 'wrong-checksum'],
          seed,
          pollIntervalMs: 1500,
          durationMs: RUN_MS,
          backOff: { minMs: 1000, maxMs: 8000 },
        });
        const { exchanges, byDevice } = findingsOn(fleet);
        expect(Object.fromEntries(byDevice)).toEqual({});
        expect(exchanges).toBeGreaterThan(20);
      } finally {
        await fleet.testbed.close();
      }
    },
  );
});
