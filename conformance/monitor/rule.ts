/** The form of a rule of the watch, and ready-made ones for what many operations have in common. */
import * as v from 'valibot';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { expectStatus } from '../target/expectations.ts';
import type { ObservedExchange, Seen, WatchedOperation } from './observed.ts';

/**
 * What the contract demands of a server and what shows, without doubt, in the exchanges of one
 * device: a rule that cannot tell must not apply.
 */
export interface WatchRule {
  readonly requirement: RequirementId;
  readonly operations: readonly WatchedOperation[];
  /** Whether the exchange decides anything; cheap, since it is asked of every exchange. */
  readonly applies: (seen: Seen) => boolean;
  /** Throws an ExpectationFailure when it is broken, NotObservable when nothing is decided. */
  readonly expect: (seen: Seen) => void;
  /** The exchange that shows the breach, when it is an earlier one. */
  readonly about?: (seen: Seen) => ObservedExchange | undefined;
}

/** Bodies up to this size are well within what the contract's limits leave open. */
const SMALL_BODY_BYTES = 4096;

/**
 * Whether the request was refused as malformed although its body has the contract's form, is small,
 * and no longer than one that the server took from this device before.
 */
export function isWronglyRefused(seen: Seen): boolean {
  const { operation, status, sentBytes, device } = seen;
  if (status !== 400 || operation === 'download-artifact') return false;
  const takenBytes = device.taken.get(operation);
  if (takenBytes === undefined || sentBytes > Math.min(takenBytes, SMALL_BODY_BYTES)) return false;
  const { body } = operations[operation] as { readonly body?: v.GenericSchema };
  return body === undefined || v.is(body, seen.sent);
}

/** A request that is taken is answered with this status, and well-formed ones are taken. */
export function succeedsWith(
  status: number,
  operation: OperationId,
  requirement: RequirementId,
): WatchRule {
  return {
    requirement,
    operations: [operation],
    applies: (seen) => seen.isSuccess || isWronglyRefused(seen),
    expect: ({ answer }) => expectStatus(answer, status),
  };
}
