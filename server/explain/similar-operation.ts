/**
 * Finds the operation that a request to an unknown path may have meant, under this server's
 * dialects.
 */
import { editDistance } from '../../fixtures/base/nearest.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { mountedOperations } from '../pipeline/endpoint.ts';
import {
  type AbsentOperation,
  dialectWithout,
  type ListenerName,
  listenerOf,
  type MountedServer,
  type UnknownPath,
} from '../pipeline/mounted.ts';
import { mayBeMeant, nearestOperation, operationAt } from './nearest.ts';
import type { ReceivedRequest } from './received-request.ts';

/** The operation that a request to an unknown path may have meant. */
export interface IntendedOperation {
  /** The expected path, as a phrase. */
  readonly expected: string;
  /** The remedy as a phrase, if another path alone does not help. */
  readonly remedy?: string;
  /** The operation to call; undefined if nothing replaces the missing one. */
  readonly operation: Operation | undefined;
  /** The listener that has the operation, if it is another one than the request's. */
  readonly at?: ListenerName;
}

const all: readonly Operation[] = Object.values(mountedOperations);
const apiOperation: Operation = operations['post-auth-request'];
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Returns the operations that the server offers under its dialects, on any listener. */
export function operationsOf({ dialects }: MountedServer): readonly Operation[] {
  return all.filter((operation) => listenerOf(operation, dialects) !== undefined);
}

/**
 * Returns the operations that a path may have been meant for. Links to files are included only for
 * similar paths, because they are rarely typed.
 */
function typedOf(path: string, mounts: MountedServer): readonly Operation[] {
  // Operations that the dialects lack come last, so that an available one wins if both are equally
  // similar.
  const candidates = [...new Set([...operationsOf(mounts), ...all])];
  const [, start = ''] = path.split('/');
  const isNear = editDistance(start, 'storage') <= STORAGE_LETTERS_MAX;
  return isNear ? candidates : candidates.filter(({ id }) => !(id in storageOperations));
}

/** Maximum edit distance to `storage` at which a first segment may belong to a link to a file. */
const STORAGE_LETTERS_MAX = 2;

/** Returns the operation that a request to an unknown path of this listener may have meant. */
export function similarOperationOf(
  { method, path }: ReceivedRequest,
  { operations: here, mounts }: UnknownPath,
): IntendedOperation {
  // An exact path of an operation on another listener, or of one that the dialects lack, needs no
  // search.
  const exactOperation = operationAt(path, [method, ...methods], all);
  const intendedOperation = exactOperation ?? similarTo(method, path, mounts);
  const absence = intendedOperation && dialectWithout(intendedOperation, mounts.dialects);
  if (intendedOperation && absence) return insteadOf(intendedOperation, absence);
  const at = intendedOperation && listenerOf(intendedOperation, mounts.dialects);
  if (intendedOperation && at && !here.includes(intendedOperation))
    return elsewhere(intendedOperation, at, mounts);
  if (intendedOperation)
    return {
      expected: `${intendedOperation.method} ${intendedOperation.path}`,
      operation: intendedOperation,
    };
  if (!here.includes(apiOperation)) {
    const expected =
      'an artifact link exactly as the server issued it: this port has no other paths';
    return { expected, operation: undefined };
  }
  const example = `${apiOperation.method} ${apiOperation.path}`;
  return { expected: `a path of the API, such as ${example}`, operation: undefined };
}

/**
 * Returns the most similar operation. One that the dialects lack is returned only if the path is
 * nearly exact.
 */
function similarTo(method: string, path: string, mounts: MountedServer): Operation | undefined {
  const typed = typedOf(path, mounts).filter((operation) => mayBeMeant(method, operation));
  const nearest = nearestOperation(method, path, typed);
  const isAbsent = dialectWithout(nearest.operation, mounts.dialects) !== undefined;
  const match =
    isAbsent && nearest.distance > TYPING_ERROR
      ? nearestOperation(
          method,
          path,
          operationsOf(mounts).filter((one) => typed.includes(one)),
        )
      : nearest;
  return match.isSimilar ? match.operation : undefined;
}

/** Distance of a path with a few wrong letters or another version, as in `costs`. */
const TYPING_ERROR = 0.8;

function insteadOf(
  meant: Operation,
  { dialect, name, remedy, instead }: AbsentOperation,
): IntendedOperation {
  const operation = instead === undefined ? undefined : mountedOperations[instead];
  const operationText = operation ? `: ${operation.method} ${operation.path}` : '';
  return {
    expected: `a path that exists in the dialect ${dialect}; it has no ${name} (${meant.method} ${meant.path})`,
    remedy: `${remedy}${operationText}; or start the server without --dialect ${dialect}`,
    operation,
  };
}

function elsewhere(meant: Operation, at: ListenerName, mounts: MountedServer): IntendedOperation {
  const url = urlOf(at, mounts);
  const why =
    at === 'storage'
      ? 'the dialect storage-host serves artifact files on another port'
      : 'the dialect storage-host serves only artifact files on this port';
  return {
    expected: `${meant.method} ${meant.path} at ${url}, because ${why}`,
    remedy: `send the request to ${url}`,
    operation: meant,
    at,
  };
}

/** Returns the base URL of a listener. */
export function urlOf(at: ListenerName, { addresses }: MountedServer): string {
  return at === 'storage' ? (addresses.storage ?? addresses.api) : addresses.api;
}
