import { describe, expect, it } from 'vitest';
import { dayStartMs } from './day.ts';
import { scheduleIcal } from './ical.ts';
import { rowName, scheduleOn } from './schedule.ts';

const stampMs = Date.UTC(2026, 9, 18, 7, 8, 9);
const schedule = scheduleOn('2026-10-18');
const document = scheduleIcal(schedule, stampMs);

/** A component of RFC 5545, section 3.6, with its properties and inner components in order. */
interface Component {
  readonly name: string;
  readonly properties: { name: string; parameters: string; value: string }[];
  readonly components: Component[];
}

/** Parses a document strictly by RFC 5545, sections 3.1 and 3.4; throws at a violation. */
function parseCalendar(text: string): Component {
  if (!text.endsWith('\r\n')) throw new Error('the text does not end with a line end');
  const physical = text.slice(0, -2).split('\r\n');
  for (const line of physical) {
    if (Buffer.byteLength(line) > 75) throw new Error(`more than 75 octets: ${line}`);
    if (/[\r\n]/.test(line)) throw new Error(`a bare line break: ${line}`);
  }
  const root: Component = { name: '', properties: [], components: [] };
  const open = [root];
  for (const line of physical
    .join('\r\n')
    .replace(/\r\n[ \t]/g, '')
    .split('\r\n')) {
    const [, name = '', parameters = '', value = ''] =
      /^([A-Z-]+)((?:;[A-Z-]+=[^;:",]+)*):(.*)$/.exec(line) ?? [];
    const inner = open.at(-1);
    if (name === '' || !inner) throw new Error(`no content line: ${line}`);
    if (name === 'BEGIN') {
      const begun = { name: value, properties: [], components: [] };
      inner.components.push(begun);
      open.push(begun);
    } else if (name === 'END') {
      if (inner.name !== value) throw new Error(`${value} ends within ${inner.name}`);
      open.pop();
    } else {
      if (inner.components.length > 0) throw new Error(`a property after a component: ${line}`);
      inner.properties.push({ name, parameters, value });
    }
  }
  const [calendar, ...otherCalendars] = root.components;
  if (open.length !== 1 || !calendar || otherCalendars.length > 0)
    throw new Error('not one calendar');
  return calendar;
}

function propertyOf({ properties }: Component, name: string) {
  const found = properties.filter((property) => property.name === name);
  if (found.length !== 1) throw new Error(`${found.length} of ${name}`);
  return { parameters: found[0]?.parameters, value: found[0]?.value ?? '' };
}

/** Returns a text property by RFC 5545, section 3.3.11; throws at an unescaped character. */
function textOf(component: Component, name: string): string {
  const { value } = propertyOf(component, name);
  if (/(?<!\\)(?:\\\\)*[,;]/.test(value) || /\p{Cc}/u.test(value)) throw new Error(value);
  return value.replace(/\\([\\;,nN])/g, (_, each: string) => (/n/i.test(each) ? '\n' : each));
}

const calendar = parseCalendar(document);
const events = calendar.components;

function eventOf(uid: string): Component {
  const found = events.find((event) => propertyOf(event, 'UID').value === uid);
  if (!found) throw new Error(`there is no event ${uid}`);
  return found;
}

describe('the strict iCalendar parser of this test', () => {
  it.each([
    ['a last line without its end', document.trimEnd()],
    ['bare line feeds', document.replaceAll('\r\n', '\n')],
    ['a line that is too long', document.replace('TRANSP:', `X-LONG:${'x'.repeat(80)}\r\nTRANSP:`)],
    ['a component that is not closed', document.replace('END:VEVENT\r\n', '')],
    ['a line that is not a property', document.replace('TRANSP:', 'TRANSP ')],
  ])('refuses a document with %s', (_, text) => {
    expect(() => parseCalendar(text)).toThrow();
  });
});

describe('the iCalendar document', () => {
  it('contains one calendar of version 2.0 with a product and a name', () => {
    expect(calendar.name).toBe('VCALENDAR');
    expect(propertyOf(calendar, 'VERSION').value).toBe('2.0');
    expect(propertyOf(calendar, 'PRODID').value).toBe('-//fleetbed//calendar//EN');
    expect(textOf(calendar, 'X-WR-CALNAME')).toBe('Device API deprecations');
  });

  it('has one event for each day with a change, in order', () => {
    const days = [...new Set(schedule.rows.map(({ deprecatedSince }) => deprecatedSince))].sort();
    expect(events.map(({ name }) => name)).toEqual([...days, 'end'].map(() => 'VEVENT'));
    const starts = events.map((event) => propertyOf(event, 'DTSTART'));
    expect(starts.map(({ value }) => value)).toEqual(
      [...days, '2027-08-25'].map((day) => day.replaceAll('-', '')),
    );
    expect(new Set(starts.map(({ parameters }) => parameters))).toEqual(new Set([';VALUE=DATE']));
  });

  it('marks no time as busy', () => {
    expect(new Set(events.map((event) => propertyOf(event, 'TRANSP').value))).toEqual(
      new Set(['TRANSPARENT']),
    );
  });

  it('uses the given moment as the stamp of every event', () => {
    const stamps = events.map((event) => propertyOf(event, 'DTSTAMP').value);
    expect(new Set(stamps)).toEqual(new Set(['20261018T070809Z']));
  });

  it('depends only on its input, and keeps the event IDs at later times', () => {
    expect(scheduleIcal(scheduleOn('2026-10-18'), stampMs)).toBe(document);
    const laterCalendar = parseCalendar(
      scheduleIcal(scheduleOn('2027-09-01'), dayStartMs('2027-09-01')),
    );
    const uidsOf = ({ components }: Component) =>
      components.map((event) => propertyOf(event, 'UID').value);
    expect(uidsOf(laterCalendar)).toEqual(uidsOf(calendar));
    expect(new Set(uidsOf(calendar)).size).toBe(events.length);
  });

  it('lists what is deprecated on a day, and the replacements', () => {
    const alone = eventOf('deprecated-2025-07-22@fleetbed');
    expect(textOf(alone, 'SUMMARY')).toBe('Deprecated: GET v1 /deployments/artifacts/list');
    const roles = eventOf('deprecated-2022-03-15@fleetbed');
    expect(textOf(roles, 'SUMMARY')).toBe('Deprecated: 5 calls');
    expect(textOf(roles, 'DESCRIPTION').split('\n')).toContain(
      'GET v1 /useradm/roles - GET v2 /useradm/roles, with GET v2 /useradm/permission_sets',
    );
    const fields = eventOf('deprecated-2025-12-03@fleetbed');
    expect(textOf(fields, 'SUMMARY')).toBe('Deprecated: 2 fields');
  });

  it('lists all twenty rows and their replacements in the end-of-life event', () => {
    const end = eventOf('end-of-life@fleetbed');
    expect(propertyOf(end, 'DTSTART').value).toBe('20270825');
    expect(textOf(end, 'SUMMARY')).toBe('End of life: 15 calls and 5 fields stop working');
    expect(textOf(end, 'DESCRIPTION').split('\n')).toEqual(
      schedule.rows.map((row) => `${rowName(row)} - ${row.replacement}`),
    );
  });

  it('has five reminders before the end-of-life day, and none for other events', () => {
    const alarms = eventOf('end-of-life@fleetbed').components;
    expect(alarms.map(({ name }) => name)).toEqual(Array(5).fill('VALARM'));
    expect(alarms.map((alarm) => propertyOf(alarm, 'ACTION').value)).toEqual(
      Array(5).fill('DISPLAY'),
    );
    const triggers = alarms.map((alarm) => propertyOf(alarm, 'TRIGGER'));
    expect(triggers.map(({ value }) => value)).toEqual([
      '-P180D',
      '-P90D',
      '-P30D',
      '-P7D',
      '-P1D',
    ]);
    expect(alarms.map((alarm) => textOf(alarm, 'DESCRIPTION')).at(-1)).toMatch(/^In 1 day: End/);
    expect(events.filter(({ components }) => components.length > 0)).toHaveLength(1);
  });
});
