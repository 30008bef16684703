/** The options of `fleetbed conform` for controlling the target and for declaring its features. */
import { dirname, resolve } from 'node:path';
import {
  type ConformanceOptions,
  type ControlAddress,
  ControlFileError,
  capabilityNames,
  type Declaration,
  readDeclaration,
  readHookFile,
} from '../../../conformance/conformance.ts';
import type { OptionRows, ValuesOf } from '../../../fixtures/base/option-row.ts';
import { secretVariables } from '../../../fixtures/base/secret-variables.ts';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { readNamedFile } from '../../output/files.ts';

const group = 'What the target can do';

/** The options for the control listener of the target. */
export const controlRows = {
  controlUrl: {
    flag: '--control-url <url>',
    group,
    help: 'control listener, to test time, faults and limits',
    cli: { kind: 'base-url' },
    variable: 'FLEETBED_CONTROL_URL',
  },
  controlToken: {
    flag: '--control-token <text>',
    group,
    help: 'control token, as printed by fleetbed serve',
    cli: { kind: 'secret', variable: secretVariables.controlToken },
  },
} as const satisfies OptionRows;

/** The options for the control listener, the hooks, and the declared features of the target. */
export const targetControlRows = {
  ...controlRows,
  hooks: {
    flag: '--hooks <file>',
    group,
    help: 'commands to use instead of the management API',
    cli: { kind: 'file' },
  },
  capabilities: {
    flag: '--capabilities <file>',
    group,
    help: 'file that lists what the target offers and lacks',
    cli: { kind: 'file' },
  },
  with: {
    flag: '--with <name>',
    group,
    help: 'the target offers this capability; repeatable',
    cli: { kind: 'names', values: capabilityNames },
  },
  without: {
    flag: '--without <name>',
    group,
    help: 'the target lacks this capability; repeatable',
    cli: { kind: 'names', values: capabilityNames },
  },
} as const satisfies OptionRows;

type ControlValues = ValuesOf<typeof controlRows>;
type TargetControlValues = ValuesOf<typeof targetControlRows>;

/** Converts these options to settings of a run. @throws CommandError */
export async function targetControlOf(options: TargetControlValues) {
  const control = controlOf(options);
  const { hooks: hookFile } = options;
  const declared = await declarationOf(options);
  return {
    declared,
    ...(control && { control }),
    ...(hookFile !== undefined && { hooks: await hooksOf(hookFile) }),
  } satisfies Partial<ConformanceOptions>;
}

/**
 * Returns the control listener of `--control-url`, if any. A token alone selects no control
 * listener, because the environment may set it for other commands.
 * @throws CommandError
 */
export function controlOf({ controlUrl, controlToken }: ControlValues): ControlAddress | undefined {
  if (controlUrl === undefined) return undefined;
  if (controlToken !== undefined) return { url: controlUrl, token: controlToken };
  const token = `--control-token (env: ${secretVariables.controlToken})`;
  throw new CommandError(`--control-url also needs ${token}.`, exitCodes.usage);
}

async function hooksOf(path: string) {
  const text = await readNamedFile('--hooks', path);
  return usable('--hooks', path, () => readHookFile(text, dirname(resolve(path))));
}

async function declarationOf(options: TargetControlValues): Promise<Declaration> {
  const { capabilities: path, with: offered = [], without = [] } = options;
  const text = path === undefined ? '{}' : await readNamedFile('--capabilities', path);
  const inFile = usable('--capabilities', path ?? '', () => readDeclaration(text));
  const capabilities = {
    with: [...(inFile.with ?? []), ...offered],
    without: [...(inFile.without ?? []), ...without],
  };
  const both = capabilities.with.find((name) => capabilities.without.includes(name));
  if (both === undefined) return capabilities;
  throw new CommandError(
    `${both} is given with both --with and --without; keep one.`,
    exitCodes.usage,
  );
}

function usable<T>(option: string, path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ControlFileError)) throw error;
    throw new CommandError(`${option} ${path}: ${error.message}.`, exitCodes.usage, error);
  }
}
