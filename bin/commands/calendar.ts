/** `fleetbed calendar`: the deprecation schedule, and its use in recorded traffic. */
import type { Command } from 'commander';
import { dayOf, dayStartMs, isDay } from '../../conformance/recordings/day.ts';
import {
  type DeprecatedTraffic,
  TrafficCount,
  type TrafficOutcome,
} from '../../conformance/recordings/findings.ts';
import { scheduleIcal } from '../../conformance/recordings/ical.ts';
import { openRecording } from '../../conformance/recordings/open-recording.ts';
import { RecordingError } from '../../conformance/recordings/recording.ts';
import { type Schedule, scheduleOn } from '../../conformance/recordings/schedule.ts';
import { scheduleText, trafficSentence, trafficText } from '../../conformance/recordings/text.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import { groupRows, type UngroupedRows, type ValuesOf } from '../../fixtures/base/option-row.ts';
import { printableJson } from '../../fixtures/base/printable.ts';
import { addExamples } from '../options/examples.ts';
import { exitCodeHelp } from '../options/exit-code-help.ts';
import { addOptionRows } from '../options/option-rows.ts';
import { CommandError } from '../output/command-error.ts';
import { type ExitCode, exitCodes } from '../output/exit-codes.ts';
import { fileError, isFileProblem, requireWritable, writeWhole } from '../output/files.ts';
import { createOutput } from '../output/output.ts';

const rows = groupRows('Options', {
  format: {
    flag: '--format <format>',
    help: 'output format; ical is for a calendar without recordings',
    cli: { kind: 'choices', values: ['table', 'json', 'ical'] },
    default: { value: 'table' },
  },
  json: {
    flag: '--json',
    help: 'same as --format json',
    cli: { kind: 'switch' },
    conflicts: ['format'],
  },
  out: {
    flag: '--out <file>',
    help: 'write to this file (default: standard output)',
    cli: { kind: 'text' },
  },
  on: {
    flag: '--on <date>',
    help: 'reference day, YYYY-MM-DD in UTC (default: today)',
    cli: {
      kind: 'read',
      read: (text): string | undefined => (isDay(text) ? text : undefined),
      accepted: 'an existing day as YYYY-MM-DD, such as 2027-08-25',
    },
  },
} as const satisfies UngroupedRows);

type CalendarPlan = Omit<ValuesOf<typeof rows>, 'json'>;

/**
 * The exit code of a search in recorded traffic. A deprecated call or a deprecated field in a
 * request fails the build; deprecated fields in responses only, or recordings without API calls,
 * leave the result inconclusive.
 */
const exitCodeOf: Readonly<Record<TrafficOutcome, ExitCode>> = {
  uses: exitCodes.failed,
  reads: exitCodes.inconclusive,
  nothing: exitCodes.inconclusive,
  clear: exitCodes.pass,
};

const codes = exitCodeHelp({
  pass: 'no recording is given; or clear: the calls of this API use nothing on the schedule',
  failed: 'uses: the traffic has a call or a request field that has stopped working, or will stop',
  setUp: 'a recording cannot be read',
  inconclusive:
    'reads: only response fields are on the schedule, and a recording cannot show whether the client reads them; or nothing: the traffic contains no call of this API',
});

const help = `
Recordings are HAR 1.2 files, or journals: NDJSON with one exchange a line,
  {"at": "2026-01-31T12:00:00Z", "method": "GET", "url": "https://...", "status": 200}
where "path" may replace "url", and requestBody and responseBody are optional:
a JSON value, a form as an object of its text fields, anything else as a string.

JSON without recordings is {on, endOfLife, rows: [row]}, with recordings
  {on, endOfLife, outcome, recordings: [{file, format, exchanges, calls}], unseen, findings: [row]}
where a row is {kind: "call"|"field", method, path, versions, deprecatedSince, endOfLife,
state: "not-yet-deprecated"|"deprecated"|"retired", daysLeft, replacement}, of a call also
{successor: {method, version, path}}, of a field also {field, location: "form"|"body"|"response",
alsoAt?: [path]}, and of a finding also {exchanges, refused (with 410), firstSeen, lastSeen}.
${codes}`;

/** Adds the options and the action of `fleetbed calendar`. */
export function configure(command: Command): void {
  addOptionRows(command.argument('[recording...]', 'HAR files or journals to search'), rows)
    .addHelpText('after', help)
    .action(async (recordings: readonly string[], options: ValuesOf<typeof rows>) => {
      const plan: CalendarPlan = options.json ? { ...options, format: 'json' } : options;
      if (plan.format === 'ical' && recordings.length > 0) {
        command.error(
          "option '--format ical' shows only the schedule; leave out the recordings, or choose table or json",
        );
      }
      process.exitCode = await calendar(recordings, plan);
    });
  addExamples(
    command,
    'fleetbed calendar',
    'fleetbed calendar traffic.har --on 2027-08-25',
    'fleetbed calendar --format ical --out deprecations.ics',
  );
}

async function calendar(files: readonly string[], plan: CalendarPlan): Promise<ExitCode> {
  if (plan.out !== undefined) await requireWritable('--out', plan.out);
  const nowMs = plan.on === undefined ? systemClock.now() : dayStartMs(plan.on);
  const schedule = scheduleOn(dayOf(nowMs));
  if (files.length === 0) {
    await writeCalendar(scheduleAs(schedule, plan, nowMs), plan);
    return exitCodes.pass;
  }
  const traffic = await trafficIn(files, schedule);
  const isJson = plan.format === 'json';
  await writeCalendar(
    isJson ? `${printableJson(JSON.stringify(traffic))}\n` : `${trafficText(traffic)}\n`,
    plan,
  );
  if (isJson || plan.out !== undefined) createOutput(true).progress(trafficSentence(traffic));
  return exitCodeOf[traffic.outcome];
}

async function trafficIn(files: readonly string[], schedule: Schedule): Promise<DeprecatedTraffic> {
  const count = new TrafficCount(schedule);
  for (const file of files) {
    try {
      const { format, exchanges } = await openRecording(file);
      await count.add(file, format, exchanges);
    } catch (error) {
      throw recordingError(file, error);
    }
  }
  return count.traffic();
}

function recordingError(file: string, error: unknown): unknown {
  if (error instanceof RecordingError) {
    return new CommandError(error.message, exitCodes.setUp, error);
  }
  return isFileProblem(error) ? fileError(`cannot read ${file}`, error) : error;
}

function scheduleAs(schedule: Schedule, { format }: CalendarPlan, nowMs: number): string {
  if (format === 'ical') return scheduleIcal(schedule, nowMs);
  return format === 'json' ? `${JSON.stringify(schedule)}\n` : `${scheduleText(schedule)}\n`;
}

/**
 * Prints the text, or writes it to the file of `--out`. The text needs no escaping: of a recording
 * it contains only names from the schedule.
 */
async function writeCalendar(text: string, { out }: CalendarPlan): Promise<void> {
  if (out === undefined) process.stdout.write(text);
  else await writeWhole(out, text);
}
