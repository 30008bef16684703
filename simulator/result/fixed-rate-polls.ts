/** The polls of a run at a fixed rate: how many fell due, were sent, were late or were dropped. */
import * as v from 'valibot';
import { countText } from '../../fixtures/base/count-text.ts';
import type { Immutable } from './immutable.ts';
import { fields, sum } from './mergers.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const fixedRatePollsShape = v.pipe(
  v.object({
    due: v.pipe(count, v.description('Polls that fell due: the sum of sent and dropped.')),
    sent: count,
    late: v.pipe(count, v.description('Polls that were sent after a wait for a free device.')),
    dropped: v.pipe(
      count,
      v.description('Polls that were never sent, because every device was busy until the end.'),
    ),
  }),
  v.description('Polls at the fixed rate of the plan; absent for a plan without one.'),
);

/** Counts of the polls at a fixed rate. */
export type FixedRatePolls = Immutable<v.InferOutput<typeof fixedRatePollsShape>>;

/** Adds the counts of several parts. */
export const mergeFixedRatePolls = fields<FixedRatePolls>({
  due: sum,
  sent: sum,
  late: sum,
  dropped: sum,
});

/** Returns the counts as a string; 'all on time' when no poll was late or dropped. */
export function fixedRatePollsLine({ due, sent, late, dropped }: FixedRatePolls): string {
  if (late + dropped === 0) return `${countText(due, 'poll')} due, all sent on time`;
  return (
    `${countText(due, 'poll')} due, ${sent} sent, ${late} of them LATE and ${dropped} DROPPED, ` +
    'because every device was busy: use more devices'
  );
}
