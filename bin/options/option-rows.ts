/** Converts a table of option rows to options of a command, and the parsed values to settings. */
import { type Command, Option } from 'commander';
import {
  defaultsOf,
  type OptionRow,
  type OptionRows,
  type OptionValue,
  type ValuesOf,
} from '../../fixtures/base/option-row.ts';
import type { ValueRule } from '../../fixtures/base/value-rules.ts';
import * as values from './option-values.ts';
import { SecretOption } from './secret-option.ts';

/** Adds an option for each row, under the help heading of the row. */
export function addOptionRows(command: Command, rows: OptionRows): Command {
  for (const row of Object.values(rows)) addOptionRow(command, row, parserOf(row.cli));
  return command;
}

/** An option row of any kind of value. */
type ShownRow = OptionRow<{
  readonly kind: string;
  readonly off?: string;
  readonly variable?: string;
  readonly rule?: ValueRule;
}>;

/** Parses the text of an option. Switches and plain texts have no parser. */
export type OptionParser = (text: string, previous: never) => unknown;

/** Adds the option of a row, and its `--no-` option if the row has one. */
export function addOptionRow(
  command: Command,
  row: ShownRow,
  parse: OptionParser | undefined,
): void {
  const { cli } = row;
  const option = optionOf(row, parse).helpGroup(`${row.group}:`);
  kinds.set(option, cli);
  command.addOption(option);
  if (cli.off !== undefined) {
    const off = new Option(row.flag.replace('--', '--no-'), cli.off);
    command.addOption(off.helpGroup(`${row.group}:`));
  }
}

/** The kind of value of each option that was made from a row. */
const kinds = new WeakMap<Option, { readonly kind: string }>();

/** Returns the kind of value of an option; undefined for an option that is not from a row. */
export function kindOf(option: Option): OptionValue | undefined {
  return kinds.get(option) as OptionValue | undefined;
}

function optionOf(row: ShownRow, parse: OptionParser | undefined): Option {
  const { flag, help, cli, default: defaultValue, conflicts, variable } = row;
  if (cli.variable !== undefined) return new SecretOption(flag, help, cli.variable, cli.rule);
  const option = new Option(flag, help);
  if (parse) option.argParser((text: string, previous: unknown) => parse(text, previous as never));
  if ('values' in cli && cli.kind === 'choices') option.choices(cli.values as readonly string[]);
  if (defaultValue && !defaultValue.isOmittedFromHelp)
    option.default(defaultValue.value, defaultValue.text);
  if (conflicts) option.conflicts([...conflicts]);
  if (variable !== undefined) option.env(variable);
  return option;
}

/** Returns the parser for a kind of value that several commands share. */
export function parserOf(cli: OptionValue): OptionParser | undefined {
  switch (cli.kind) {
    case 'count':
      return values.count(cli.min, cli.max);
    case 'whole-duration':
      return values.wholeDuration(cli);
    case 'per-second':
      return values.ratePerSecond(cli.max);
    case 'names':
      return values.namesFrom(cli.values);
    case 'report-files':
      return values.reportFiles(cli.formats);
    case 'read':
      return values.ruleParser(cli);
    default:
      return parsers[cli.kind];
  }
}

const parsers: Readonly<Partial<Record<OptionValue['kind'], OptionParser>>> = {
  text: values.nonEmptyText,
  texts: values.appendText,
  duration: values.durationMs,
  'positive-duration': values.positiveDurationMs,
  moment: values.parseTime,
  share: values.share,
  'rate-limit': values.rateLimit,
  port: values.port,
  email: values.email,
  addresses: values.addresses,
  'base-url': values.baseUrl,
  'header-prefix': values.headerPrefix,
};

/**
 * Converts the values parsed by commander to settings, with the names of the rows and the defaults
 * of missing values.
 */
export function settingsOfOptions<Rows extends OptionRows>(
  rows: Rows,
  options: object,
): ValuesOf<Rows> {
  const valuesByName = new Map(Object.entries(options));
  const settings = Object.entries(rows).flatMap(([name, { flag, toSetting }]) => {
    const value: unknown = valuesByName.get(valueName(flag));
    if (value === undefined) return [];
    return [[name, toSetting ? toSetting(value as never) : value]];
  });
  return { ...defaultsOf(rows), ...Object.fromEntries(settings) };
}

/** Returns the name under which commander stores the value of a flag. */
export function valueName(flag: string): string {
  return new Option(flag).attributeName();
}
