import { expect, it } from 'vitest';
import { FleetOnTestbed } from '../testing/fleet-on-testbed.ts';
import { findingsOn } from '../testing/judged-fleet.ts';

const RUN_MS = 15_000;
/** Behaviours of devices that meet every duty. */
const steady = ['steady', 'already-installed', 'failing-install', 'wrong-checksum'];
/** The duty that each defective device breaks. */
const wrong: Readonly<Record<string, string>> = {
  'reports-success-without-installing': 'report.success-only-if-installed',
  floods: 'next.not-faster-than-a-second',
};

it('the client judge finds no violation by well-behaved simulated devices, and names the violations by others', {
  timeout: 90_000,
}, async () => {
  const fleet = await FleetOnTestbed.start();
  try {
    await fleet.run({
      behaviours: [...steady, ...Object.keys(wrong)],
      pollIntervalMs: 1500,
      backOff: { minMs: 1000, maxMs: 8000 },
      durationMs: RUN_MS,
    });
    const { exchanges, byDevice: found } = findingsOn(fleet);
    expect(exchanges).toBeGreaterThan(30);
    for (const name of steady) expect(found.get(fleet.idOf(name)), name).toBeUndefined();
    for (const [name, duty] of Object.entries(wrong)) {
      expect(
        found.get(fleet.idOf(name))?.map((each) => each.split(':')[0]),
        name,
      ).toContain(duty);
    }
  } finally {
    await fleet.testbed.close();
  }
});
