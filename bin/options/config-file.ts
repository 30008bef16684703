/**
 * The configuration file in the current folder: `fleetbed.config.yaml` or `fleetbed.config.json`. It
 * has a section for each command, named by the path of the command, with the command's options without
 * dashes; the section `common` is for all commands. Options and environment variables override it.
 */
import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError, type Option } from 'commander';
import { knownNames } from '../../fixtures/base/nearest.ts';
import { CommandError } from '../output/command-error.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { readNamedFile } from '../output/files.ts';
import type { ConfigFile, Entry } from './config-text.ts';
import { SecretOption } from './secret-option.ts';

/** The environment variable that names another file; with the value `none`, no file is read. */
export const configVariable = 'FLEETBED_CONFIG';
const fileNames = ['fleetbed.config.yaml', 'fleetbed.config.yml', 'fleetbed.config.json'] as const;

/** The section whose values apply to every command that has the option. */
export const commonSection = 'common';
/** The options that the section for all commands can hold. */
export const commonOptions: readonly string[] = [
  'url',
  'email',
  'control-url',
  'tenant',
  'ca',
  'header-prefix',
  'quiet',
];

/** The arguments that would set the same values on the command line, by command and option. */
const argumentsByCommand = new WeakMap<Command, Map<string, readonly string[]>>();

/** Returns the arguments that would set an option as the file does; undefined if the file does not. */
export function argsFromFile(command: Command, option: Option): readonly string[] | undefined {
  const name = option.attributeName();
  if (command.getOptionValueSource(name) !== 'config') return undefined;
  return argumentsByCommand.get(command)?.get(name);
}

/** Returns the path of a command without that of the program, such as `conform judge`. */
export function commandPath(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${commandPath(parent)} ${command.name()}` : command.name();
}

/**
 * Reads the file that the environment names, or else that of the current folder.
 * @returns undefined when there is none
 * @throws CommandError
 */
export async function readConfigFile(
  environment: NodeJS.ProcessEnv = process.env,
): Promise<ConfigFile | undefined> {
  const fileName = environment[configVariable];
  if (fileName === 'none') return undefined;
  const candidates =
    fileName === undefined ? fileNames.filter((name) => existsSync(name)) : [fileName];
  const [path] = candidates;
  if (path === undefined) return undefined;
  if (candidates.length > 1) {
    const sentence = `${candidates.join(' and ')} are both in this folder; keep one of them.`;
    throw new CommandError(sentence, exitCodes.setUp);
  }
  const text = await readNamedFile(fileName === undefined ? 'fleetbed' : configVariable, path);
  // Most runs have no such file, and the reader of YAML loads slowly.
  const { parseConfig } = await import('./config-text.ts');
  return parseConfig(path, text);
}

/**
 * Sets the options of a command from its section and from the section for all commands. Parsing
 * the command line and the environment later overrides them.
 * @throws CommandError about an unknown option, a secret, or a value that the option refuses
 */
export function applyConfigFile(file: ConfigFile, command: Command): void {
  const section = file.section(commandPath(command));
  const isOwn = new Set(section.map(({ name }) => name));
  for (const entry of file.section(commonSection)) {
    if (!commonOptions.includes(entry.name)) {
      throw entry.wrong(
        `not an option for all commands; ${knownNames('option', entry.name, commonOptions)}`,
      );
    }
    const option = optionNamed(command, entry.name);
    // Where the environment does not name the server, a file of an earlier run does.
    const isFromRun = entry.name === 'url' && option?.envVar === undefined;
    if (option !== undefined && !isFromRun && !isOwn.has(entry.name))
      setOption(command, option, entry);
  }
  for (const entry of section) {
    const option = optionNamed(command, entry.name);
    if (option === undefined) {
      throw entry.wrong(
        `unknown option; ${knownNames('option', entry.name, optionNames(command))}`,
      );
    }
    setOption(command, option, entry);
  }
}

/** Returns the names of the options that a section of a command can hold. */
function optionNames(command: Command): string[] {
  return settable(command).map(({ long = '' }) => (long ?? '').slice(2));
}

/** Returns the options of a command that the file can set. */
export function settable(command: Command): readonly Option[] {
  return command.options.filter((option) => option.long && !option.hidden && !isSecret(option));
}

function isSecret(option: Option): option is SecretOption {
  return option instanceof SecretOption;
}

function optionNamed(command: Command, name: string): Option | undefined {
  return command.options.find(({ long }) => long === `--${name}`);
}

function setOption(command: Command, option: Option, { value, wrong }: Entry): void {
  if (isSecret(option)) {
    throw wrong(`a secret does not belong in this file; set ${option.envVar} in its place`);
  }
  if (typeof value === 'boolean') setSwitch(command, option, value, wrong);
  else setTexts(command, option, value, wrong);
}

function setSwitch(command: Command, option: Option, isSet: boolean, wrong: Entry['wrong']): void {
  if (option.required) throw wrong(`must be a value for ${option.flags}`);
  const name = option.attributeName();
  const isOn = isSet !== option.negate;
  const [sameOption] = command.options.filter(
    (each) => each.attributeName() === name && each.negate !== isOn,
  );
  command.setOptionValueWithSource(name, isOn, 'config');
  noteArguments(command, name, sameOption?.long ? [sameOption.long] : []);
}

function setTexts(
  command: Command,
  option: Option,
  texts: readonly string[],
  wrong: Entry['wrong'],
): void {
  if (!option.required && !option.optional) throw wrong('must be true or false');
  let value: unknown;
  for (const text of texts) {
    try {
      if (option.parseArg) value = option.parseArg<unknown>(text, value);
      else value = option.variadic && Array.isArray(value) ? [...value, text] : text;
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw wrong(`${text} is not accepted. ${error.message}`);
    }
  }
  const name = option.attributeName();
  command.setOptionValueWithSource(name, value, 'config');
  replaceOnCommandLine(option, value);
  noteArguments(
    command,
    name,
    texts.flatMap((text) => [option.long ?? '', text]),
  );
}

/** Makes the first use of a repeatable option on the command line replace the file's values. */
function replaceOnCommandLine(option: Option, fromFile: unknown): void {
  const { parseArg } = option;
  if (parseArg === undefined) return;
  option.argParser<unknown>((text, previous) =>
    parseArg<unknown>(text, previous === fromFile ? undefined : previous),
  );
}

function noteArguments(command: Command, name: string, args: readonly string[]): void {
  const all = argumentsByCommand.get(command) ?? new Map<string, readonly string[]>();
  argumentsByCommand.set(command, all.set(name, args));
}
