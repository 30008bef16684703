/** Lets the conformance suite judge a sample of a fleet's exchanges. */
import type { FleetPlan, SampledExchangeJudge } from '../../../simulator/engine/simulate-fleet.ts';

/** Returns the judge of the sampled exchanges; undefined when the plan has no sample. */
export async function judgeFor({
  checkShare,
  headerPrefix,
}: Pick<FleetPlan, 'checkShare' | 'headerPrefix'>): Promise<SampledExchangeJudge | undefined> {
  if (checkShare === undefined) return undefined;
  // The suite is loaded only when there is a sample.
  const { DeviceTrafficJudge, deviceTrafficRequirements } = await import(
    '../../../conformance/passive/device-traffic-judge.ts'
  );
  const judge = new DeviceTrafficJudge(headerPrefix);
  return { requirements: deviceTrafficRequirements, judge: (exchange) => judge.judge(exchange) };
}
