/** The states of duties as labels and tones. */
import type { ResponseOf } from '../../../../fixtures/control/operations.ts';
import type { Tone } from '../../../../fixtures/page/badge.tsx';

type DutyState = ResponseOf<'GET /clients'>['duties'][number]['state'];

const states: Readonly<Record<DutyState, readonly [label: string, tone: Tone]>> = {
  broken: ['broken', 'negative'],
  open: ['open', 'pending'],
  met: ['met', 'positive'],
  observed: ['observed', 'info'],
  'not-judged': ['not judged', 'plain'],
  'not-tested': ['not tested yet', 'plain'],
  'not-observable': ['not observable', 'plain'],
  'not-applicable': ['not applicable', 'plain'],
};

const isDutyState = (text: string): text is DutyState => Object.hasOwn(states, text);

/** Returns the tone of a state; plain for one that the page does not know. */
export const dutyTone = (state: string): Tone => (isDutyState(state) ? states[state][1] : 'plain');

/** Returns the label of a state; one that the page does not know is returned unchanged. */
export const dutyLabel = (state: string): string => (isDutyState(state) ? states[state][0] : state);

/** Returns the choices of a filter by state, with the number of duties in each. */
export function stateChoicesOf(duties: readonly { readonly state: string }[]) {
  const choices = Object.keys(states).flatMap((state) => {
    const count = duties.filter((duty) => duty.state === state).length;
    return count === 0 ? [] : [[state, `${dutyLabel(state)} (${count})`] as const];
  });
  return [['', `all states (${duties.length})`] as const, ...choices];
}

const order: readonly string[] = ['broken', 'open', 'not-tested', 'not-judged', 'met', 'observed'];

/** Returns the duties with those first of which the reader has to know. */
export function byImportance<Duty extends { readonly state: string }>(
  duties: readonly Duty[],
): readonly Duty[] {
  const rank = ({ state }: Duty): number =>
    order.includes(state) ? order.indexOf(state) : order.length;
  return duties.toSorted((one, other) => rank(one) - rank(other));
}
