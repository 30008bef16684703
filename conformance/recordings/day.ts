/** Days of the calendar in UTC, as text `2026-01-31`: they compare and sort as text. */

const DAY_MS = 86_400_000;

/** Is true of a day that exists. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && exists(text);
}

/** The UTC day of a time in milliseconds since the Unix epoch. */
export function dayOf(momentMs: number): string {
  return new Date(momentMs).toISOString().slice(0, 10);
}

/** Milliseconds since the Unix epoch at which a day begins. */
export function dayStartMs(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/** Whole days from one day to another, below zero when the other is earlier. */
export function daysBetween(from: string, to: string): number {
  return (dayStartMs(to) - dayStartMs(from)) / DAY_MS;
}

function exists(day: string): boolean {
  const startMs = dayStartMs(day);
  return !Number.isNaN(startMs) && dayOf(startMs) === day;
}
