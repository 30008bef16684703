/**
 * Value schemas of a plan file, each with its conversion to the plan and the sentence that rejects a
 * wrong value.
 */
import * as v from 'valibot';
import { durationMs, durationPattern } from '../../fixtures/duration.ts';

const YEAR_DAYS = 366;
const YEAR_MS = YEAR_DAYS * 86_400_000;

/** A whole number from `min` to `max`, both included. */
export function wholeNumber(
  min: number,
  max: number,
  said = `must be a whole number from ${min} to ${max}`,
) {
  return v.pipe(v.number(said), v.integer(said), v.minValue(min, said), v.maxValue(max, said));
}

/** A duration from `min` milliseconds to a year. */
function milliseconds(min: number) {
  const said = `must be a duration from ${min}ms to ${YEAR_DAYS}d, in whole milliseconds`;
  return wholeNumber(min, YEAR_MS, said);
}

const durationSaid =
  'must be a duration such as 500ms, 30s or 5m (a number without a unit is in seconds)';
/** A text such as `5s`, or a number of seconds, from `min` milliseconds to a year; read as milliseconds. */
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

const linkDurationSaid = 'must be a duration with its unit, such as 300ms or 1.5s';
/** For a network, milliseconds are as common as seconds: a bare number would be ambiguous. */
export const linkDuration = v.pipe(
  v.string(linkDurationSaid),
  v.check((text) => /[a-z]$/.test(text) && durationMs(text) !== undefined, linkDurationSaid),
  v.transform((text) => durationMs(text) ?? 0),
  milliseconds(0),
);

const rateSaid = 'must be a rate per second, such as 20/s or 0.5';
/** A rate per second above 0 and at most `max`, such as `20/s` or `0.5`. */
export function rate(max: number) {
  const said = `must be a number above 0, at most ${max}`;
  return v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.regex(/^\d+(\.\d+)?(\/s)?$/, rateSaid))], rateSaid),
    v.transform((value) => Number(String(value).replace('/s', ''))),
    v.gtValue(0, said),
    v.maxValue(max, said),
  );
}

const checkShareSaid = 'must be a share of the devices above 0, such as 1% or 0.01';
/** A share of the devices. */
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
/** A share relative to others; only the proportions matter. */
export const weight = v.pipe(v.number(weightSaid), v.finite(weightSaid), v.minValue(0, weightSaid));

const shareSaid = 'must be a share: a number from 0 to 1';
/** A part of the whole. */
export const share = v.pipe(
  v.number(shareSaid),
  v.minValue(0, shareSaid),
  v.maxValue(1, shareSaid),
);

export const filled = v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty'));

export const yesOrNo = v.boolean('must be true or false');

export function oneOf<const Word extends string>(words: readonly Word[]) {
  return v.picklist(words, `must be one of ${words.join(', ')}`);
}

/** A number in a result: zero or more. */
export const number = v.pipe(v.number(), v.finite(), v.minValue(0));

/** A count in a result. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** Removes undefined members: a plan distinguishes absent from undefined. */
export function given<Members extends object>(members: Members): Partial<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Members>;
}
