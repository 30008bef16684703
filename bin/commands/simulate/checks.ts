/** Connects a fleet with the conformance suite, which judges the exchanges of the sample. */
import type { ExchangeJudge, FleetPlan } from '../../../simulator/engine/simulate-fleet.ts';

/** Returns the judge of the plan's sample; undefined when the plan has none. */
export async function judgeFor({
  checkShare,
  headerPrefix,
}: Pick<FleetPlan, 'checkShare' | 'headerPrefix'>): Promise<ExchangeJudge | undefined> {
  if (checkShare === undefined) return undefined;
  // The suite is loaded only if there is something to judge.
  const { Watch, watchedRequirements } = await import('../../../conformance/passive/watch.ts');
  const watch = new Watch(headerPrefix);
  return { requirements: watchedRequirements, see: (exchange) => watch.see(exchange) };
}
