/**
 * The options of `fleetbed conform` and its subcommands, and their conversion to settings of a run.
 */
import type { Command } from 'commander';
import {
  type ConformanceOptions,
  type Credentials,
  UnknownIdError,
  waivableIds,
} from '../../../conformance/conformance.ts';
import { modelOptions } from '../../../conformance/context/model-options.ts';
import { readWaivers, type Waiver, WaiverFileError } from '../../../conformance/result/waivers.ts';
import { suiteOptions } from '../../../conformance/suite/options.ts';
import type { OptionRows, ValuesOf } from '../../../fixtures/base/option-row.ts';
import { addLoginOptions, type LoginOptions, userOf } from '../../options/login-options.ts';
import { addOptionRows, settingsOfOptions } from '../../options/option-rows.ts';
import { reportOption } from '../../options/reports.ts';
import { sharedHelp } from '../../options/shared-options.ts';
import { addUrlOption } from '../../options/url-option.ts';
import { CommandError, setupError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { readNamedFile } from '../../output/files.ts';
import { foundTarget } from '../../server-access/found-server.ts';
import { conformanceFormats } from './report-formats.ts';
import { targetControlOf, targetControlRows } from './target-control-options.ts';

/** The options of `fleetbed conform` itself, in addition to the options of a run. */
export const runRows = {
  anonymous: {
    flag: '--anonymous',
    group: 'Target',
    help: 'run only the cases that need no user',
    cli: { kind: 'switch' },
  },
  ca: {
    flag: '--ca <file>',
    group: 'Target',
    help: sharedHelp.ca,
    cli: { kind: 'file' },
  },
  ...targetControlRows,
  waivers: {
    flag: '--waivers <file>',
    group: 'Requirements',
    help: 'file of known failures, each with an expiry date',
    cli: { kind: 'file' },
  },
  report: {
    ...reportOption(conformanceFormats, (list) => `${list}; repeatable`),
    group: 'Reports',
  },
  scripts: {
    flag: '--scripts <folder>',
    group: 'Reports',
    help: 'folder for the repro scripts of failed cases (default: a new one in the temporary folder)',
    cli: { kind: 'text' },
  },
  json: {
    flag: '--json',
    group: 'Reports',
    help: sharedHelp.json,
    cli: { kind: 'switch' },
  },
} as const satisfies OptionRows;

/**
 * The options that `addRunOptions` adds, as commander parses them; `runSettingsOf` converts them to
 * settings of a run.
 */
export interface ConformOptions extends LoginOptions, ValuesOf<typeof runRows> {
  readonly url: string;
}

/** Adds the options that set the target, the login, the selection of cases, and how cases run. */
export function addRunOptions(command: Command): Command {
  addUrlOption(command.optionsGroup('Target:'), {
    description: 'base URL of the server to test',
    defaultUrl: 'http://127.0.0.1:8080',
  });
  addLoginOptions(command).optionsGroup('Options:');
  for (const rows of [suiteOptions, modelOptions, runRows]) addOptionRows(command, rows);
  return command;
}

/** Returns the credentials of the suite at the target; `none` for an anonymous run. */
export function credentialsOf(
  options: LoginOptions & Pick<ConformOptions, 'anonymous'>,
): Credentials {
  return (options.anonymous ? undefined : userOf(options)) ?? 'none';
}

/**
 * Adds missing options from the run file of the server that has this URL or this control listener. A
 * run without a user, or with hooks, uses only the given options.
 * @param isUrlGiven false when the URL is only the default
 * @throws CommandError when only a control listener is given, and its API is unknown
 */
export function completeOptions<Options extends ConformOptions>(
  options: Options,
  isUrlGiven: boolean,
) {
  return options.anonymous || options.hooks !== undefined
    ? options
    : foundTarget(options, isUrlGiven);
}

/**
 * Requires a user, hooks or `--anonymous`, because most cases would be skipped without any of
 * these.
 */
function requireUser(options: ConformOptions): void {
  const { anonymous, hooks } = options;
  if (anonymous || hooks !== undefined || credentialsOf(options) !== 'none') return;
  throw new CommandError(
    'conform needs a user: give --password (or FLEETBED_PASSWORD), --token (or FLEETBED_TOKEN) ' +
      'or --hooks; --anonymous runs only the cases that need no user.',
    exitCodes.usage,
  );
}

/**
 * Converts the options to settings of a run, except the selection of cases.
 * @throws CommandError
 */
export async function runSettingsOf(
  options: ConformOptions & { readonly caPem?: string | undefined },
) {
  requireUser(options);
  const caPem = options.ca === undefined ? options.caPem : await readNamedFile('--ca', options.ca);
  return {
    ...settingsOfOptions(suiteOptions, options),
    baseUrl: options.url,
    credentials: credentialsOf(options),
    ...(await targetControlOf(options)),
    waivers: await readNamedWaivers(options.waivers),
    model: settingsOfOptions(modelOptions, options),
    ...(caPem !== undefined && { tls: { caPem } }),
  } satisfies Partial<ConformanceOptions>;
}

async function readNamedWaivers(file: string | undefined): Promise<readonly Waiver[]> {
  if (file === undefined) return [];
  const text = await readNamedFile('--waivers', file);
  try {
    return withKnownIds(() => readWaivers(text, file, waivableIds));
  } catch (error) {
    throw error instanceof WaiverFileError ? setupError(error, file) : error;
  }
}

/**
 * Returns what `select` returns; an ID that matches nothing is a wrong command line.
 * @param hint the end of the sentence about such an ID
 * @throws CommandError
 */
export function withKnownIds<Selected>(select: () => Selected, hint = ''): Selected {
  try {
    return select();
  } catch (error) {
    if (!(error instanceof UnknownIdError)) throw error;
    throw new CommandError(`${error.message}.${hint}`, exitCodes.usage, error);
  }
}
