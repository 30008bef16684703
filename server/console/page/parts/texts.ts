/** Formats values for the page: times, sizes, device names. */

const dateTimeFormat = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'medium',
  timeZone: 'UTC',
});
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' });

/** Returns a date and time in UTC, or a dash for undefined. */
export function dayAndTime(iso: string | undefined): string {
  return iso === undefined ? '–' : dateTimeFormat.format(new Date(iso));
}

/**
 * Returns a sentence from the server with times in the format of the page, and without the IDs that
 * follow names.
 */
export function readable(sentence: string): string {
  return sentence
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, dayAndTime)
    .replace(/ \([0-9a-f]{8}-[0-9a-f-]{27}\)/g, '');
}

/** Returns the time of day in UTC. */
export function timeOfDay(iso: string): string {
  return clock.format(new Date(iso));
}

const units = ['B', 'KiB', 'MiB', 'GiB'];

/** Returns a number of bytes in a readable unit. */
export function bytesText(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}

/** Returns a string unchanged and any other value as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Returns the values of an identity, joined, as the name of the device. */
export function deviceName(identity: string | undefined): string {
  if (identity === undefined) return '';
  try {
    const members: unknown = JSON.parse(identity);
    if (typeof members !== 'object' || members === null) return identity;
    return Object.values(members).map(valueText).join(' · ') || identity;
  } catch {
    return identity;
  }
}
