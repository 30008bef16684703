/** The options of `fleetbed conform` and of its subcommands, and what they mean for a run. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ConformanceOptions, Credentials } from '../../conformance/conformance.ts';
import {
  type ModelOptions,
  readSequence,
  type SequenceName,
} from '../../conformance/context/model-options.ts';
import { readWaivers, type Waiver, WaiverFileError } from '../../conformance/result/waivers.ts';
import { defaultHeaderPrefix } from '../../fixtures/contract/vendor-names.ts';
import { exitCodes } from '../exit-codes.ts';
import { CommandFault, setUpFault } from '../fault.ts';
import { readNamedFile } from '../files.ts';
import { addLoginOptions, type LoginOptions } from '../login-options.ts';
import * as values from '../option-values.ts';
import { addUrlOption } from '../url-option.ts';
import { addSteeringOptions, type SteeringOptions, steeringOf } from './steering-options.ts';

/** Where the target is and who the suite is there. */
interface TargetOptions extends SteeringOptions, LoginOptions {
  readonly url: string;
  readonly anonymous?: boolean;
  readonly headerPrefix: string;
  readonly ca?: string;
}

/** Everything that `fleetbed conform` takes. */
export interface ConformOptions extends TargetOptions {
  readonly jobs: number;
  readonly repeat: number;
  readonly seed?: string;
  readonly rate?: number;
  readonly caseTimeLimit: number;
  readonly requestTimeLimit: number;
  readonly disruptive?: boolean;
  readonly readOnly?: boolean;
  readonly requireAllMust?: boolean;
  readonly waivers?: string;
  readonly ledger?: string;
  readonly dryRun?: boolean;
  readonly modelSequences?: number;
  readonly modelSeed?: number;
  readonly modelReplay?: SequenceName;
  readonly allEvidence?: boolean;
  readonly list?: boolean;
  readonly coverage?: string | true;
  readonly schema?: boolean;
  readonly report?: values.ReportFiles;
  readonly ndjson?: string;
  readonly json?: boolean;
}

/** A run at a distance waits for the network; so many devices at a time trouble no server. */
const JOBS_DEFAULT = 4;
const JOBS_MAX = 32;
const REPEAT_MAX = 100;
const REQUESTS_PER_SECOND_MAX = 10_000;
const CASE_TIME_LIMIT_MS = 60_000;
const REQUEST_TIME_LIMIT_MS = 15_000;
const MODEL_SEQUENCES_MAX = 10_000;
const SEED_MAX = 0x7fffffff;

/** Adds where the target is and who the suite is there. */
export function addTargetOptions(command: Command): Command {
  addUrlOption(command.optionsGroup('Target:'), {
    description: 'base URL of the server to test',
    usual: 'http://127.0.0.1:8080',
  });
  addLoginOptions(command)
    .option('--anonymous', 'run only the cases that need no user')
    .addOption(
      new Option('--header-prefix <prefix>', "vendor prefix of the API's header names")
        .argParser(values.headerPrefix)
        .default(defaultHeaderPrefix),
    )
    .option('--ca <file>', 'PEM file with the certificate of the server or of its authority');
  return addSteeringOptions(command.optionsGroup('What the target can do:'));
}

/** Adds which cases are run, and how. */
export function addRunOptions(command: Command): Command {
  return addLoadOptions(addCaseOptions(command))
    .optionsGroup('Requirements:')
    .option('--require-all-must', 'fail if a MUST of the contract was not tested')
    .option('--waivers <file>', 'file of known failures, each with an expiry date')
    .optionsGroup('Reports:')
    .option('--all-evidence', 'include the exchanges of passed cases in reports');
}

function addCaseOptions(command: Command): Command {
  return command
    .optionsGroup('Which cases:')
    .option('--disruptive', 'also run cases that may affect other users')
    .addOption(
      new Option('--read-only', 'run only cases that change nothing').conflicts('disruptive'),
    )
    .optionsGroup('Random choices:')
    .option('--seed <text>', 'seed of all random choices, to repeat a run', values.filled)
    .option(
      '--model-sequences <count>',
      'random sequences per model/ case',
      values.count(1, MODEL_SEQUENCES_MAX),
    )
    .option('--model-seed <number>', 'seed of the random sequences', values.count(0, SEED_MAX))
    .addOption(
      new Option('--model-replay <sequence>', 'repeat the sequence shown with a failure')
        .argParser(sequence)
        .conflicts(['modelSequences', 'modelSeed']),
    );
}

