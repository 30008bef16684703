/** The command line that repeats a run: the one that was given, with its seed and without its secrets. */
import type { Command } from 'commander';
import { shellWord } from '../../fixtures/formats/shell-word.ts';
import { SecretOption } from './secret-option.ts';

interface Repeated {
  /** Options that come behind the others, with their values. */
  readonly own: readonly string[];
  /** Flags that are left out, as `own` has them or a repetition has no use for them. */
  readonly replaced: readonly string[];
}

/**
 * Returns one line for a shell. What comes from the environment is an option in it, but for secrets,
 * whose variables a comment names.
 * @param words the arguments of the command as they were given
 */
export function repeatLine(
  words: readonly string[],
  command: Command,
  { own, replaced }: Repeated,
): string {
  const secrets = command.options.filter((option) => option instanceof SecretOption);
  const left = new Set([...replaced, ...secrets.map(({ long }) => long ?? '')]);
  const given = [...withoutOptions(words, command, left), ...fromEnvironment(command, left)];
  const line = ['fleetbed', command.name(), ...given, ...own].map(shellWord).join(' ');
  const needed = secrets.filter(
    (option) => sourceOf(command, option.attributeName()) !== undefined,
  );
  if (needed.length === 0) return line;
  return `${line}  # needs ${needed.map(({ envVar }) => envVar).join(', ')}`;
}

function sourceOf(command: Command, name: string): string | undefined {
  return command.getOptionValue(name) === undefined
    ? undefined
    : command.getOptionValueSource(name);
}

function fromEnvironment(command: Command, left: ReadonlySet<string>): string[] {
  return command.options.flatMap((option) => {
    const { long, envVar } = option;
    if (!long || !envVar || left.has(long)) return [];
    if (sourceOf(command, option.attributeName()) !== 'env') return [];
    return [long, process.env[envVar] ?? ''];
  });
}

function withoutOptions(
  words: readonly string[],
  command: Command,
  left: ReadonlySet<string>,
): string[] {
  const kept: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const [flag = ''] = word.split('=');
    if (!left.has(flag)) kept.push(word);
    else if (word === flag && takesValue(command, flag)) at++;
  }
  return kept;
}

function takesValue(command: Command, flag: string): boolean {
  return command.options.find(({ long }) => long === flag)?.required === true;
}
