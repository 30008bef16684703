/** `fleetbed config`: shows the settings of commands, each with its source. */
import type { Command, Option } from 'commander';
import { knownNames } from '../../fixtures/base/nearest.ts';
import {
  applyConfigFile,
  argsFromFile,
  commandPath,
  commonSection,
  configVariable,
  readConfigFile,
} from '../options/config-file.ts';
import { configSchema } from '../options/config-schema.ts';
import type { ConfigFile } from '../options/config-text.ts';
import { addExamples } from '../options/examples.ts';
import { exitCodeHelp } from '../options/exit-code-help.ts';
import { SecretOption } from '../options/secret-option.ts';
import { jsonOption } from '../options/shared-options.ts';
import { didYouMean, loadOptions, subcommandHint } from '../options/subcommands.ts';
import { CommandError } from '../output/command-error.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { createOutput } from '../output/output.ts';

const codes = exitCodeHelp({
  pass: 'done',
  usage: 'there is no such command or option',
  setUp: 'the file cannot be used',
});

const help = `
A file fleetbed.config.yaml or fleetbed.config.json in the current folder has a section for each
command, with its options without dashes. The section common is for all commands:

  common: { url: https://staging.example.com, email: ci@example.com }
  conform: { rate: 20/s, report: { junit: report.xml, html: report.html } }
  conform judge: { header-prefix: X-MEN }

An option on the command line overrides an environment variable, the variable overrides the file, and
the file overrides the default. A secret cannot be in the file. ${configVariable} names another
file; with the value none, no file is read.

The arguments after the command are its command line, as in fleetbed config serve --port 1234. Nothing
runs: its flags are shown with what they override. --json and --quiet are options of config.

JSON is {file?, commands: [{command, settings: [{option, value?, source, variable?}]}]}; a source is
flag, environment, file, default or unset. Without COMMAND, only what is not a default is shown.
${codes}`;

interface ConfigOptions {
  readonly schema?: boolean;
  readonly json?: boolean;
}

/** A setting of a command, and where its value is from. */
interface Setting {
  readonly option: string;
  readonly value?: string;
  readonly source: 'flag' | 'environment' | 'file' | 'default' | 'unset';
  readonly variable?: string;
}

/** A command and its settings. */
interface CommandSettings {
  readonly command: string;
  readonly settings: readonly Setting[];
}

/** Adds the options and the action of `fleetbed config`. */
export function configure(command: Command): void {
  command
    .argument('[command...]', 'command to show, optionally with its options')
    .allowUnknownOption()
    .option('--schema', 'print the JSON Schema of the file, for editors')
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(async (args: readonly string[], options: ConfigOptions) => {
      await showSettings(command, args, options);
    });
  addExamples(
    command,
    'fleetbed config',
    'fleetbed config conform',
    'fleetbed config serve --port 9090 --auto-accept',
    'fleetbed config --schema',
  );
}

async function showSettings(
  config: Command,
  args: readonly string[],
  options: ConfigOptions,
): Promise<void> {
  const [first = ''] = args;
  if (first.startsWith('-')) refuseOption(config, first);
  const commands = await configurable(config.parent ?? config);
  if (options.schema) {
    process.stdout.write(`${JSON.stringify(configSchema(commands), null, 2)}\n`);
    return;
  }
  const invocation = args.length === 0 ? undefined : namedCommand(commands, args);
  const file = await readConfigFile();
  if (file) checkFile(file, commands);
  const flags = invocation
    ? flagsOf(invocation.command, invocation.line)
    : new Map<string, string>();
  const commandSettings = (invocation ? [invocation.command] : commands)
    .map((command) => ({ command: commandPath(command), settings: settingsOf(command, flags) }))
    .map(({ command, settings }) => {
      return { command, settings: invocation ? settings : settings.filter(isChanged) };
    })
    .filter(({ settings }) => settings.length > 0);
  const output = createOutput(options.json ?? false);
  output.data({ ...(file && { file: file.path }), commands: commandSettings });
  if (output.json) return;
  output.line(`file: ${file?.path ?? 'none (fleetbed.config.yaml or .json in this folder)'}`);
  const { shared: sharedSettings, own: ownSettings } = sharedAndOwn(commandSettings);
  for (const { setting, commands: names } of sharedSettings) {
    const heading = `${tableOf([setting]).trim()}  in ${names.length} commands:`;
    output.line(`\n${heading}\n${listOf(names)}`);
  }
  for (const { command, settings } of ownSettings)
    output.line(`\n${command}\n${tableOf(settings)}`);
}

/** Returns the commands that have options of their own, each with its options loaded. */
async function configurable(program: Command): Promise<Command[]> {
  const configurableCommands: Command[] = [];
  for (const command of program.createHelp().visibleCommands(program)) {
    if (['help', 'config', 'completion'].includes(command.name())) continue;
    await loadOptions(command);
    if (command.options.length > 0) configurableCommands.push(command);
    configurableCommands.push(...(await configurable(command)));
  }
  return configurableCommands;
}

/**
 * Returns the command that the first arguments name, and the arguments that follow. @throws
 * CommandError
 */