function addLoadOptions(command: Command): Command {
  return command
    .optionsGroup('Load:')
    .addOption(
      new Option('--jobs <count>', 'cases to run in parallel')
        .argParser(values.count(1, JOBS_MAX))
        .default(JOBS_DEFAULT),
    )
    .option(
      '--rate <number/s>',
      'maximum requests per second of the run',
      values.perSecond(REQUESTS_PER_SECOND_MAX),
    )
    .addOption(
      new Option('--repeat <count>', 'runs of each case, to find unstable ones')
        .argParser(values.count(1, REPEAT_MAX))
        .default(1),
    )
    .addOption(
      new Option('--case-time-limit <duration>', 'time limit of a case')
        .argParser(values.positiveDurationMs)
        .default(CASE_TIME_LIMIT_MS, '60s'),
    )
    .addOption(
      new Option('--request-time-limit <duration>', 'time limit of a request')
        .argParser(values.positiveDurationMs)
        .default(REQUEST_TIME_LIMIT_MS, '15s'),
    );
}

function sequence(word: string): SequenceName {
  const named = readSequence(word);
  if (named) return named;
  throw new InvalidArgumentError(
    'Accepted: SEED,PATH,STEPS, as shown with the failure of a model/ case.',
  );
}

/** Who the suite is at the target. */
export function credentialsOf({
  email,
  password,
  token,
  anonymous,
}: LoginOptions & Pick<TargetOptions, 'anonymous'>): Credentials {
  if (anonymous) return 'none';
  if (token !== undefined) return { token };
  return password === undefined ? 'none' : { email, password };
}

/** Throws where nobody makes users act and that was not asked for: most cases would be skipped. */
function requireUser(options: ConformOptions): void {
  const { anonymous, hooks } = options;
  if (anonymous || hooks !== undefined || credentialsOf(options) !== 'none') return;
  throw new CommandFault(
    'conform needs a user: give --password (or FLEETBED_PASSWORD), --token (or FLEETBED_TOKEN) ' +
      'or --hooks; --anonymous runs only the cases that need no user.',
    exitCodes.usage,
  );
}

/** What a run takes from the options, but for the cases. @throws CommandFault */
export async function runSettingsOf(options: ConformOptions) {
  requireUser(options);
  const { url: baseUrl, headerPrefix, jobs, repeat, seed, rate } = options;
  const caPem = options.ca === undefined ? undefined : await readNamedFile('--ca', options.ca);
  const waivers = await readNamedWaivers(options.waivers);
  return {
    baseUrl,
    headerPrefix,
    credentials: credentialsOf(options),
    ...(await steeringOf(options)),
    jobs,
    repeat,
    disruptive: options.disruptive ?? false,
    readOnly: options.readOnly ?? false,
    requireAllMust: options.requireAllMust ?? false,
    allEvidence: options.allEvidence ?? false,
    caseTimeLimitMs: options.caseTimeLimit,
    requestTimeLimitMs: options.requestTimeLimit,
    waivers,
    model: modelOf(options),
    ...(seed !== undefined && { seed }),
    ...(rate !== undefined && { requestsPerSecondMax: rate }),
    ...(caPem !== undefined && { tls: { caPem } }),
  } satisfies Partial<ConformanceOptions>;
}

function modelOf({ modelSequences, modelSeed, modelReplay }: ConformOptions): ModelOptions {
  return {
    ...(modelSequences !== undefined && { sequences: modelSequences }),
    ...(modelSeed !== undefined && { seed: modelSeed }),
    ...(modelReplay && { replay: modelReplay }),
  };
}

async function readNamedWaivers(file: string | undefined): Promise<readonly Waiver[]> {
  if (file === undefined) return [];
  const text = await readNamedFile('--waivers', file);
  try {
    return readWaivers(text, file);
  } catch (error) {
    throw error instanceof WaiverFileError ? setUpFault(error, file) : error;
  }
}
