/** The watched devices of a fleet. They do not depend on the number of processes. */
import type { Clock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { ExchangeTap, type WatchedExchange } from '../network/exchange-tap.ts';
import type { FleetPlan } from '../plan/plan.ts';

/**
 * Returns the indices of the watched devices in the whole fleet: the given share, but at least one
 * device. The seed selects them, independently of keys and behaviours. The set is empty without a
 * share.
 */
export function sampleDevices({
  devices,
  seed,
  checkShare,
}: Pick<FleetPlan, 'devices' | 'seed' | 'checkShare'>): ReadonlySet<number> {
  if (checkShare === undefined) return new Set();
  const sampleSize = Math.min(devices, Math.max(1, Math.round(devices * checkShare)));
  const random = seededRandom(seed).stream('check-share');
  const sample = new Set<number>();
  // Floyd's algorithm: every set of this size is equally likely, with one random draw per device.
  for (let last = devices - sampleSize; last < devices; last++) {
    const index = random.integer(0, last);
    sample.add(sample.has(index) ? last : index);
  }
  return sample;
}

/**
 * Returns a function that creates an exchange tap for each watched device, and returns undefined
 * for other devices.
 */
export function exchangeTaps(
  plan: FleetPlan,
  clock: Clock,
  onExchange: (exchange: WatchedExchange) => void,
): (device: { readonly index: number }) => ExchangeTap | undefined {
  const sample = sampleDevices(plan);
  const { baseUrl } = plan;
  return ({ index: device }) =>
    sample.has(device) ? new ExchangeTap({ device, baseUrl, clock, onExchange }) : undefined;
}
