/** `fleetbed clock`: the time of a running server. */
import { type Command, InvalidArgumentError } from 'commander';
import { controlPaths } from '../../fixtures/control/control-listener.ts';
import { addExamples } from '../options/examples.ts';
import { exitCodeHelp, unreachableText } from '../options/exit-code-help.ts';
import * as values from '../options/option-values.ts';
import { jsonOption } from '../options/shared-options.ts';
import { type ExitCode, exitCodes } from '../output/exit-codes.ts';
import { createOutput } from '../output/output.ts';
import {
  addControlOptions,
  type ControlAccess,
  callControlForTenant,
} from '../server-access/control-listener.ts';

const RATE_MAX = 10_000;

interface ClockOptions extends ControlAccess {
  readonly rate?: number;
  readonly until?: number;
  readonly json?: boolean;
}

/** The body sent to the control listener; `reset` undoes all changes of the clock. */
type ClockChange =
  | 'reset'
  | { advanceSeconds?: number; now?: string; until?: string; rate?: number };

const codes = exitCodeHelp({
  pass: 'done',
  failed: 'the server refuses it',
  setUp: unreachableText.controlListener,
});

const help = `
Tokens, links, phases and the deprecation schedule follow this clock.

JSON is {now, mode: "base"|"shifted"|"scaled"|"frozen", offsetSeconds, rate}.
${codes}`;

/** Adds the options and the action of `fleetbed clock`. */
export function configure(command: Command): void {
  addControlOptions(command)
    .argument('[change]', '+DURATION, a date or time, freeze, resume or reset', parseChange)
    .option(
      '--until <time>',
      'advance to this time; refused when it is in the past',
      values.parseTime,
    )
    .option('--rate <factor>', 'run this many times as fast as real time; 0 freezes it', rate)
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(async (moment: ClockChange | undefined, options: ClockOptions) => {
      const { until, rate: factor } = options;
      if (moment !== undefined && (until !== undefined || moment === 'reset') && isGiven(options)) {
        command.error('a change cannot be used with --until, nor reset with --rate');
      }
      const moved = {
        ...(typeof moment === 'object' && moment),
        ...(until !== undefined && { until: new Date(until).toISOString() }),
        ...(factor !== undefined && { rate: factor }),
      };
      process.exitCode = await changeClock(moment === 'reset' ? moment : moved, options);
    });
  addExamples(
    command,
    'fleetbed clock',
    'fleetbed clock +7d',
    'fleetbed clock 2027-08-25 --rate 0',
    'fleetbed clock reset',
  );
}

function isGiven({ until, rate: factor }: ClockOptions): boolean {
  return until !== undefined || factor !== undefined;
}

async function changeClock(wanted: ClockChange, options: ClockOptions): Promise<ExitCode> {
  const { json = false } = options;
  const isQuestion = wanted !== 'reset' && Object.keys(wanted).length === 0;
  const { body } = await callControlForTenant(options, controlPaths.clock, {
    method: wanted === 'reset' ? 'DELETE' : isQuestion ? 'GET' : 'POST',
    ...(wanted !== 'reset' && !isQuestion && { json: wanted }),
  });
  const clockState = (await body.json()) as ShownClock;
  const output = createOutput(json);
  output.data(clockState);
  if (!json) output.line(`${clockState.now}  ${pace(clockState)}`);
  return exitCodes.pass;
}

interface ShownClock {
  readonly now: string;
  readonly mode: 'base' | 'shifted' | 'scaled' | 'frozen';
  readonly offsetSeconds: number;
  readonly rate: number;
}

const SECONDS_PER_DAY = 86_400;

function pace({ mode, rate: factor, offsetSeconds }: ShownClock): string {
  if (mode === 'base') return "the server's own time, unchanged";
  const days = Math.round((Math.abs(offsetSeconds) / SECONDS_PER_DAY) * 100) / 100;
  const offset = `${days} days ${offsetSeconds < 0 ? 'behind' : 'ahead'}`;
  if (mode === 'frozen') return `frozen, ${offset}`;
  return mode === 'scaled' ? `${factor} times as fast, ${offset}` : offset;
}

function parseChange(text: string): ClockChange {
  if (text === 'freeze') return { rate: 0 };
  if (text === 'resume') return { rate: 1 };
  if (text === 'reset') return text;
  if (text.startsWith('+')) return { advanceSeconds: values.durationMs(text.slice(1)) / 1000 };
  try {
    return { now: new Date(values.parseTime(text)).toISOString() };
  } catch {
    throw new InvalidArgumentError(
      'Accepted: +DURATION such as +7d, a date such as 2027-08-25, a time such as 2027-08-25T08:00:00Z, freeze, resume or reset.',
    );
  }
}

function rate(text: string): number {
  const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value <= RATE_MAX) return value;
  throw new InvalidArgumentError(`Accepted: a number from 0 (stopped) to ${RATE_MAX}.`);
}
