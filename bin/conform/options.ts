/** The options of `fleetbed conform` and of its subcommands, and what they mean for a run. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ConformanceOptions, Credentials } from '../../conformance/conformance.ts';
import {
  type ModelOptions,
  readSequence,
  type SequenceName,
} from '../../conformance/stage/model-options.ts';
import { readWaivers, type Waiver, WaiverFileError } from '../../conformance/waivers.ts';
import { defaultHeaderPrefix } from '../../fixtures/contract/vendor-names.ts';
import { exitCodes } from '../exit-codes.ts';
import { CommandFault, setUpFault } from '../fault.ts';
import { readNamedFile } from '../files.ts';
import { addLoginOptions, type LoginOptions } from '../login-options.ts';
import * as values from '../option-values.ts';
import { addSteeringOptions, type SteeringOptions, steeringOf } from './steering-options.ts';

/** Where the target is and who the suite is there. */
interface TargetOptions extends SteeringOptions, LoginOptions {
  readonly baseUrl: string;
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
  return addLoginOptions(addSteeringOptions(command))
    .addOption(
      new Option('--base-url <url>', 'where the server is')
        .argParser(values.baseUrl)
        .default('http://127.0.0.1:8080'),
    )
    .option('--anonymous', 'run without a user, and only the cases that need none')
    .addOption(
      new Option('--header-prefix <prefix>', "the vendor's part of header names")
        .argParser(values.headerPrefix)
        .default(defaultHeaderPrefix),
    )
    .option('--ca <file>', "PEM file with the server's certificate or its authority's");
}

/** Adds how the cases are played. */
export function addRunOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--jobs <count>', 'cases that are played at a time')
        .argParser(values.count(1, JOBS_MAX))
        .default(JOBS_DEFAULT),
    )
    .addOption(
      new Option('--repeat <count>', 'plays of each case; one that comes out otherwise is unstable')
        .argParser(values.count(1, REPEAT_MAX))
        .default(1),
    )
    .option('--seed <text>', "decides the cases' choices, to repeat a run", values.filled)
    .option(
      '--rate <number/s>',
      'requests a second at most, of the whole run',
      values.perSecond(REQUESTS_PER_SECOND_MAX),
    )
    .addOption(
      new Option('--case-time-limit <duration>', 'after which a case is given up')
        .argParser(values.positiveDurationMs)
        .default(CASE_TIME_LIMIT_MS, '60s'),
    )
    .addOption(
      new Option('--request-time-limit <duration>', 'after which a request is given up')
        .argParser(values.positiveDurationMs)
        .default(REQUEST_TIME_LIMIT_MS, '15s'),
    )
    .option(
      '--model-sequences <count>',
      'random sequences that each case of model/ tries; give it time by --case-time-limit',
      values.count(1, MODEL_SEQUENCES_MAX),
    )
    .option('--model-seed <number>', 'decides the random sequences', values.count(0, SEED_MAX))
    .addOption(
      new Option('--model-replay <sequence>', 'the one sequence to repeat, as its failure shows it')
        .argParser(sequence)
        .conflicts(['modelSequences', 'modelSeed']),
    )
    .option('--disruptive', 'also play the cases that may touch or burden what others use')
    .addOption(
      new Option('--read-only', 'play only the cases that change nothing').conflicts('disruptive'),
    )
    .option('--all-evidence', 'reports show the exchanges of passed cases too')
    .option('--require-all-must', 'fail when a MUST of the contract was not tested')
    .option('--waivers <file>', 'YAML or JSON with failures that are tolerated until a day')
    .option('--dry-run', 'show what would be played and made, without a request')
    .option('--ledger <file>', 'where all that is made is noted, for `conform cleanup`');
}

function sequence(word: string): SequenceName {
  const named = readSequence(word);
  if (named) return named;
  throw new InvalidArgumentError('Accepted: SEED,PATH,STEPS, as a failure of model/ shows it.');
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
  const { baseUrl, headerPrefix, jobs, repeat, seed, rate } = options;
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
