/** The operation that a request may have meant, and the list to look up first. */
import type { Operation } from '../../../fixtures/contract/operation.ts';
import { lettersApart } from '../../../fixtures/nearest.ts';
import { mountedOperations } from '../../pipeline/endpoint.ts';

const SEGMENTS_MAX = 12;
/** A segment too many or too few weighs as much as this many wrong letters. */
const SEGMENT_WEIGHT = 4;

const all: readonly Operation[] = Object.values(mountedOperations);

/** The operation with the most similar path; the same method is preferred. */
export function nearestOperation(method: string, path: string): Operation {
  const given = segmentsOf(path);
  const [first, ...others] = all.map((operation) => {
    const otherMethod = operation.method === method ? 0 : 1;
    const retired = operation.deprecated ? 1 : 0;
    return { operation, distance: distanceTo(operation, given) * 4 + otherMethod * 2 + retired };
  });
  if (!first) throw new Error('there are no operations');
  return others.reduce((best, one) => (one.distance < best.distance ? one : best), first).operation;
}

/** The operation of exactly this path, parameters being any text, that takes one of the methods. */
export function operationAt(path: string, methods: readonly string[]): Operation | undefined {
  const given = segmentsOf(path);
  const here = all.filter((operation) => isAt(operation, given));
  return methods
    .map((method) => here.find((operation) => operation.method === method))
    .find((operation) => operation !== undefined);
}

/** The list operation to use when the named resource does not exist, or is in the wrong state. */
export function lookUpFor(operation: Operation): Operation | undefined {
  const wanted = wordsOf(operation.path);
  const owner = wanted[wanted.findIndex((word) => word.startsWith('{')) - 1];
  const lists = all.filter(
    ({ method, path, authorization, deprecated, success }) =>
      method === 'GET' &&
      authorization === operation.authorization &&
      !path.includes('{') &&
      !deprecated &&
      !(101 in success),
  );
  const rated = lists.map((list) => {
    const words = wordsOf(list.path);
    const same = words.findIndex((word, index) => word !== wanted[index]);
    const isOwner = words.at(-1) === owner ? 2 : 0;
    return { list, rate: (same < 0 ? words.length : same) + isOwner };
  });
  return rated.toSorted((one, other) => other.rate - one.rate)[0]?.list;
}

/** The parameters of a path, by position in the path that was sent; not decoded. */
export function parametersIn(
  operation: Pick<Operation, 'path'>,
  path: string,
): Readonly<Record<string, string>> {
  const given = segmentsOf(path);
  const words = segmentsOf(operation.path);
  if (words.length !== given.length) return {};
  const found = words.map((word, index) => [word.slice(1, -1), given[index] ?? ''] as const);
  return Object.fromEntries(found.filter((_, index) => words[index]?.startsWith('{')));
}

function segmentsOf(path: string): string[] {
  return path.split('/', 64).filter((segment) => segment !== '');
}

/** Without the version, which a family of operations may span. */
function wordsOf(path: string): string[] {
  return segmentsOf(path).filter((segment) => !/^v\d+$/.test(segment));
}

function isAt({ path }: Operation, given: readonly string[]): boolean {
  const words = segmentsOf(path);
  return (
    words.length === given.length &&
    words.every((word, index) => word.startsWith('{') || word === given[index])
  );
}

function distanceTo({ path }: Operation, given: readonly string[]): number {
  const words = segmentsOf(path);
  const extra = Math.abs(words.length - given.length) * SEGMENT_WEIGHT;
  return words.slice(0, SEGMENTS_MAX).reduce((sum, word, index) => {
    const other = given[index];
    if (other === undefined) return sum;
    return sum + (word.startsWith('{') ? 0.5 : lettersApart(word, other));
  }, extra);
}
