/** Lets the conformance suite judge a sample of a fleet's exchanges. */
import type { ExchangeJudge, FleetPlan } from '../../../simulator/engine/simulate-fleet.ts';

/** Returns the judge of the sampled exchanges; undefined when the plan has no sample. */
export async function judgeFor({
  checkShare,
  headerPrefix,
}: Pick<FleetPlan, 'checkShare' | 'headerPrefix'>): Promise<ExchangeJudge | undefined> {
  if (checkShare === undefined) return undefined;
  // The suite is loaded only when there is a sample.
  const { DeviceWatch, watchedRequirements } = await import(
    '../../../conformance/passive/watch.ts'
  );
  const watch = new DeviceWatch(headerPrefix);
  return { requirements: watchedRequirements, see: (exchange) => watch.see(exchange) };
}
