/**
 * Determines which listener serves an operation under the server's dialects, and which operations
 * none serves.
 */
import {
  type DialectName,
  type MissingApi,
  operationsAbsentIn,
} from '../../fixtures/contract/dialects.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { Addresses } from '../http/addresses.ts';

/** The listener that serves an operation; `storage` serves artifact files. */
export type ListenerName = 'api' | 'storage';

/** An operation that a dialect omits, with the name of that dialect. */
export interface AbsentOperation extends MissingApi {
  readonly dialect: DialectName;
}

/** Returns the first of these dialects that omits the operation; undefined when none does. */
export function dialectWithout(
  { path }: Pick<Operation, 'path'>,
  dialects: ReadonlySet<DialectName>,
): AbsentOperation | undefined {
  for (const dialect of dialects) {
    const absence = operationsAbsentIn[dialect]?.find(({ prefix }) => path.startsWith(prefix));
    if (absence) return { ...absence, dialect };
  }
  return undefined;
}

/** Returns the listener that serves the operation; undefined when a dialect omits it. */
export function listenerOf(
  operation: Pick<Operation, 'id' | 'path'>,
  dialects: ReadonlySet<DialectName>,
): ListenerName | undefined {
  if (dialectWithout(operation, dialects)) return undefined;
  return dialects.has('storage-host') && operation.id in storageOperations ? 'storage' : 'api';
}

/** The server's dialects and the addresses of its listeners. */
export interface MountedServer {
  readonly dialects: ReadonlySet<DialectName>;
  /** The addresses; filled in as listeners open. */
  readonly addresses: Readonly<Addresses>;
}

/** Evidence in the refusal of an unknown path: what the listener and the server do serve. */
export class UnknownPath {
  /** The operations that this listener serves. */
  readonly operations: readonly Operation[];
  /** Dialects and addresses of the whole server. */
  readonly mounts: MountedServer;

  constructor(operations: readonly Operation[], mounts: MountedServer) {
    this.operations = operations;
    this.mounts = mounts;
  }
}
