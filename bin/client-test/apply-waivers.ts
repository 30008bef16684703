/** Waivers of duties: known violations by a client, each tolerated until a day. */
import type {
  ClientTestResult,
  TestedDuty,
} from '../../conformance/client-judge/report/client-test-result.ts';
import type { Waiver } from '../../conformance/result/waivers.ts';

/**
 * Attaches waivers to the duties that they name. One that is expired, or whose duty is met, is a
 * problem, so that it is removed.
 * @param today the current day in ISO 8601 and UTC
 */
export function applyWaivers(
  duties: readonly TestedDuty[],
  waivers: readonly Waiver[],
  today: string,
): Pick<ClientTestResult, 'duties' | 'waivers' | 'problems'> {
  const rows = waivers.map(({ id: duty, ...waiver }) => {
    const state = stateOf(waiver, duties.find((each) => each.duty === duty)?.state, today);
    return { duty, ...waiver, state };
  });
  return {
    duties: duties.map((each) => {
      const row = rows.find(({ duty, state }) => duty === each.duty && state === 'used');
      if (row === undefined) return each;
      const { reason, owner, expires } = row;
      return { ...each, waiver: { reason, owner, expires } };
    }),
    waivers: rows,
    problems: rows.flatMap(({ duty, state, owner, expires }) => {
      const whose = `the waiver of ${owner} on ${duty}`;
      if (state === 'expired')
        return [`${whose} expired on ${expires}; correct the client or renew the waiver`];
      return state === 'obsolete'
        ? [`${whose} is no longer needed: the duty is met; remove it`]
        : [];
    }),
  };
}

function stateOf(
  { expires }: Pick<Waiver, 'expires'>,
  found: TestedDuty['state'] | undefined,
  today: string,
): ClientTestResult['waivers'][number]['state'] {
  if (expires < today) return 'expired';
  if (found === 'broken') return 'used';
  return found === 'met' ? 'obsolete' : 'not-decided';
}
