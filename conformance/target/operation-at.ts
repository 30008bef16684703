/** Which operation a request is, by the rows of the contract: method and path below the base URL. */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';

/** Every operation that is known by its path: the contract's, management, artifact files. */
export type KnownOperation =
  | OperationId
  | keyof typeof managementOperations
  | keyof typeof storageOperations;

/** The row of an operation that is known by its path. */
export type KnownRow = Operation & { readonly id: KnownOperation };

/** Every row that is known by its path. */
export const knownRows: readonly KnownRow[] = [
  ...Object.values(operations),
  ...Object.values(managementOperations),
  ...Object.values(storageOperations),
];

/** What the contract says of a method and a path below the base URL. */
export interface Recognized {
  /** None when no row has both method and path. */
  readonly row: KnownRow | undefined;
  /** The rows that have the path, whatever the method; the one with the most fixed path first. */
  readonly rowsAtPath: readonly KnownRow[];
  /** The parts of the path that stand for parameters, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

interface Pattern {
  readonly row: KnownRow;
  readonly pattern: RegExp;
  readonly fixedLength: number;
}

/** Paths that are more fixed come first: `/devices/count` is no device whose id is `count`. */
const patterns: readonly Pattern[] = knownRows
  .map((row) => ({
    row,
    pattern: new RegExp(
      `^${row.path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`,
    ),
    fixedLength: row.path.replace(/\{\w+\}/g, '').length,
  }))
  .sort((one, other) => other.fixedLength - one.fixedLength);

/** Looks a method and a path below the base URL up, the path encoded as it is sent. */
export function recognized(method: string, path: string): Recognized {
  const fitting = patterns.filter(({ pattern }) => pattern.test(path));
  const found = fitting.find(({ row }) => row.method === method);
  const groups = (found ?? fitting[0])?.pattern.exec(path)?.groups ?? {};
  const parameters = Object.entries(groups).map(([name, text]) => [name, decoded(text)]);
  return {
    row: found?.row,
    rowsAtPath: fitting.map(({ row }) => row),
    parameters: Object.fromEntries(parameters),
  };
}

/** A part of a path that is not percent-encoded is kept unchanged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
