/** Calendar days in UTC, as text such as `2026-01-31`, which can be compared and sorted as text. */

const DAY_MS = 86_400_000;

/** Returns true if the text is an existing day. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && exists(text);
}

/** Returns the UTC day of a time in milliseconds since the Unix epoch. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Returns the start of a day in milliseconds since the Unix epoch. */
export function dayStartMs(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/** Returns the number of days from one day to another, negative if the other is earlier. */
export function daysBetween(from: string, to: string): number {
  return (dayStartMs(to) - dayStartMs(from)) / DAY_MS;
}

function exists(day: string): boolean {
  const startMs = dayStartMs(day);
  return !Number.isNaN(startMs) && dayOf(startMs) === day;
}
