/** The plan of `fleetbed simulate`: the plan file, overridden by the command line. */
import type { Command } from 'commander';
import { systemRandom } from '../../../fixtures/base/random.ts';
import { readBehaviourFiles } from '../../../simulator/behaviours/behaviour-file.ts';
import { knownBehaviours } from '../../../simulator/behaviours/catalogue.ts';
import { type FleetPlan, StateError } from '../../../simulator/engine/simulate-fleet.ts';
import type { OwnPlan } from '../../../simulator/plan/divided-plan.ts';
import { options as planOptions } from '../../../simulator/plan/options.ts';
import { PlanError, type PlanInput, planOf } from '../../../simulator/plan/plan.ts';
import {
  PlanInputError,
  planWordNames,
  readPlanInput,
} from '../../../simulator/plan/plan-input.ts';
import { keptSeed } from '../../../simulator/state/state-head.ts';
import { loginWays, userOf } from '../../options/login-options.ts';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { readNamedFile } from '../../output/files.ts';
import { fleetError } from '../../output/fleet-outcome.ts';
import { certificatesIn } from './certificates.ts';
import { defaultPoolFolder } from './rsa-keys.ts';

/** The options as commander parses them, including those of the plan. */
type PlanOptionValues = PlanInput & { readonly plan?: string };

/**
 * Values that a plan file cannot contain: the user that accepts the devices, the shard, and the
 * deployment to join.
 */
type RunOnlyValues = Pick<PlanInput, 'acceptWith' | 'shard' | 'deploymentId'>;

/** A plan with the text values that it was built from. */
export interface PlanWithSources {
  readonly plan: FleetPlan;
  readonly input: OwnPlan;
}

/**
 * Builds the plan: options on the command line and variables override the plan file, that file
 * overrides the configuration file, and all override defaults.
 * @throws CommandError when a file cannot be read, or the plan file is wrong
 */
export async function planFrom(
  command: Command,
  more: RunOnlyValues = {},
): Promise<PlanWithSources> {
  const options: PlanOptionValues = command.opts();
  const file = options.plan === undefined ? {} : await readPlanFile(options.plan);
  const { ca, cert, key, accept, email, password, token, ...written } = {
    ...givenOptions(options, command, ['config']),
    ...file,
    ...givenOptions(options, command, ['cli', 'env']),
  };
  const acceptWith = more.acceptWith ?? userIn({ accept, email, password, token }, command);
  if (written.deploy !== undefined && acceptWith === undefined) {
    command.error(`option '--deploy <artifact>' needs --accept, with ${loginWays}`);
  }
  if (written.seed === undefined && more.shard !== undefined) {
    command.error("option '--shard <index/count>' needs --seed TEXT, the same for all shards");
  }
  const input = {
    ...written,
    ...more,
    acceptWith,
    tls: await certificatesIn({ ca, cert, key }),
    url: written.url ?? planOptions.url.default.value,
    seed: written.seed ?? seedIn(written.state) ?? systemRandom.uuid().slice(0, 8),
    rsaPoolFolder: written.rsaPoolFolder ?? defaultPoolFolder(),
  };
  try {
    await readBehaviourFiles(input.behaviourFile ?? []);
    return { input, plan: planOf(input, knownBehaviours) };
  } catch (error) {
    throw fleetError(nameOptions(error, command), { baseUrl: input.url });
  }
}

/**
 * Replaces field names by option names in the errors of a plan; errors of a plan file keep its
 * field names.
 */
function nameOptions(error: unknown, command: Command): unknown {
  if (!(error instanceof PlanError)) return error;
  const problemLines = error.problems.map((problem) => {
    const [word = ''] = /^\w+/.exec(problem) ?? [];
    const flag = command.options.find((option) => option.attributeName() === word)?.long;
    const source = command.getOptionValueSource(word) ?? '';
    const isGiven = ['cli', 'env', 'config'].includes(source);
    if (!flag || !isGiven) return problem;
    const sentenceEnd = problem.slice(word.length);
    return sentenceEnd.startsWith('.') ? `${flag}: ${problem}` : `${flag}${sentenceEnd}`;
  });
  return new PlanError(problemLines);
}

type UserValues = Pick<PlanInput, 'accept' | 'email' | 'password' | 'token'>;

/** Returns the user that accepts the devices, if any. */
function userIn(input: UserValues, command: Command): FleetPlan['acceptWith'] {
  const { accept, password, token } = input;
  const email = input.email ?? String(command.getOptionValue('email'));
  const isGiven = (name: string): boolean => command.getOptionValueSource(name) === 'cli';
  if (accept === true) {
    const user = userOf({ email, password, token });
    return user ?? command.error(`option '--accept' needs ${loginWays}`);
  }
  if (isGiven('password') || isGiven('token')) {
    const option = isGiven('token') ? '--token <jwt>' : '--password <password>';
    command.error(`option '${option}' needs --accept`);
  }
  return undefined;
}

/** Returns the seed of the fleet in a state folder; the fleet continues with this seed. */
function seedIn(folder: string | undefined): string | undefined {
  try {
    return folder === undefined ? undefined : keptSeed(folder);
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    throw new CommandError(error.message, exitCodes.setUp, error);
  }
}

/** Returns only the options with one of these sources; the plan adds the defaults. */
function givenOptions(
  options: PlanOptionValues,
  command: Command,
  sources: readonly string[],
): PlanInput {
  const names = planWordNames.filter(
    (name) =>
      options[name] !== undefined && sources.includes(command.getOptionValueSource(name) ?? ''),
  );
  return Object.fromEntries(names.map((name) => [name, options[name]]));
}

async function readPlanFile(path: string): Promise<PlanInput> {
  const text = await readNamedFile('--plan', path);
  try {
    return readPlanInput(text);
  } catch (error) {
    if (!(error instanceof PlanInputError)) throw error;
    const problems = error.problems.map((problem) => `${path}:${problem}`).join('; ');
    throw new CommandError(`invalid plan file: ${problems}`, exitCodes.usage, error);
  }
}
