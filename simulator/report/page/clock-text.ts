/** Formats numbers and times of the run. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats seconds since the start as `m:ss`, `h:mm:ss` or `3d 04:00`. */
export function clockText(seconds: number): string {
  const wholeSeconds = Math.round(seconds);
  const unitText = (unit: number, nextUnit: number): string =>
    String(Math.floor((wholeSeconds % nextUnit) / unit)).padStart(2, '0');
  if (wholeSeconds >= DAY) {
    return `${Math.floor(wholeSeconds / DAY)}d ${unitText(HOUR, DAY)}:${unitText(MINUTE, HOUR)}`;
  }
  if (wholeSeconds >= HOUR) {
    return `${Math.floor(wholeSeconds / HOUR)}:${unitText(MINUTE, HOUR)}:${unitText(1, MINUTE)}`;
  }
  return `${Math.floor(wholeSeconds / MINUTE)}:${unitText(1, MINUTE)}`;
}

const compact = new Intl.NumberFormat('en', {
  notation: 'compact',
  maximumSignificantDigits: 3,
});

/** Formats a value on an axis, short enough for the margin. */
export function shortNumber(value: number): string {
  return compact.format(value);
}

const exact = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 });

/** Formats a value with up to four significant digits. */
export function exactNumber(value: number): string {
  return exact.format(value);
}

/** Possible intervals between the ticks of a time axis, in seconds. */
export const timeSteps: readonly number[] = [
  [1, 2, 5, 10, 15, 30],
  [1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  [1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  [1, 2, 7, 14, 28, 56, 112, 224].map((days) => days * DAY),
].flat();
