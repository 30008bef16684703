/** What a fleet's run means for the command line: its exit code, and its faults as sentences. */
import { StatusError } from '../simulator/client/errors.ts';
import { PlayerFault } from '../simulator/shards/head.ts';
import {
  BehaviourFileError,
  ClientError,
  type FleetPlan,
  type FleetResult,
  IdentityError,
  PlanError,
  StateError,
} from '../simulator/simulator.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { CommandFault, setUpFault } from './fault.ts';

/**
 * A balance that does not hold fails the run. Nothing is decided when no device got through, or
 * when the server's list could not be read although there was a login.
 */
export function fleetExitCode(result: FleetResult, plan: Pick<FleetPlan, 'acceptWith'>): ExitCode {
  const { balance, funnel, spread } = result;
  if (balance.checked && !balance.ok) return exitCodes.failed;
  if (funnel.silent === funnel.devices) return exitCodes.undecided;
  // Of the devices of a lost shard nothing is known.
  if (spread !== undefined && spread.lost.length > 0) return exitCodes.undecided;
  const isMissing = plan.acceptWith !== undefined && !balance.checked;
  return isMissing ? exitCodes.undecided : exitCodes.pass;
}

/** What the figures of a run are worth: invalid ones decide nothing, whatever they seem to say. */
export function figuresExitCode({ validity, thresholds }: FleetResult): ExitCode {
  if (validity === 'invalid') return exitCodes.limited;
  const isMet = thresholds.every(({ verdict }) => verdict === 'met');
  return isMet ? exitCodes.pass : exitCodes.undecided;
}

/** The fault of a run in a sentence with the way out; what is not foreseen stays as it is. */
export function fleetFault(
  error: unknown,
  plan: Pick<FleetPlan, 'baseUrl' | 'acceptWith'>,
): unknown {
  if (error instanceof PlanError) {
    return new CommandFault(`the plan is wrong: ${error.message}`, exitCodes.usage, error);
  }
  if (error instanceof BehaviourFileError) {
    return new CommandFault(error.message, exitCodes.usage, error);
  }
  if (error instanceof IdentityError || error instanceof StateError) {
    return new CommandFault(error.message, exitCodes.setUp, error);
  }
  if (error instanceof PlayerFault)
    return new CommandFault(error.message, knownExitCode(error), error);
  if (!(error instanceof ClientError)) return error;
  if (error instanceof StatusError && error.operation === 'login' && error.status === 401) {
    const who = plan.acceptWith?.email ?? 'the operator';
    const sentence = `${plan.baseUrl} refused the login of ${who}; check EMAIL:PASSWORD`;
    return new CommandFault(sentence, exitCodes.setUp, error);
  }
  return setUpFault(error, plan.baseUrl);
}

function knownExitCode({ exitCode }: PlayerFault): ExitCode {
  return Object.values(exitCodes).find((code) => code === exitCode) ?? exitCodes.internal;
}
