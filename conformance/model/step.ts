/** One step of a random life: what it is in words, when it can be taken, and how it is judged. */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { SuiteDevice } from '../context/suite-device.ts';
import type { TestContext } from '../context/test-context.ts';
import type { Answer } from '../target/answer.ts';
import { ExpectationFailure, shownAnswer } from '../target/expectations.ts';
import type { DeviceLife, Life } from './life.ts';

/** A deployment on the target. */
export interface RealPart {
  readonly deploymentId: string;
  /** The id by which the device speaks of it. */
  id: string;
}

/** The target's side of a sequence. */
export interface Reality {
  readonly context: TestContext;
  readonly devices: readonly SuiteDevice[];
  readonly parts: RealPart[];
  /** Notes which way the target took where the contract is silent. */
  readonly note: (matter: string, seen: string) => void;
  /** Reads until it holds or patience ends, since effects may come later. */
  readonly settled: <T>(read: () => Promise<T>, holds: (value: T) => boolean) => Promise<T>;
}

/** One step. What is missed is thrown as an ExpectationFailure that names its requirements. */
export interface Step {
  readonly words: string;
  readonly can: (life: Life) => boolean;
  readonly take: (life: Life, reality: Reality) => Promise<void>;
}

/** The device of the target that the model's index stands for. */
export function realDevice({ devices }: Reality, index: number): SuiteDevice {
  const device = devices[index];
  if (!device) throw new Error(`the sequence has no device ${index}`);
  return device;
}

/** Holds when the answer has one of the statuses; else the requirements are missed. */
export function judge(
  answer: Answer,
  statuses: readonly number[],
  ...because: readonly RequirementId[]
): void {
  if (statuses.includes(answer.status)) return;
  // A token that opens nothing is missed as well: by the newest one every step is taken.
  const missed = answer.status === 401 ? [...because, 'tokens.renewal' as const] : because;
  throw new ExpectationFailure(`status ${statuses.join(' or ')}`, shownAnswer(answer), missed);
}

/** Throws what was missed. */
export function miss(
  expected: string,
  actual: string,
  ...because: readonly RequirementId[]
): never {
  throw new ExpectationFailure(expected, actual, because);
}

/**
 * Judges a call with the device's newest token: one that ended opens nothing. Gives whether the
 * call was let in, so that it may have changed something.
 */
export function isLetIn(device: DeviceLife, answer: Answer): boolean {
  if (device.token === 'good') return true;
  judge(answer, [401, 403], 'tokens.end-with-acceptance');
  return false;
}
