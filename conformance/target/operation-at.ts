/** Finds the operation of a request by its method and its path below the base URL. */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';

/** The ID of an operation of the contract, of the management API, or of artifact storage. */
export type KnownOperation =
  | OperationId
  | keyof typeof managementOperations
  | keyof typeof storageOperations;

/** The row of an operation, with its ID. */
export type KnownRow = Operation & { readonly id: KnownOperation };

/** The rows of all operations that can be recognized by their path. */
export const knownRows: readonly KnownRow[] = [
  ...Object.values(operations),
  ...Object.values(managementOperations),
  ...Object.values(storageOperations),
];

/** The rows of the contract that match a method and a path below the base URL. */
export interface RecognizedOperation {
  /** The row with this method and path; undefined if there is none. */
  readonly row: KnownRow | undefined;
  /** The rows that match the path with any method, the row with the fewest parameters first. */
  readonly rowsAtPath: readonly KnownRow[];
  /** The values of the path parameters by name, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

interface PathPattern {
  readonly row: KnownRow;
  readonly pattern: RegExp;
  readonly fixedLength: number;
}

/** Paths with more literal text come first, so that `/devices/count` is not read as a device ID. */
const patterns: readonly PathPattern[] = knownRows
  .map((row) => ({
    row,
    pattern: new RegExp(
      `^${row.path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`,
    ),
    fixedLength: row.path.replace(/\{\w+\}/g, '').length,
  }))
  .sort((one, other) => other.fixedLength - one.fixedLength);

/** The patterns by the number of segments of their paths, since every exchange is looked up. */
const patternsByLength: ReadonlyMap<number, readonly PathPattern[]> = new Map(
  patterns.map(({ row }) => {
    const length = segmentCount(row.path);
    return [length, patterns.filter((other) => segmentCount(other.row.path) === length)];
  }),
);

function segmentCount(path: string): number {
  return path.split('/').length;
}

/** Percent-encoded characters that mean the same unencoded. RFC 3986, section 2.3 */
const encodedUnreserved = /%(?:2[DE]|3\d|4[1-9A-F]|5[\dAF]|6[1-9A-F]|7[\dAE])/gi;

/** Returns the rows that match a method and a path below the base URL, encoded as it is sent. */
export function recognizeRequest(method: string, sentPath: string): RecognizedOperation {
  const path = sentPath.replace(encodedUnreserved, decodeURIComponent);
  const ofLength = patternsByLength.get(segmentCount(path)) ?? [];
  const fitting = ofLength.filter(({ pattern }) => pattern.test(path));
  const match = fitting.find(({ row }) => row.method === method);
  const groups = (match ?? fitting[0])?.pattern.exec(path)?.groups ?? {};
  const parameters = Object.entries(groups).map(([name, text]) => [name, decoded(text)]);
  return {
    row: match?.row,
    rowsAtPath: fitting.map(({ row }) => row),
    parameters: Object.fromEntries(parameters),
  };
}

/** Decodes a path parameter; returns it unchanged if its percent-encoding is invalid. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
