/**
 * Builds the command line that repeats a run: the original one, with the seed and without secrets.
 */
import type { Command } from 'commander';
import { shellWord } from '../../fixtures/formats/shell-word.ts';
import { argsFromFile } from './config-file.ts';
import { SecretOption } from './secret-option.ts';

interface RepeatedOptions {
  /** Options of the repetition with their values; they are appended to the others. */
  readonly ownArguments: readonly string[];
  /**
   * Flags to leave out, because `own` contains them or because they are useless in a repetition.
   */
  readonly replaced: readonly string[];
}

/**
 * Returns one line for a shell. Values from environment variables and from the configuration file
 * become options, except secrets, whose variables are named in a comment.
 * @param args the arguments of the command as they were typed
 */
export function repeatLine(
  args: readonly string[],
  command: Command,
  { ownArguments, replaced }: RepeatedOptions,
): string {
  const secrets = command.options.filter((option) => option instanceof SecretOption);
  const omittedFlags = new Set([...replaced, ...secrets.map(({ long }) => long ?? '')]);
  const repeatedArguments = [
    ...withoutOptions(args, command, omittedFlags),
    ...argsFromElsewhere(command, omittedFlags),
  ];
  const line = ['npx', 'fleetbed', command.name(), ...repeatedArguments, ...ownArguments]
    .map(shellWord)
    .join(' ');
  const neededSecrets = secrets.filter(
    (option) => sourceOf(command, option.attributeName()) !== undefined,
  );
  if (neededSecrets.length === 0) return line;
  return `${line}  # needs ${neededSecrets.map(({ envVar }) => envVar).join(', ')}`;
}

function sourceOf(command: Command, name: string): string | undefined {
  return command.getOptionValue(name) === undefined
    ? undefined
    : command.getOptionValueSource(name);
}

function argsFromElsewhere(command: Command, omittedFlags: ReadonlySet<string>): string[] {
  return command.options.flatMap((option) => {
    const { long, envVar } = option;
    if (!long || omittedFlags.has(long)) return [];
    const fromFile = argsFromFile(command, option);
    if (fromFile) return fromFile[0] === long ? fromFile : [];
    if (!envVar || sourceOf(command, option.attributeName()) !== 'env') return [];
    return [long, process.env[envVar] ?? ''];
  });
}

function withoutOptions(
  args: readonly string[],
  command: Command,
  omittedFlags: ReadonlySet<string>,
): string[] {
  const remainingArguments: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    const [flag = ''] = word.split('=');
    if (!omittedFlags.has(flag)) remainingArguments.push(word);
    else if (word === flag && takesValue(command, flag)) at++;
  }
  return remainingArguments;
}

function takesValue(command: Command, flag: string): boolean {
  return command.options.find(({ long }) => long === flag)?.required === true;
}
