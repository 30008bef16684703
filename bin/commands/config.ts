/** `fleetbed config`: shows the settings of commands, each with its source. */
import type { Command, Option } from 'commander';
import { knownNames } from '../../fixtures/nearest.ts';
import {
  applyConfigFile,
  commandWords,
  commonSection,
  configVariable,
  readConfigFile,
  wordsFromFile,
} from '../options/config-file.ts';
import { configSchema } from '../options/config-schema.ts';
import type { ConfigFile } from '../options/config-text.ts';
import { addExamples } from '../options/examples.ts';
import { SecretOption } from '../options/secret-option.ts';
import { loadOptions } from '../options/subcommands.ts';
import { CommandError } from '../output/command-error.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { createOutput } from '../output/output.ts';

const help = `
A file fleetbed.config.yaml or fleetbed.config.json in the current folder has a section for each
command, with its options without dashes. The section common is for all commands:

  common: { url: https://staging.example.com, email: ci@example.com }
  conform: { rate: 20/s, report: { junit: report.xml, html: report.html } }
  conform judge: { header-prefix: X-MEN }

An option on the command line overrides an environment variable, the variable overrides the file, and
the file overrides the default. A secret cannot be in the file. ${configVariable} names another
file; with the value none, no file is read.

JSON is {file?, commands: [{command, settings: [{option, value?, source, variable?}]}]}; a source is
environment, file, default or unset. Without COMMAND, only what is not a default is shown.

Exit codes: 0 done; 2 there is no such command; 3 the file cannot be used.
`;

interface ConfigOptions {
  readonly schema?: boolean;
  readonly json?: boolean;
}

/** A setting of a command, and where its value is from. */
interface Setting {
  readonly option: string;
  readonly value?: string;
  readonly source: 'environment' | 'file' | 'default' | 'unset';
  readonly variable?: string;
}

/** Adds the options and the action of `fleetbed config`. */
export function configure(command: Command): void {
  command
    .argument('[command...]', 'the command to show, such as serve or conform judge')
    .option('--schema', 'print the JSON Schema of the file, for editors')
    .option('--json', 'print one JSON line')
    .addHelpText('after', help)
    .action(async (words: readonly string[], options: ConfigOptions) => {
      await show(command.parent ?? command, words.join(' '), options);
    });
  addExamples(command, 'fleetbed config', 'fleetbed config conform', 'fleetbed config --schema');
}

async function show(program: Command, named: string, options: ConfigOptions): Promise<void> {
  const commands = await configurable(program);
  if (options.schema) {
    process.stdout.write(`${JSON.stringify(configSchema(commands), null, 2)}\n`);
    return;
  }
  const names = commands.map(commandWords);
  if (named !== '' && !names.includes(named)) {
    const sentence = `there is no command "${named}"; ${knownNames('command', named, names)}`;
    throw new CommandError(sentence, exitCodes.usage);
  }
  const file = await readConfigFile();
  if (file) check(file, commands);
  const shown = commands
    .filter((command) => named === '' || commandWords(command) === named)
    .map((command) => ({ command: commandWords(command), settings: settingsOf(command) }))
    .map(({ command, settings }) => {
      return { command, settings: named === '' ? settings.filter(isChanged) : settings };
    })
    .filter(({ settings }) => settings.length > 0);
  const output = createOutput(options.json ?? false);
  output.data({ ...(file && { file: file.path }), commands: shown });
  if (output.json) return;
  output.line(`file: ${file?.path ?? 'none (fleetbed.config.yaml or .json in this folder)'}`);
  for (const { command, settings } of shown) output.line(`\n${command}\n${tableOf(settings)}`);
}

/** Returns the commands that have options of their own, each with its options loaded. */
async function configurable(program: Command): Promise<Command[]> {
  const found: Command[] = [];
  for (const command of program.createHelp().visibleCommands(program)) {
    if (['help', 'config', 'completion'].includes(command.name())) continue;
    await loadOptions(command);
    if (command.options.length > 0) found.push(command);
    found.push(...(await configurable(command)));
  }
  return found;
}

/** Applies every section, so that each mistake is found. @throws CommandError */
function check(file: ConfigFile, commands: readonly Command[]): void {
  const names = [commonSection, ...commands.map(commandWords)];
  const unknown = file.names.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw file.wrongSection(
      unknown,
      `${unknown}: unknown command; ${knownNames('command', unknown, names)}`,
    );
  }
  for (const command of commands) applyConfigFile(file, command);
}

function isChanged({ source }: Setting): boolean {
  return source === 'environment' || source === 'file';
}

function settingsOf(command: Command): Setting[] {
  const shown = command.options.filter((option) => option.long && !option.hidden);
  // Of a switch with two options, the one that turns it on stands for both.
  const names = new Set(shown.filter(({ negate }) => !negate).map((each) => each.attributeName()));
  return shown
    .filter((option) => !option.negate || !names.has(option.attributeName()))
    .map((option) => settingOf(command, option));
}

function settingOf(command: Command, option: Option): Setting {
  const { long, envVar } = option;
  const name = long ?? option.flags;
  const fromEnvironment = envVar === undefined ? undefined : process.env[envVar];
  if (envVar !== undefined && fromEnvironment !== undefined) {
    const value = option instanceof SecretOption ? '(not shown)' : fromEnvironment;
    return { option: name, value, source: 'environment', variable: envVar };
  }
  const words = wordsFromFile(command, option);
  if (words !== undefined) {
    const texts = words.filter((word) => word !== name);
    const value = texts.length > 0 ? texts.join(' ') : String(words.length > 0);
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
