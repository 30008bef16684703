/**
 * The options of `fleetbed simulate` that form its plan, generated from the table of plan options.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { ARRIVALS_PER_SECOND_MAX } from '../../../simulator/plan/load-fields.ts';
import type { CliValue, PlanOption } from '../../../simulator/plan/option-row.ts';
import { options } from '../../../simulator/plan/options.ts';
import { type PartName, PlanInputError, readPlanPart } from '../../../simulator/plan/plan-input.ts';
import { ThresholdError, thresholdOf } from '../../../simulator/plan/thresholds-parser.ts';
import { addLoginOptions } from '../../options/login-options.ts';
import {
  addOptionRow,
  parserOf as commonParserOf,
  type OptionParser,
} from '../../options/option-rows.ts';
import * as values from '../../options/option-values.ts';
import { addUrlOption } from '../../options/url-option.ts';

/** Adds the options of a plan to the command, in groups. */
export function addPlanOptions(command: Command): Command {
  const rows: readonly (readonly [string, PlanOption])[] = Object.entries(options);
  command.optionsGroup('Fleet:');
  command.option('--plan <file>', 'plan file: YAML or JSON with these options by name');
  for (const [name, { flag, help, ...row }] of rows) {
    if (flag !== undefined && help !== undefined) {
      addOptionRow(command, { flag, help, ...row }, parserOf(name, row.cli));
    } else addShared[name]?.(command.optionsGroup(`${row.group}:`));
  }
  return command;
}

/** Functions that add the options shared with other commands, by their names in the plan. */
const addShared: Readonly<Record<string, (command: Command) => void>> = {
  url: (command) =>
    addUrlOption(command, {
      description: 'base URL of the server',
      defaultUrl: options.url.default.value,
    }),
  email: addLoginOptions,
};

function parserOf(name: string, cli: CliValue): OptionParser | undefined {
  switch (cli.kind) {
    case 'weights':
      return values.weights(cli.names);
    case 'pairs':
      return cli.isList ? list(name as PartName) : one(name as PartName);
    case 'device-share':
      return deviceShare;
    case 'rates':
      return arrivals;
    case 'parameters':
      return behaviourParameter;
    case 'thresholds':
      return threshold;
    case 'duration':
    case 'positive-duration':
      return keepText(commonParserOf(cli));
    case 'own':
      return undefined;
    default:
      return commonParserOf(cli);
  }
}

/** Returns a parser that checks a string but returns it unchanged, because the plan converts it. */
function keepText(parse: OptionParser | undefined): OptionParser {
  return (text, previous) => {
    parse?.(text, previous);
    return text;
  };
}

/** Parses a share of all devices, such as `1%` or `0.01`. */
function deviceShare(text: string): number {
  const [, number = '', percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim()) ?? [];
  const value = number === '' ? 0 : Number(number) / (percent === '%' ? 100 : 1);
  if (value > 0 && value <= 1) return value;
  throw new InvalidArgumentError('Accepted: a share above 0, such as 1% or 0.01, at most 100%.');
}

/** Checks a threshold and returns it unchanged. */
function threshold(text: string, previous: readonly string[] = []): readonly string[] {
  try {
    thresholdOf(text);
  } catch (error) {
    if (error instanceof ThresholdError) throw new InvalidArgumentError(`${error.message}.`);
    throw error;
  }
  return [...previous, text];
}

/** Returns a parser for text such as `ramp: 30s, devices: 100`. */
function one(name: PartName) {
  return (text: string): object => {
    try {
      return readPlanPart(name, text);
    } catch (error) {
      if (error instanceof PlanInputError) throw new InvalidArgumentError(`${error.message}.`);
      throw error;
    }
  };
}

/** Returns the same parser for a repeatable option. */
function list(name: PartName) {
  const parseOne = one(name);
  return (text: string, previous: readonly object[] = []) => [...previous, parseOne(text)];
}

function arrivals(
  text: string,
  previous: Readonly<Record<string, number>> = {},
): Readonly<Record<string, number>> {
  const parseRate = values.ratePerSecond(ARRIVALS_PER_SECOND_MAX);
  const rates = text.split(',').map((row): [string, number] => {
    const [event = '', rate = ''] = row.split('=');
    return [event.trim(), parseRate(rate.trim())];
  });
  return { ...previous, ...Object.fromEntries(rates) };
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
