/** The options of `fleetbed simulate` that make up its plan: one for each row of its table. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CliValue, OptionRow } from '../../simulator/plan/option-row.ts';
import { options } from '../../simulator/plan/options.ts';
import { PlanWordsError, readPlanPart } from '../../simulator/plan/plan-words.ts';
import { ThresholdError, thresholdOf } from '../../simulator/plan/thresholds-parser.ts';
import { addLoginOptions } from '../login-options.ts';
import { addOldNames } from '../old-names.ts';
import * as values from '../option-values.ts';
import { SecretOption, secretVariables } from '../secret-option.ts';
import { addUrlOption } from '../url-option.ts';
import { acceptWithOption } from './connection-options.ts';

/** Adds them to the command, in groups. */
export function addPlanOptions(command: Command): Command {
  const rows: readonly (readonly [string, OptionRow])[] = Object.entries(options);
  let group = '';
  for (const [name, row] of rows) {
    if (row.group !== group) command.optionsGroup(`${row.group}:`);
    if (group === '') {
      command.option('--plan <file>', 'plan file: YAML or JSON with these options by name');
    }
    group = row.group;
    if (row.flag === undefined) addShared[name]?.(command);
    else for (const option of optionsOf(name, row.flag, row)) command.addOption(option);
    if (name === 'token') command.addOption(acceptWithOption());
  }
  return addOldNames(command, { '--scene': '--incident' });
}

/** Options that commands share. */
const addShared: Readonly<Record<string, (command: Command) => void>> = {
  url: (command) =>
    addUrlOption(command, {
      description: 'base URL of the server',
      usual: 'http://127.0.0.1:8080',
    }),
  email: addLoginOptions,
};

/** The option of a row, and the one that switches it off where there is one. */
function optionsOf(name: string, flag: string, row: OptionRow): readonly Option[] {
  const { cli, help = '', usual } = row;
  if (cli.kind === 'tenant-token') {
    return [new SecretOption(flag, help, { variable: secretVariables.tenantToken })];
  }
  const option = new Option(flag, help);
  const parse = parserOf(name, cli);
  if (parse) option.argParser((text: string, previous: unknown) => parse(text, previous as never));
  if (cli.kind === 'choices') option.choices(cli.of);
  if (usual) option.default(usual.value, usual.shown);
  if (cli.kind !== 'switch' || cli.off === undefined) return [option];
  return [option, new Option(flag.replace('--', '--no-'), cli.off)];
}

type Parser = (text: string, previous: never) => unknown;

function parserOf(name: string, cli: CliValue): Parser | undefined {
  switch (cli.kind) {
    case 'count':
      return values.count(cli.least, cli.most);
    case 'weights':
      return values.weights(cli.names);
    case 'words':
      return cli.isList ? list(name as PartName) : one(name as PartName);
    default:
      return parsers[cli.kind];
  }
}

const parsers: Readonly<Partial<Record<CliValue['kind'], Parser>>> = {
  duration: values.durationMs,
  'positive-duration': values.positiveDurationMs,
  share: values.share,
  'device-share': deviceShare,
  text: values.filled,
  texts: values.listed,
  addresses: values.addresses,
  'header-prefix': values.headerPrefix,
  'rsa-bits': rsaBits,
  rates: arrivals,
  parameters: behaviourParameter,
  thresholds: threshold,
};

/** Of all devices: a share such as `1%` or `0.01`. */
function deviceShare(text: string): number {
  const [, number = '', percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim()) ?? [];
  const value = number === '' ? 0 : Number(number) / (percent === '%' ? 100 : 1);
  if (value > 0 && value <= 1) return value;
  throw new InvalidArgumentError('Accepted: a share above 0, such as 1% or 0.01, at most 100%.');
}

/** Keeps the words: the plan has them as they were written. */
function threshold(text: string, previous: readonly string[] = []): readonly string[] {
  try {
    thresholdOf(text);
  } catch (error) {
    if (error instanceof ThresholdError) throw new InvalidArgumentError(`${error.message}.`);
    throw error;
  }
  return [...previous, text];
}

type PartName = Parameters<typeof readPlanPart>[0];

/** A parser of words such as `ramp: 30s, devices: 100`. */
function one<const Name extends PartName>(name: Name) {
  return (text: string) => {
    try {
      return readPlanPart(name, text);
    } catch (error) {
      if (error instanceof PlanWordsError) throw new InvalidArgumentError(`${error.message}.`);
      throw error;
    }
  };
}

/** The same, of an option that is used several times. */
function list<const Name extends PartName>(name: Name) {
  const read = one(name);
  type Words = ReturnType<typeof read>;
  return (text: string, previous: readonly Words[] = []): readonly Words[] => [
    ...previous,
    read(text),
  ];
}

const ARRIVALS_PER_SECOND_MAX = 100_000;

function arrivals(
  text: string,
  previous: Readonly<Record<string, number>> = {},
): Readonly<Record<string, number>> {
  const parseRate = values.perSecond(ARRIVALS_PER_SECOND_MAX);
  const added = text.split(',').map((row): [string, number] => {
    const [event = '', rate = ''] = row.split('=');
    return [event.trim(), parseRate(rate.trim())];
  });
  return { ...previous, ...Object.fromEntries(added) };
}

type Numbers = Readonly<Record<string, Readonly<Record<string, number>>>>;

function behaviourParameter(text: string, previous: Numbers = {}): Numbers {
  const [, name = '', number = '', value] =
    /^([\w-]+)\.(\w+)=(-?\d+(?:\.\d+)?)$/.exec(text.trim()) ?? [];
  if (value === undefined) {
    throw new InvalidArgumentError(
      'Accepted: BEHAVIOUR.NUMBER=VALUE, such as slow.installMs=5000.',
    );
  }
  return { ...previous, [name]: { ...previous[name], [number]: Number(value) } };
}

function rsaBits(text: string): 2048 | 3072 {
  if (text === '2048') return 2048;
  if (text === '3072') return 3072;
  throw new InvalidArgumentError('Accepted: 2048 or 3072.');
}
