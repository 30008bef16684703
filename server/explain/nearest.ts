/**
 * Finds the operation that a request may have meant, and the list operation to look a resource up.
 */
import { editDistance } from '../../fixtures/base/nearest.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';

const SEGMENTS_MAX = 16;
/** Costs of the differences between two paths. The cost of an entirely different segment is 1. */
const costs = { version: 0.4, family: 1, parameter: 0.2, method: 0.15, retired: 0.1 } as const;

const version = /^v\d+$/;
/** The first segments of paths after `/api`, for devices and for users. */
const families: ReadonlySet<string> = new Set(['devices', 'management']);

/**
 * Two paths are not similar if more than this share of their segments is different, missing or
 * superfluous.
 */
const SIMILAR_MAX_SHARE = 0.4;

/** The operation whose path is most similar to the sent one. */
interface NearestOperation {
  readonly operation: Operation;
  /** False if the path has little in common with the path of any operation. */
  readonly isSimilar: boolean;
  /** The total cost of the differences, as in `costs`. */
  readonly distance: number;
}

/**
 * Returns the operation with the most similar path, preferably with the same method. Case is
 * ignored, and segments may be missing or superfluous.
 */
export function nearestOperation(
  method: string,
  path: string,
  operations: readonly Operation[],
): NearestOperation {
  const sentSegments = segmentsOf(path.toLowerCase());
  const changeCost = rememberedCosts();
  const [first, ...otherCandidates] = operations.map((operation) => {
    const otherMethod = operation.method === method ? 0 : costs.method;
    const retired = operation.deprecated ? costs.retired : 0;
    return {
      operation,
      distance: distanceTo(operation, sentSegments, changeCost) + otherMethod + retired,
    };
  });
  if (!first) throw new Error('there are no operations');
  const best = otherCandidates.reduce(
    (nearer, one) => (one.distance < nearer.distance ? one : nearer),
    first,
  );
  const segments = segmentsOf(best.operation.path);
  return {
    operation: best.operation,
    distance: best.distance,
    isSimilar: best.distance <= SIMILAR_MAX_SHARE * segments.length,
  };
}

/** Writing methods. Methods for partial changes come first. */
const writes: ReadonlySet<string> = new Set(['PATCH', 'PUT', 'POST']);

/** Returns the method, followed by the other writing methods if it is one. */
export function methodsLike(method: string): readonly string[] {
  return writes.has(method) ? [method, ...writes] : [method];
}

/**
 * Returns true if a request with this method may have meant the operation. A read is never turned
 * into a write, nor a partial change into a complete replacement.
 */
export function mayBeMeant(
  method: string,
  { method: operationMethod, success }: Operation,
): boolean {
  const reads = operationMethod === 'GET' && !(101 in success);
  const replaces = method === 'PATCH' && operationMethod === 'PUT';
  return (
    operationMethod === method ||
    reads ||
    (writes.has(method) && writes.has(operationMethod) && !replaces)
  );
}

/** Returns true if the operation's path has fewer segments than the sent path. */
export function isWider({ path }: Operation, sent: string): boolean {
  return segmentsOf(path).length < segmentsOf(sent).length;
}

/** Returns the operation with the same method whose path differs only in the version. */
export function otherVersionOf(
  method: string,
  path: string,
  operations: readonly Operation[],
): Operation | undefined {
  const segments = segmentsWithoutParameters(path);
  return operations.find((one) => {
    const pathSegments = segmentsWithoutParameters(one.path);
    return (
      one.method === method &&
      pathSegments.length === segments.length &&
      fits(pathSegments, segments)
    );
  });
}

/**
 * Returns the operation with exactly this path and one of the methods. Path parameters match any
 * text.
 */
export function operationAt(
  path: string,
  methods: readonly string[],
  operations: readonly Operation[],
): Operation | undefined {
  const segments = segmentsOf(path);
  const pathOperations = operations.filter((operation) => isAt(operation, segments));
  return methods
    .map((method) => pathOperations.find((operation) => operation.method === method))
    .find((operation) => operation !== undefined);
}

/**
 * Returns the list operation to use if the named resource does not exist or is in the wrong state.
 */
