/** The sample of a fleet that is watched: the same devices whatever the number of processes. */
import type { Clock } from '../../fixtures/clock.ts';
import { seededRandom } from '../../fixtures/random.ts';
import { ExchangeTap, type WatchedExchange } from '../network/exchange-tap.ts';
import type { FleetPlan } from '../plan/plan.ts';

/**
 * The indices of the watched devices in the whole fleet: so many as the share says, at least one,
 * by the seed's chance, so that no pattern of keys and behaviours shows through. None without a share.
 */
export function sampledDevices({
  devices,
  seed,
  checkShare,
}: Pick<FleetPlan, 'devices' | 'seed' | 'checkShare'>): ReadonlySet<number> {
  if (checkShare === undefined) return new Set();
  const wanted = Math.min(devices, Math.max(1, Math.round(devices * checkShare)));
  const random = seededRandom(seed).stream('check-share');
  const sample = new Set<number>();
  // Floyd's: every set of that size is as likely, with one draw for each device in it.
  for (let last = devices - wanted; last < devices; last++) {
    const index = random.integer(0, last);
    sample.add(sample.has(index) ? last : index);
  }
  return sample;
}

/** Gives each device of the sample somebody who looks on, and every other one nobody. */
export function exchangeTaps(
  plan: FleetPlan,
  clock: Clock,
  saw: (exchange: WatchedExchange) => void,
): (device: { readonly index: number }) => ExchangeTap | undefined {
  const sample = sampledDevices(plan);
  const { baseUrl } = plan;
  return ({ index: device }) =>
    sample.has(device) ? new ExchangeTap({ device, baseUrl, clock, saw }) : undefined;
}
