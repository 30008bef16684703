/** Maps each part of an operation's successful response to the requirement that covers the part. */
import type { OperationId } from '../../fixtures/contract/operations.ts';
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import { isTimestamp, timestampMs } from '../../fixtures/contract/text.ts';

interface RequiredMember {
  readonly requirement: RequirementId;
  readonly steps: readonly string[];
}

const records: readonly Requirement[] = Object.values(requirements);
const partsByOperation = new Map<OperationId, readonly RequiredMember[]>();

function partsOf(operation: OperationId): readonly RequiredMember[] {
  const cachedParts = partsByOperation.get(operation);
  if (cachedParts) return cachedParts;
  const parts = records.flatMap(({ id, operations, responsePart }): readonly RequiredMember[] => {
    if (responsePart === undefined || !operations.includes(operation)) return [];
    return [{ requirement: id as RequirementId, steps: responsePart.split('.') }];
  });
  partsByOperation.set(operation, parts);
  return parts;
}

/**
 * Returns the requirement that covers a part of an operation's successful response, or else the
 * requirement that covers the nearest enclosing part.
 * @param steps `status`, or `body` and the names on the path to the member
 * @throws when no requirement covers any part of the operation's responses
 */
export function requirementOn(operation: OperationId, steps: readonly string[]): RequirementId {
  const holding = partsOf(operation).filter(
    (part) =>
      part.steps.length <= steps.length &&
      part.steps.every((step, index) => step === '*' || step === steps[index]),
  );
  const [nearest] = holding.toSorted((one, other) => other.steps.length - one.steps.length);
  const responsePart = nearest ?? partsOf(operation)[0];
  if (!responsePart) throw new Error(`no requirement covers the responses of ${operation}`);
  return responsePart.requirement;
}

/** Returns the paths of the URLs in the operation's successful response, as steps from the body. */
export function linkPaths(operation: OperationId): readonly (readonly string[])[] {
  return partsOf(operation)
    .filter(({ steps }) => steps.at(-1) === 'uri')
    .map(({ steps }) => steps.slice(1));
}

/** Returns the member at a path; undefined if there is none. */
export function memberAt(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((inner, step) => {
    const isObject = typeof inner === 'object' && inner !== null;
    return isObject ? (inner as Readonly<Record<string, unknown>>)[step] : undefined;
  }, value);
}

/** Parses a date-time to milliseconds since the Unix epoch; returns undefined for other values. */
export function timeOf(value: unknown): number | undefined {
  return typeof value === 'string' && isTimestamp(value) ? timestampMs(value) : undefined;
}