export function listOperationFor(
  operation: Operation,
  operations: readonly Operation[],
): Operation | undefined {
  const operationSegments = segmentsWithoutParameters(operation.path);
  const precedingSegment =
    operationSegments[operationSegments.findIndex((word) => word.startsWith('{')) - 1];
  const owner = precedingSegment === 'device' ? 'devices' : precedingSegment;
  const lists = operations.filter(
    ({ method, path, authorization, deprecated, success }) =>
      method === 'GET' &&
      authorization === operation.authorization &&
      !path.includes('{') &&
      !deprecated &&
      !(101 in success),
  );
  const isServiceOperation = ({ path }: Operation): boolean =>
    segmentsWithoutParameters(path)[2] === operationSegments[2];
  const candidateLists = lists.some(isServiceOperation) ? lists.filter(isServiceOperation) : lists;
  const rated = candidateLists.map((list) => {
    const pathSegments = segmentsWithoutParameters(list.path);
    const firstDifference = pathSegments.findIndex(
      (word, index) => word !== operationSegments[index],
    );
    const isOwner = pathSegments.at(-1) === owner ? 2 : 0;
    const isWhole = firstDifference < 0 && pathSegments.length === operationSegments.length ? 1 : 0;
    return {
      list,
      rate: (firstDifference < 0 ? pathSegments.length : firstDifference) + isOwner + isWhole,
    };
  });
  return rated.toSorted((one, other) => other.rate - one.rate)[0]?.list;
}

/** Returns the path parameters by their position in the sent path, not decoded. */
export function parametersIn(
  operation: Pick<Operation, 'path'>,
  path: string,
): Readonly<Record<string, string>> {
  const segments = segmentsOf(path);
  const pathSegments = segmentsOf(operation.path);
  if (pathSegments.length !== segments.length) return {};
  const pairs = pathSegments.map(
    (word, index) => [word.slice(1, -1), segments[index] ?? ''] as const,
  );
  return Object.fromEntries(pairs.filter((_, index) => pathSegments[index]?.startsWith('{')));
}

function segmentsOf(path: string): string[] {
  return path.split('/', 64).filter((segment) => segment !== '');
}

/** Returns the segments without the version, because an operation may exist in several versions. */
function segmentsWithoutParameters(path: string): string[] {
  return segmentsOf(path).filter((segment) => !version.test(segment));
}

function isAt({ path }: Operation, given: readonly string[]): boolean {
  const pathSegments = segmentsOf(path);
  return pathSegments.length === given.length && fits(pathSegments, given);
}

function fits(pathSegments: readonly string[], given: readonly string[]): boolean {
  return pathSegments.every((word, index) => word.startsWith('{') || word === given[index]);
}

/**
 * Returns the lowest total cost of changing, omitting and inserting segments that turns one path
 * into the other.
 */
function distanceTo(
  { path }: Operation,
  segments: readonly string[],
  changeCost: ChangeCost,
): number {
  const requestSegments = segments.slice(0, SEGMENTS_MAX);
  let row = [0];
  for (const segment of requestSegments) row.push((row.at(-1) ?? 0) + costOf(segment));
  for (const word of segmentsOf(path)) {
    const next = [(row[0] ?? 0) + costOf(word)];
    for (const [at, segment] of requestSegments.entries()) {
      const changedCost = (row[at] ?? 0) + changeCost(word, segment);
      const missingCost = (row[at + 1] ?? 0) + costOf(word);
      const surplusCost = (next[at] ?? 0) + costOf(segment);
      next.push(Math.min(changedCost, missingCost, surplusCost));
    }
    row = next;
  }
  return (row.at(-1) ?? 0) + segments.length - requestSegments.length;
}

function costOf(segment: string): number {
  return version.test(segment) ? costs.version : 1;
}

type ChangeCost = (word: string, segment: string) => number;

/**
 * Returns a function that computes the cost of a change once, because operations share most of
 * their segments.
 */
function rememberedCosts(): ChangeCost {
  const costs = new Map<string, number>();
  return (word, segment) => {
    const both = `${word}/${segment}`;
    const cost = costs.get(both) ?? costOfChange(word, segment);
    costs.set(both, cost);
    return cost;
  };
}

function costOfChange(word: string, segment: string): number {
  if (word === segment) return 0;
  if (word.startsWith('{')) return costs.parameter;
  if (version.test(word) && version.test(segment)) return costs.version;
  if (families.has(word) && families.has(segment)) return costs.family;
  return (2 * editDistance(word, segment)) / Math.max(word.length, segment.length);
}
