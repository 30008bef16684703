/** The section of a command's help that lists its exit codes. */
import { Help } from 'commander';
import { exitCodes } from '../output/exit-codes.ts';

const TEXT_WIDTH = 93;

/** The meanings of exit codes for one command, by the names of the codes in `exitCodes`. */
type Meanings = Partial<Readonly<Record<keyof typeof exitCodes, string>>>;

/**
 * Returns the section, a line for each exit code that a command has of its own; every command ends
 * with 2 when its command line is wrong.
 */
export function exitCodeHelp(ownMeanings: Meanings): string {
  const meanings: Meanings = { usage: 'the command line is wrong', ...ownMeanings };
  const rows = Object.entries(exitCodes).flatMap(([name, code]) => {
    const text = meanings[name as keyof typeof exitCodes];
    if (text === undefined) return [];
    const [first, ...more] = new Help().boxWrap(text, TEXT_WIDTH).split('\n');
    return [`  ${String(code).padEnd(3)}  ${first}`, ...more.map((line) => `       ${line}`)];
  });
  return `\nExit codes:\n${rows.map((row) => `${row}\n`).join('')}`;
}

/** The meaning of `setUp` for commands that use the API as a user, or the control listener. */
export const unreachableText = {
  api: 'the server cannot be reached, or refuses the user',
  controlListener: 'the control listener cannot be reached, or refuses the token',
} as const;

/** The meanings of the exit codes for a command that judges a run of a fleet. */
export const fleetCodes = {
  pass: 'every threshold is met, and the reconciliation agrees',
  failed:
    'a threshold is missed, the reconciliation does not agree, or a requirement is violated under load',
  setUp:
    'the server cannot be reached or refuses the user, too few open files or ports, or a file is unusable',
  inconclusive:
    'no device got a response or was updated, or a threshold or the reconciliation could not be decided',
  generatorLimited: 'this machine was the limit: the figures are not valid',
  notAccepted: 'no device was accepted',
  incomplete: 'a shard of the fleet was lost',
  interrupted: 'Ctrl-C before the end',
} as const satisfies Meanings;
