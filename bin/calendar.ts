/** `fleetbed calendar`: the deprecation schedule, and what recorded traffic uses of it. */

import { type Command, Option } from 'commander';
import { systemClock } from '../fixtures/clock.ts';
import { printableJson } from '../fixtures/printable.ts';
import { day, dayOf, dayStartMs } from './calendar/day.ts';
import { type Traffic, TrafficCount, type TrafficOutcome } from './calendar/findings.ts';
import { scheduleIcal } from './calendar/ical.ts';
import { openRecording } from './calendar/open-recording.ts';
import { type Schedule, scheduleOn } from './calendar/schedule.ts';
import { scheduleText, trafficSentence, trafficText } from './calendar/text.ts';
import { addExamples } from './examples.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { requireWritable, writeWhole } from './files.ts';
import * as values from './option-values.ts';
import { createOutput } from './output.ts';

const forms = ['table', 'json', 'ical'] as const;

interface CalendarPlan {
  readonly format: (typeof forms)[number];
  /** `YYYY-MM-DD`; the machine's own day when left out. */
  readonly on?: string;
  /** Standard output when left out. */
  readonly out?: string;
}

interface CalendarOptions extends CalendarPlan {
  readonly json?: boolean;
}

/** A call or a sent field fails a build; answers alone, or no call at all, decide nothing. */
const exitCodeOf: Readonly<Record<TrafficOutcome, ExitCode>> = {
  uses: exitCodes.failed,
  reads: exitCodes.undecided,
  nothing: exitCodes.undecided,
  clear: exitCodes.pass,
};

const help = `
Recordings are HAR 1.2 files, or journals: NDJSON with one exchange a line,
  {"at": "2026-01-31T12:00:00Z", "method": "GET", "url": "https://...", "status": 200}
where "path" may stand in place of "url", and requestBody and responseBody may follow:
JSON as it is, a form as an object of its text fields, anything else as a text.

JSON without recordings is {on, endOfLife, rows: [row]}, with recordings
  {on, endOfLife, outcome, recordings: [{file, form, exchanges, calls}], unseen, findings: [row]}
where a row is {kind: "call"|"field", method, path, versions, deprecatedSince, endOfLife,
state: "not-yet-deprecated"|"deprecated"|"retired", daysLeft, replacement}, of a call also
{successor: {method, version, path}}, of a field also {field, place: "form"|"body"|"answer",
alsoAt?: [path]}, and of a finding also {exchanges, refused (with 410), firstSeen, lastSeen}.

Exit codes with recordings, by outcome:
  0  clear: calls of this API, and none of them uses the schedule
  1  uses: a call or a field of a request stops working, or has stopped
  4  reads: only fields of answers, and no recording shows whether the client reads them
     nothing: there is no call of this API in the traffic
  3  a recording cannot be read
`;

/** Adds the options of `fleetbed calendar` and what it does. */
export function configure(command: Command): void {
  command
    .argument('[recording...]', 'HAR files or journals to search')
    .addOption(
      new Option('--format <form>', 'output format; ical only without recordings')
        .choices(forms)
        .default('table'),
    )
    .addOption(new Option('--json', 'print JSON, as --format json').conflicts('format'))
    .option('--out <file>', 'write to this file (default: standard output)', values.filled)
    .option('--on <date>', 'reference day, YYYY-MM-DD in UTC (default: today)', day)
    .addHelpText('after', help)
    .action(async (recordings: readonly string[], options: CalendarOptions) => {
      const plan: CalendarPlan = options.json ? { ...options, format: 'json' } : options;
      if (plan.format === 'ical' && recordings.length > 0) {
        command.error(
          "error: option '--format ical' shows the schedule alone; leave the recordings out, or choose table or json",
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
    await deliver(scheduleAs(schedule, plan, nowMs), plan);
    return exitCodes.pass;
  }
  const traffic = await trafficIn(files, schedule);
  const isJson = plan.format === 'json';
  await deliver(
    isJson ? `${printableJson(JSON.stringify(traffic))}\n` : `${trafficText(traffic)}\n`,
    plan,
  );
  if (isJson || plan.out !== undefined) createOutput(true).progress(trafficSentence(traffic));
  return exitCodeOf[traffic.outcome];
}

async function trafficIn(files: readonly string[], schedule: Schedule): Promise<Traffic> {
  const count = new TrafficCount(schedule);
  for (const file of files) {
    const { form, exchanges } = await openRecording(file);
    await count.add(file, form, exchanges);
  }
  return count.traffic();
}

function scheduleAs(schedule: Schedule, { format }: CalendarPlan, nowMs: number): string {
  if (format === 'ical') return scheduleIcal(schedule, nowMs);
  return format === 'json' ? `${JSON.stringify(schedule)}\n` : `${scheduleText(schedule)}\n`;
}

/** The text holds nothing of a recording but names of the schedule, and so needs no cleaning. */
async function deliver(text: string, { out }: CalendarPlan): Promise<void> {
  if (out === undefined) process.stdout.write(text);
  else await writeWhole(out, text);
}
