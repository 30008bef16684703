/** Options of `fleetbed conform` that say by what the target is steered and what it offers. */
import { dirname, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  type Capability,
  type ConformanceOptions,
  type ControlAddress,
  capabilityNames,
  type Declaration,
  readDeclaration,
  readHookFile,
  SteeringFileError,
} from '../../conformance/conformance.ts';
import { exitCodes } from '../exit-codes.ts';
import { CommandFault } from '../fault.ts';
import { readNamedFile } from '../files.ts';
import * as values from '../option-values.ts';
import { SecretOption, secretVariables } from '../secret-option.ts';

/** What `addControlOptions` adds. */
export interface ControlOptions {
  readonly controlUrl?: string;
  readonly controlToken?: string;
}

/** What `addSteeringOptions` adds. */
export interface SteeringOptions extends ControlOptions {
  readonly hooks?: string;
  readonly capabilities?: string;
  readonly with?: readonly Capability[];
  readonly without?: readonly Capability[];
  readonly probe: boolean;
}

/** Adds the control listener. @param purpose what it is and what it is for */
export function addControlOptions(command: Command, purpose: string): Command {
  return command
    .addOption(
      new Option('--control-url <url>', purpose)
        .env('FLEETBED_CONTROL_URL')
        .argParser(values.baseUrl),
    )
    .addOption(
      new SecretOption('--control-token <text>', 'control token, as printed by fleetbed serve', {
        variable: secretVariables.controlToken,
      }),
    );
}

/** Adds the control listener, the hooks, and what the target is said to offer. */
export function addSteeringOptions(command: Command): Command {
  return addControlOptions(command, 'control listener, to test time, faults and limits')
    .option('--hooks <file>', 'commands to use in place of the management API')
    .option('--capabilities <file>', 'file that lists what the target offers and lacks')
    .option('--with <name>', 'the target offers this capability; repeatable', capability)
    .option('--without <name>', 'the target lacks this capability; repeatable', capability)
    .option('--no-probe', 'do not send requests to find out what it offers');
}

function capability(text: string, known: readonly Capability[] = []): readonly Capability[] {
  const named = capabilityNames.find((name) => name === text);
  if (named) return [...known, named];
  throw new InvalidArgumentError(`Accepted: ${capabilityNames.join(', ')}.`);
}

/** What a run takes from these options. @throws CommandFault */
export async function steeringOf(options: SteeringOptions) {
  const control = controlOf(options);
  const { hooks: hookFile } = options;
  const declared = await declarationOf(options);
  return {
    declared,
    probe: options.probe,
    ...(control && { control }),
    ...(hookFile !== undefined && { hooks: await hooksOf(hookFile) }),
  } satisfies Partial<ConformanceOptions>;
}

/**
 * The control listener that was named; undefined when none was. A token alone names none: it may
 * stand in the environment for other commands. @throws CommandFault
 */
export function controlOf({
  controlUrl,
  controlToken,
}: ControlOptions): ControlAddress | undefined {
  if (controlUrl === undefined) return undefined;
  if (controlToken !== undefined) return { url: controlUrl, token: controlToken };
  const token = `--control-token (env: ${secretVariables.controlToken})`;
  throw new CommandFault(`--control-url also needs ${token}.`, exitCodes.usage);
}

async function hooksOf(path: string) {
  const text = await readNamedFile('--hooks', path);
  return usable('--hooks', path, () => readHookFile(text, dirname(resolve(path))));
}

async function declarationOf(options: SteeringOptions): Promise<Declaration> {
  const { capabilities: path, with: offered = [], without = [] } = options;
  const text = path === undefined ? '{}' : await readNamedFile('--capabilities', path);
  const inFile = usable('--capabilities', path ?? '', () => readDeclaration(text));
  const declared = {
    with: [...(inFile.with ?? []), ...offered],
    without: [...(inFile.without ?? []), ...without],
  };
  const both = declared.with.find((name) => declared.without.includes(name));
  if (both === undefined) return declared;
  throw new CommandFault(
    `${both} is given with both --with and --without; keep one.`,
    exitCodes.usage,
  );
}

function usable<T>(option: string, path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SteeringFileError)) throw error;
    throw new CommandFault(`${option} ${path}: ${error.message}.`, exitCodes.usage, error);
  }
}
