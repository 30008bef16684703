/** Converts the outcome of a fleet run to an exit code, and its errors to sentences. */
import { ClusterError } from '../../simulator/cluster/cluster-error.ts';
import { WorkerFailed } from '../../simulator/cluster/coordinator.ts';
import {
  BehaviourFileError,
  ClientError,
  type FleetPlan,
  type FleetResult,
  IdentityError,
  NotDeployableError,
  PlanError,
  StateError,
} from '../../simulator/engine/simulate-fleet.ts';
import { StatusError, TransportError } from '../../simulator/network/errors.ts';
import { MergeError } from '../../simulator/result/merge.ts';
import { outcomeOf, type RunVerdict } from '../../simulator/result/outcome.ts';
import { CommandError, setupError } from './command-error.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';

const codeOf: Readonly<Record<RunVerdict, ExitCode>> = {
  passed: exitCodes.pass,
  failed: exitCodes.failed,
  invalid: exitCodes.generatorLimited,
  incomplete: exitCodes.incomplete,
  'not accepted': exitCodes.notAccepted,
  inconclusive: exitCodes.inconclusive,
  interrupted: exitCodes.interrupted,
};

/** Returns the exit code for the verdict of a run, the first word of its report. */
export function fleetExitCode(result: FleetResult): ExitCode {
  return codeOf[outcomeOf(result).verdict];
}

/**
 * Converts an expected error of a run to a sentence with a remedy; returns any other error
 * unchanged.
 */
export function fleetError(
  error: unknown,
  plan: Pick<FleetPlan, 'baseUrl' | 'acceptWith' | 'tls'>,
): unknown {
  if (error instanceof PlanError) {
    return new CommandError(`invalid plan: ${error.message}`, exitCodes.usage, error);
  }
  if (error instanceof BehaviourFileError) {
    return new CommandError(error.message, exitCodes.usage, error);
  }
  if (error instanceof IdentityError || error instanceof StateError) {
    return new CommandError(error.message, exitCodes.setUp, error);
  }
  if (error instanceof NotDeployableError) {
    return new CommandError(`${error.message}.`, exitCodes.setUp, error);
  }
  if (error instanceof MergeError) return new CommandError(error.message, exitCodes.setUp, error);
  if (error instanceof ClusterError) {
    const code = error.kind === 'no-result' ? exitCodes.incomplete : exitCodes.setUp;
    return new CommandError(error.message, code, error);
  }
  if (error instanceof WorkerFailed)
    return new CommandError(error.message, knownExitCode(error), error);
  if (!(error instanceof ClientError)) return error;
  const { acceptWith: user } = plan;
  const isRefusal = error instanceof StatusError && error.status === 401;
  if (isRefusal && user && ('token' in user || error.operation === 'login')) {
    return new CommandError(refusedUser(plan.baseUrl, user), exitCodes.setUp, error);
  }
  const unwanted = error instanceof TransportError ? certificateProblem(error, plan) : undefined;
  if (unwanted === undefined) return unreachedError(error, plan.baseUrl);
  return new CommandError(`${plan.baseUrl}: ${unwanted}`, exitCodes.setUp, error);
}

/** Returns the error of a server that a run cannot use, with its address and the remedy. */
function unreachedError(error: ClientError, server: string): CommandError {
  const { message, exitCode } = setupError(error, server);
  if (message.startsWith(server)) return new CommandError(message, exitCode, error);
  const problem = message.replace(/^reach-server: /, '');
  const remedy = message.includes('--url') ? '' : '; check --url and that the server is running';
  return new CommandError(`${server}: ${problem}${remedy}`, exitCode, error);
}

function refusedUser(server: string, user: NonNullable<FleetPlan['acceptWith']>): string {
  if ('token' in user) return `${server} refused the token of --token; get a valid token`;
  return `${server} refused the login of ${user.email}; check --email and --password`;
}

/** TLS alerts with which a server refuses the certificate of a client. */
const refusedCertificate =
  /ALERT_(ACCESS_DENIED|BAD_CERTIFICATE|CERTIFICATE_|HANDSHAKE_FAILURE|UNKNOWN_CA)/;
/** Errors that a client sees when the server refuses its certificate without an alert. */
const cuts: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/**
 * Returns a sentence with a remedy when a TLS server may have refused the client's certificate;
 * undefined otherwise.
 */
function certificateProblem(
  { reason }: TransportError,
  { baseUrl, tls }: Pick<FleetPlan, 'baseUrl' | 'tls'>,
): string | undefined {
  const isRefused = refusedCertificate.test(reason);
  // A cleanup may read its server from a ledger; `baseUrl` is then the name of that file.
  const mayBeTls = !baseUrl.startsWith('http:');
  if (!isRefused && !(mayBeTls && cuts.has(reason))) return undefined;
  const hasCertificate = tls?.certPem !== undefined;
  if (isRefused) {
    return hasCertificate
      ? 'the server does not accept the certificate of --cert; use another one'
      : 'the server requires a client certificate; give one with --cert and --key';
  }
  return hasCertificate
    ? 'the connection was cut; the server may not accept the certificate of --cert'
    : 'the connection was cut; if the server requires a client certificate, give one with --cert and --key';
}

function knownExitCode({ exitCode }: WorkerFailed): ExitCode {
  return Object.values(exitCodes).find((code) => code === exitCode) ?? exitCodes.internal;
}
