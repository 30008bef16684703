/** Value schemas for plans, each with the sentence that rejects a wrong value. */
import * as v from 'valibot';

const YEAR_DAYS = 366;
const YEAR_MS = YEAR_DAYS * 86_400_000;

/** A whole number from `least` to `most`, both included. */
export function wholeNumber(
  least: number,
  most: number,
  said = `must be a whole number from ${least} to ${most}`,
) {
  return v.pipe(v.number(said), v.integer(said), v.minValue(least, said), v.maxValue(most, said));
}

/** A duration from `least` milliseconds to a year. */
export function milliseconds(least: number) {
  const said = `must be a length of time from ${least}ms to ${YEAR_DAYS}d, in whole milliseconds`;
  return wholeNumber(least, YEAR_MS, said);
}

const weightSaid = 'must be a weight: a number of 0 or more';
/** A share relative to others; only the proportions matter. */
export const weight = v.pipe(v.number(weightSaid), v.finite(weightSaid), v.minValue(0, weightSaid));

const shareSaid = 'must be a share: a number from 0 to 1';
/** A part of the whole. */
export const share = v.pipe(
  v.number(shareSaid),
  v.minValue(0, shareSaid),
  v.maxValue(1, shareSaid),
);

/** A number above zero. */
export function positiveNumber(most: number) {
  const said = `must be a number above 0, at most ${most}`;
  return v.pipe(v.number(said), v.gtValue(0, said), v.maxValue(most, said));
}

export const filled = v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty'));

export const yesOrNo = v.boolean('must be true or false');

/** One of these words. */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  return v.picklist(words, `must be one of ${words.join(', ')}`);
}

/** A number in a result: zero or more. */
export const number = v.pipe(v.number(), v.finite(), v.minValue(0));

/** A count in a result. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
