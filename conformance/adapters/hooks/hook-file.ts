/**
 * The file that assigns a command to each step, in YAML or JSON:
 *
 *     timeLimitSeconds: 20          # default: 30
 *     command: [node, control.mjs]    # for every step not listed in `steps`
 *     steps:                        # default: the command supports every step
 *       accept: [./accept.sh]
 *       deploy:                     # by the command above
 *
 * Commands are lists of arguments and run without a shell, in the folder of the file.
 */
import * as v from 'valibot';
import { readControlFile } from '../control-file.ts';
import { type HookStep, hookStepNames } from './hook-steps.ts';

const TIME_LIMIT_SECONDS = 30;
const TIME_LIMIT_MAX_SECONDS = 600;
const ARGUMENTS_MAX = 100;

/** The commands of the steps. */
export interface HookFile {
  readonly commands: ReadonlyMap<HookStep, readonly string[]>;
  readonly timeLimitMs: number;
  /** Working directory of the commands. */
  readonly folder: string;
}

const command = v.pipe(
  v.array(
    v.string('must be a list of strings'),
    'must be a list of strings: program and arguments',
  ),
  v.minLength(1, 'must name a program'),
  v.maxLength(ARGUMENTS_MAX, `must have at most ${ARGUMENTS_MAX} arguments`),
  v.check(([program]) => program !== '', 'must name a program'),
);
const step = v.picklist(hookStepNames, `must be a step: ${hookStepNames.join(', ')}`);
const fileShape = v.pipe(
  v.strictObject({
    timeLimitSeconds: v.optional(
      v.pipe(
        v.number('must be a number'),
        v.minValue(1, 'must be at least 1'),
        v.maxValue(TIME_LIMIT_MAX_SECONDS, `must be at most ${TIME_LIMIT_MAX_SECONDS}`),
      ),
      TIME_LIMIT_SECONDS,
    ),
    command: v.optional(command),
    steps: v.optional(v.record(step, v.nullable(command))),
  }),
  v.check(
    ({ command: whole, steps }) => whole !== undefined || steps !== undefined,
    'must have a command, or a command for each step',
  ),
  v.check(
    ({ command: whole, steps = {} }) => whole !== undefined || !Object.values(steps).includes(null),
    'has no command, and there is no common command',
  ),
);

/** Parses a file of hooks; the commands run in `folder`. @throws ControlFileError */
export function readHookFile(text: string, folder: string): HookFile {
  const { timeLimitSeconds, command: commonCommand, steps } = readControlFile(text, fileShape);
  const stepCommands = steps ?? Object.fromEntries(hookStepNames.map((name) => [name, null]));
  const commands = Object.entries(stepCommands).map(
    ([name, own]) => [name as HookStep, own ?? commonCommand ?? []] as const,
  );
  return { commands: new Map(commands), timeLimitMs: timeLimitSeconds * 1000, folder };
}
