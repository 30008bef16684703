/** Formats values: times, sizes, names of devices. */

const moment = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'medium',
  timeZone: 'UTC',
});
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' });

/** A date and time in UTC; a dash for none. */
export function dayAndTime(iso: string | undefined): string {
  return iso === undefined ? '–' : moment.format(new Date(iso));
}

/** A sentence of the server: its times as the page shows them, without ids behind names. */
export function readable(sentence: string): string {
  return sentence
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, dayAndTime)
    .replace(/ \([0-9a-f]{8}-[0-9a-f-]{27}\)/g, '');
}

/** The time of the day, in UTC. */
export function timeOfDay(iso: string): string {
  return clock.format(new Date(iso));
}

const units = ['B', 'KiB', 'MiB', 'GiB'];

/** A number of bytes in a readable unit. */
export function bytesText(bytes: number): string {
  let left = bytes;
  let unit = 0;
  while (left >= 1024 && unit < units.length - 1) {
    left /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? left : left.toFixed(1)} ${units[unit]}`;
}

/** Any value as text: texts as they are, everything else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** The values of an identity, one after the other, as people call a device. */
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
