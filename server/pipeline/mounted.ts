/** Which listener has an operation under the dialects of the server, and which have none. */

import { type Absence, absences, type DialectName } from '../../fixtures/contract/dialects.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { Addresses } from '../http/addresses.ts';

/** The listener that an operation is mounted on; `storage` serves artifact files. */
export type ListenerName = 'api' | 'storage';

/** The dialect that lacks an operation. */
export interface AbsentOperation extends Absence {
  readonly dialect: DialectName;
}

/** The first of these dialects that lacks the operation; undefined where it is mounted. */
export function absenceOf(
  { path }: Pick<Operation, 'path'>,
  dialects: ReadonlySet<DialectName>,
): AbsentOperation | undefined {
  for (const dialect of dialects) {
    const absence = absences[dialect]?.find(({ beginning }) => path.startsWith(beginning));
    if (absence) return { ...absence, dialect };
  }
  return undefined;
}

/** The listener that serves the operation; undefined where a dialect lacks it. */
export function listenerOf(
  operation: Pick<Operation, 'id' | 'path'>,
  dialects: ReadonlySet<DialectName>,
): ListenerName | undefined {
  if (absenceOf(operation, dialects)) return undefined;
  return dialects.has('storage-host') && operation.id in storageOperations ? 'storage' : 'api';
}

/** What the server has, and where. */
export interface Mounts {
  readonly dialects: ReadonlySet<DialectName>;
  /** Filled in as listeners open. */
  readonly addresses: Readonly<Addresses>;
}

/** Kept with the refusal of a path that a listener does not have: which listener it was. */
export class UnknownPath {
  /** The operations that this listener serves. */
  readonly operations: readonly Operation[];
  /** What the whole server has. */
  readonly mounts: Mounts;

  constructor(operations: readonly Operation[], mounts: Mounts) {
    this.operations = operations;
    this.mounts = mounts;
  }
}
