/** One step of a random sequence: its description, when it is possible, and how it is checked. */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { SuiteDevice } from '../context/suite-device.ts';
import type { TestContext } from '../context/test-context.ts';
import { ExpectationFailure, responseSummary } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import type { ExpectedDevice, ExpectedState } from './expected-state.ts';

/** A deployment on the target. */
export interface TargetDeployment {
  readonly deploymentId: string;
  /** The ID that the device uses for the deployment. */
  id: string;
}

/** The target's side of a sequence. */
export interface TargetSide {
  readonly context: TestContext;
  readonly devices: readonly SuiteDevice[];
  readonly deployments: TargetDeployment[];
  /** Records the target's choice where the contract is silent. */
  readonly recordObservation: (matter: string, observation: string) => void;
  /** Reads until the predicate holds or the time limit ends, since effects may be delayed. */
  readonly eventually: <T>(read: () => Promise<T>, holds: (value: T) => boolean) => Promise<T>;
}

/** One step. A violated requirement is thrown as an ExpectationFailure that names it. */
export interface ModelStep {
  readonly title: string;
  readonly isPossible: (expectedState: ExpectedState) => boolean;
  readonly run: (expectedState: ExpectedState, targetSide: TargetSide) => Promise<void>;
}

/** Returns the target's device for the model's index. */
export function targetDevice({ devices }: TargetSide, index: number): SuiteDevice {
  const device = devices[index];
  if (!device) throw new Error(`the sequence has no device ${index}`);
  return device;
}

/**
 * Asserts that the response has one of the statuses; otherwise names the requirements as violated.
 */
export function expectStatus(
  response: HttpResponse,
  statuses: readonly number[],
  ...reason: readonly RequirementId[]
): void {
  if (statuses.includes(response.status)) return;
  // A 401 also violates the requirement on renewed tokens, since every step uses the newest token.
  const violated = response.status === 401 ? [...reason, 'tokens.renewal' as const] : reason;
  throw new ExpectationFailure(
    `status ${statuses.join(' or ')}`,
    responseSummary(response),
    violated,
  );
}

/** Throws an ExpectationFailure that names the violated requirements. */
export function failWith(
  expected: string,
  actual: string,
  ...reason: readonly RequirementId[]
): never {
  throw new ExpectationFailure(expected, actual, reason);
}

/**
 * Checks a call with the device's newest token, which must be refused if it has ended. Returns true
 * when the call was admitted, so that it may have changed something.
 */
export function checkTokenAccess(device: ExpectedDevice, response: HttpResponse): boolean {
  if (device.token === 'valid') return true;
  expectStatus(response, [401, 403], 'tokens.end-with-acceptance');
  return false;
}