function namedCommand(commands: readonly Command[], args: readonly string[]) {
  const first = args.findIndex((word) => word.startsWith('-'));
  const names = first < 0 ? args : args.slice(0, first);
  const longestMatch = commands
    .map((command) => ({ command, name: commandPath(command) }))
    .filter(({ name }) => `${names.join(' ')} `.startsWith(`${name} `))
    .toSorted((one, other) => other.name.length - one.name.length)
    .at(0);
  const [nextWord] = longestMatch ? names.slice(longestMatch.name.split(' ').length) : [];
  const takesIt = longestMatch?.command.registeredArguments.length !== 0;
  if (
    longestMatch &&
    (nextWord === undefined || (takesIt && !subcommandHint(longestMatch.command, nextWord)))
  ) {
    return {
      command: longestMatch.command,
      line: args.slice(longestMatch.name.split(' ').length),
    };
  }
  const commandName = names.join(' ');
  const hint = knownNames('command', commandName, commands.map(commandPath));
  throw new CommandError(`there is no command "${commandName}"; ${hint}`, exitCodes.usage);
}

/**
 * Parses the command line of a command.
 * @returns the text of each option in it, by the name of its value
 * @throws CommanderError about an option that the command does not have
 */
function flagsOf(command: Command, line: readonly string[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const option of command.options) {
    const name = option.attributeName();
    command.on(`option:${option.name()}`, (text?: string | null) => {
      const earlierText = texts.get(name);
      const value = text ?? String(!option.negate);
      texts.set(
        name,
        earlierText === undefined || text === undefined ? value : `${earlierText} ${value}`,
      );
    });
  }
  const [unknown] = command.parseOptions([...line]).unknown;
  if (unknown !== undefined) refuseOption(command, unknown);
  return texts;
}

/** Ends with the error of commander, which `config` itself must not leave to commander. */
function refuseOption(command: Command, flag: string): never {
  const knownFlags = command.options.flatMap(({ long }) => long ?? []);
  command.error(`error: unknown option '${flag}'${didYouMean(flag, knownFlags)}`);
}

/** Applies every section, so that each error is found. @throws CommandError */
function checkFile(file: ConfigFile, commands: readonly Command[]): void {
  const names = [commonSection, ...commands.map(commandPath)];
  const unknown = file.names.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw file.wrongSection(
      unknown,
      `${unknown}: unknown command; ${knownNames('command', unknown, names)}`,
    );
  }
  for (const command of commands) applyConfigFile(file, command);
}

/** Separates the settings that several commands have in common from those of one command. */
function sharedAndOwn(commandSettings: readonly CommandSettings[]) {
  const users = new Map<string, { setting: Setting; commands: string[] }>();
  for (const { command, settings } of commandSettings) {
    for (const setting of settings) {
      const key = JSON.stringify(setting);
      const entry = users.get(key) ?? { setting, commands: [] };
      entry.commands.push(command);
      users.set(key, entry);
    }
  }
  const isShared = (setting: Setting) => users.get(JSON.stringify(setting))?.commands.length !== 1;
  const ownSettings = commandSettings
    .map(({ command, settings }) => ({
      command,
      settings: settings.filter((each) => !isShared(each)),
    }))
    .filter(({ settings }) => settings.length > 0);
  return {
    shared: [...users.values()].filter(({ setting }) => isShared(setting)),
    own: ownSettings,
  };
}

/** Returns names as an indented list, wrapped at spaces before the 91st column. */
function listOf(names: readonly string[]): string {
  return names
    .join(', ')
    .replaceAll(/.{1,90}(?:,? |$)/g, (line) => `  ${line.trimEnd()}\n`)
    .trimEnd();
}

function isChanged({ source }: Setting): boolean {
  return source === 'environment' || source === 'file';
}

function settingsOf(command: Command, flags: ReadonlyMap<string, string>): Setting[] {
  const visibleOptions = command.options.filter((option) => option.long && !option.hidden);
  // Of a switch with two options, the one that turns it on stands for both.
  const names = new Set(
    visibleOptions.filter(({ negate }) => !negate).map((each) => each.attributeName()),
  );
  return visibleOptions
    .filter((option) => !option.negate || !names.has(option.attributeName()))
    .map((option) => settingOf(command, option, flags.get(option.attributeName())));
}

function settingOf(command: Command, option: Option, flag: string | undefined): Setting {
  const { long, envVar } = option;
  const name = long ?? option.flags;
  const shownValue = (value: string) => (option instanceof SecretOption ? '(not shown)' : value);
  if (flag !== undefined) return { option: name, value: shownValue(flag), source: 'flag' };
  const fromEnvironment = envVar === undefined ? undefined : process.env[envVar];
  if (envVar !== undefined && fromEnvironment !== undefined) {
    return {
      option: name,
      value: shownValue(fromEnvironment),
      source: 'environment',
      variable: envVar,
    };
  }
  const args = argsFromFile(command, option);
  if (args !== undefined) {
    const texts = args.filter((word) => word !== name);
    const value = texts.length > 0 ? texts.join(' ') : String(args.length > 0);
    return { option: name, value, source: 'file' };
  }
  const value = option.defaultValueDescription ?? defaultText(option);
  return value === undefined
    ? { option: name, source: 'unset' }
    : { option: name, value, source: 'default' };
}

function defaultText({ defaultValue }: Option): string | undefined {
  if (defaultValue === undefined) return undefined;
  return typeof defaultValue === 'object' ? JSON.stringify(defaultValue) : String(defaultValue);
}

function tableOf(settings: readonly Setting[]): string {
  const width = (texts: readonly string[]): number => Math.max(...texts.map((text) => text.length));
  const options = width(settings.map(({ option }) => option));
  const values = width(settings.map(({ value = '-' }) => value));
  return settings
    .map(({ option, value = '-', source, variable }) =>
      `  ${option.padEnd(options)}  ${value.padEnd(values)}  ${variable ?? source}`.trimEnd(),
    )
    .join('\n');
}
