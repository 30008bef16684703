/** Joins a fleet with the suite: the suite's watch judges what the sample of the fleet exchanges. */
import type { ExchangeJudge, FleetPlan } from '../../../simulator/engine/simulate-fleet.ts';

/** Who judges the sample of the plan; undefined when it has none. */
export async function judgeFor({
  checkShare,
  headerPrefix,
}: Pick<FleetPlan, 'checkShare' | 'headerPrefix'>): Promise<ExchangeJudge | undefined> {
  if (checkShare === undefined) return undefined;
  // The suite is loaded only where there is something to judge.
  const { Watch, watchedRequirements } = await import('../../../conformance/passive/watch.ts');
  const watch = new Watch(headerPrefix);
  return { requirements: watchedRequirements, see: (exchange) => watch.see(exchange) };
}
