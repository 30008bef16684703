/** Refuses a poll whose data conflicts with that of the offer. Spec: Device deployments v1, v2 */
import { shortenText } from '../../../fixtures/base/characters.ts';
import { describeValue } from '../../http/problem-detail.ts';
import { type Refusal, refuse } from '../../http/refusal.ts';
import type { NextRequest } from '../../rules/next-deployment.ts';

/**
 * Refuses a poll that reports other data than the poll in which the deployment was offered, and
 * names the data that differs.
 */
export function refuseOtherData(offered: NextRequest, request: NextRequest): Refusal {
  const [offeredData, pollData] = [pollDataOf(offered), pollDataOf(request)];
  const names = [...new Set([...offeredData.keys(), ...pollData.keys()])];
  const changedNames = names.filter((name) => offeredData.get(name) !== pollData.get(name));
  const valuesIn = (data: ReadonlyMap<string, unknown>): string =>
    describeValue(Object.fromEntries(changedNames.map((name) => [name, data.get(name) ?? null])));
  return refuse.conflict(
    `conflicting request data: ${differing(changedNames)} from the request for which this deployment was offered`,
    {
      path: 'request',
      expected: `the same data as when the deployment was offered: ${valuesIn(offeredData)}`,
      actual: `${valuesIn(pollData)}; the deployment has failed for this device`,
      remedy:
        'deploy to the device again; the device must report the same data until it has finished the deployment',
    },
  );
}

/** Limits on the names in the error text, since a device chooses them. */
const NAMED_MAX = 3;
const NAME_MAX_CHARACTERS = 60;

function differing(names: readonly string[]): string {
  const firstNames = names
    .slice(0, NAMED_MAX)
    .map((name) => shortenText(name, NAME_MAX_CHARACTERS));
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  return `${firstNames.join(', ')}${more} ${names.length === 1 ? 'differs' : 'differ'}`;
}

function pollDataOf({ provides, wantsControlMap }: NextRequest): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>([
    ...Object.entries(provides),
    ['update_control_map', wantsControlMap],
  ]);
}
