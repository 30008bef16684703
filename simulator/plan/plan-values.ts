/**
 * Value schemas of a plan file. Each schema converts a value to that of the plan, and has the
 * message for an invalid value.
 */
import * as v from 'valibot';
import { durationMs, durationPattern } from '../../fixtures/base/duration.ts';

const YEAR_DAYS = 366;
const YEAR_MS = YEAR_DAYS * 86_400_000;

/** Schema of a whole number from `min` to `max` inclusive. */
export function wholeNumber(
  min: number,
  max: number,
  message = `must be a whole number from ${min} to ${max}`,
) {
  return v.pipe(
    v.number(message),
    v.integer(message),
    v.minValue(min, message),
    v.maxValue(max, message),
  );
}

/** Schema of a duration from `min` milliseconds to a year. */
function milliseconds(min: number) {
  const message = `must be a duration from ${min}ms to ${YEAR_DAYS}d, in whole milliseconds`;
  return wholeNumber(min, YEAR_MS, message);
}

const durationSaid =
  'must be a duration such as 500ms, 30s or 5m (a number without a unit is in seconds)';
/**
 * Schema of a duration from `min` milliseconds to a year: a string such as `5s`, or a number of
 * seconds. The result is in milliseconds.
 */
export function duration(min: number) {
  return v.pipe(
    v.union(
      [
        v.pipe(v.number(), v.minValue(0, durationSaid)),
        v.pipe(v.string(), v.regex(durationPattern, durationSaid)),
      ],
      durationSaid,
    ),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const length = durationMs(String(dataset.value));
      if (length !== undefined) return length;
      addIssue({ message: durationSaid });
      return NEVER;
    }),
    milliseconds(min),
  );
}

const networkDurationProblem = 'must be a duration with its unit, such as 300ms or 1.5s';
/**
 * Schema of a network delay. It requires a unit, because a bare number could mean milliseconds or
 * seconds.
 */
export const networkDuration = v.pipe(
  v.string(networkDurationProblem),
  v.check((text) => /[a-z]$/.test(text) && durationMs(text) !== undefined, networkDurationProblem),
  v.transform((text) => durationMs(text) ?? 0),
  milliseconds(0),
);

const rateSaid = 'must be a rate per second, such as 20/s or 0.5';
/** Schema of a rate per second above 0 and at most `max`, such as `20/s` or `0.5`. */
export function rate(max: number) {
  const message = `must be a number above 0, at most ${max}`;
  return v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.regex(/^\d+(\.\d+)?(\/s)?$/, rateSaid))], rateSaid),
    v.transform((value) => Number(String(value).replace('/s', ''))),
    v.gtValue(0, message),
    v.maxValue(max, message),
  );
}

const checkShareSaid = 'must be a share of the devices above 0, such as 1% or 0.01';
/** Schema of a share of the devices, above 0 and at most 1, such as `1%` or `0.01`. */
export const checkShare = v.pipe(
  v.union(
    [v.number(), v.pipe(v.string(), v.regex(/^\d+(\.\d+)?%?$/, checkShareSaid))],
    checkShareSaid,
  ),
  v.transform((value) => {
    const number = Number(String(value).replace('%', ''));
    return String(value).endsWith('%') ? number / 100 : number;
  }),
  v.gtValue(0, checkShareSaid),
  v.maxValue(1, checkShareSaid),
);

const weightSaid = 'must be a weight: a number of 0 or more';
/** Schema of a relative weight; only the proportions between weights matter. */
export const weight = v.pipe(v.number(weightSaid), v.finite(weightSaid), v.minValue(0, weightSaid));

const shareSaid = 'must be a share: a number from 0 to 1';
/** Schema of a share from 0 to 1. */
export const share = v.pipe(
  v.number(shareSaid),
  v.minValue(0, shareSaid),
  v.maxValue(1, shareSaid),
);

export const nonEmptyText = v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty'));

export const yesOrNo = v.boolean('must be true or false');

export function oneOf<const Word extends string>(values: readonly Word[]) {
  return v.picklist(values, `must be one of ${values.join(', ')}`);
}

/** Schema of a number of 0 or more in a result. */
export const number = v.pipe(v.number(), v.finite(), v.minValue(0));

/** Schema of a count in a result. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** Removes undefined members, because a plan leaves absent values out. */
export function withoutUndefined<Members extends object>(members: Members): Partial<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Members>;
}
