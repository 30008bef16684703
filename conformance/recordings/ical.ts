/**
 * Formats the schedule as iCalendar (RFC 5545): one all-day event for each day on which a
 * deprecation starts, and one with reminders for the end of life. Each lists the replacements.
 */
import ical, { ICalAlarmType, type ICalCalendar, ICalEventTransparency } from 'ical-generator';
import { dayStartMs } from './day.ts';
import { rowName, type Schedule, type ScheduleRow } from './schedule.ts';

const DAY_SECONDS = 86_400;
/** Days before the end of life on which a reminder is shown; 180 days allow for a release. */
const REMINDER_DAYS = [180, 90, 30, 7, 1];

/**
 * Returns the document with CRLF line ends. Equal inputs give equal text. The UID of an event never
 * changes, so importing a newer file updates events instead of duplicating them.
 * @param stampMs creation time of the document, in milliseconds since the Unix epoch
 */
export function scheduleIcal({ endOfLife, rows }: Schedule, stampMs: number): string {
  const calendar = ical({
    name: 'Device API deprecations',
    description: 'When calls and fields of the API are deprecated and when they stop working.',
    prodId: { company: 'fleetbed', product: 'calendar', language: 'EN' },
    ttl: DAY_SECONDS,
  });
  const stamp = new Date(stampMs);
  for (const day of [...new Set(rows.map((row) => row.deprecatedSince))].toSorted()) {
    addAnnouncement(calendar, { day, stamp, rows });
  }
  addEndOfLife(calendar, { day: endOfLife, stamp, rows });
  // RFC 5545 requires a line end after the last line, which the package omits.
  return `${calendar.toString().trimEnd()}\r\n`;
}

interface CalendarEntry {
  readonly day: string;
  readonly stamp: Date;
  readonly rows: readonly ScheduleRow[];
}

function addAnnouncement(calendar: ICalCalendar, { day, stamp, rows }: CalendarEntry): void {
  const deprecatedRows = rows.filter((row) => row.deprecatedSince === day);
  const [firstRow] = deprecatedRows;
  const summary =
    deprecatedRows.length === 1 && firstRow ? rowName(firstRow) : countsOf(deprecatedRows);
  calendar.createEvent({
    ...allDay(day, stamp),
    id: `deprecated-${day}@fleetbed`,
    summary: `Deprecated: ${summary}`,
    description: deprecatedRows.map(adviceOf).join('\n'),
  });
}

function addEndOfLife(calendar: ICalCalendar, { day, stamp, rows }: CalendarEntry): void {
  const summary = `End of life: ${countsOf(rows)} stop working`;
  calendar.createEvent({
    ...allDay(day, stamp),
    // The UID has no day, so that the event moves if the schedule changes.
    id: 'end-of-life@fleetbed',
    summary,
    description: rows.map(adviceOf).join('\n'),
    alarms: REMINDER_DAYS.map((days) => ({
      type: ICalAlarmType.display,
      trigger: days * DAY_SECONDS,
      description: `In ${days} ${days === 1 ? 'day' : 'days'}: ${summary}`,
    })),
  });
}

/** Returns the properties of an all-day event that does not mark the calendar's owner as busy. */
function allDay(day: string, stamp: Date) {
  const start = new Date(dayStartMs(day));
  return { start, allDay: true, stamp, transparency: ICalEventTransparency.TRANSPARENT };
}

function adviceOf(row: ScheduleRow): string {
  return `${rowName(row)} - ${row.replacement}`;
}

function countsOf(rows: readonly ScheduleRow[]): string {
  const calls = rows.filter(({ kind }) => kind === 'call').length;
  const fields = rows.length - calls;
  return [
    ...(calls > 0 ? [`${calls} ${calls === 1 ? 'call' : 'calls'}`] : []),
    ...(fields > 0 ? [`${fields} ${fields === 1 ? 'field' : 'fields'}`] : []),
  ].join(' and ');
}
