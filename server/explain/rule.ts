/** Finds the rule of the contract behind a refusal. Spec: Errors */
import type { Operation } from '../../fixtures/contract/operation.ts';
import { requirements } from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import type { Refusal } from '../http/refusal.ts';

/** A rule, and the IDs of the requirements that state it. */
interface BrokenRule {
  readonly heading: string;
  readonly sentence: string;
  readonly requirements: readonly string[];
}

const sentences: Readonly<Record<number, string>> = {
  400: 'A request that is malformed, or lacks what the operation requires, is answered with 400.',
  401: 'A request that does not prove who sends it is answered with 401.',
  403: 'A request that the sender is not permitted to make is answered with 403.',
  404: 'A request for something that does not exist or is not visible to the caller is answered with 404.',
  405: 'A path accepts only the methods of its operations.',
  408: 'A device that does not answer in time leaves the request unanswered.',
  409: 'A request that the current state does not allow is answered with 409.',
  410: 'An operation is removed at its end of life.',
  412: 'A request is executed only if the preconditions in its headers hold.',
  413: 'A body must not exceed the size limit.',
  415: 'Bodies are JSON unless the operation says otherwise.',
  416: 'A range must lie within the file.',
  422: 'A request that is well-formed but cannot be fulfilled is answered with 422.',
  429: 'A client that sends too many requests is answered with 429 and must wait.',
  502: 'A device that disconnects leaves the request unanswered.',
};

/** The requirements that say what is refused. */
const refusing: readonly Requirement[] = Object.values(requirements).filter(
  ({ refuses }: Requirement) => refuses !== undefined,
);

/**
 * Returns the rule by which a request was refused. `operation` is undefined for an unknown path.
 */
export function ruleOf(refusal: Refusal, operation: Operation | undefined): BrokenRule {
  const { status, detail } = refusal;
  const decided =
    findNamedRequirement(refusal, operation) ??
    own(refusal, operation) ??
    general(status, operation);
  // A requirement that leaves the status open does not say why the server refuses.
  const stated = decided?.level === 'may' ? undefined : decided?.sentence;
  return {
    heading: headingOf(status, operation),
    sentence:
      detail?.rule ?? stated ?? sentences[status] ?? 'An unexpected error is answered with 500.',
    requirements: decided === undefined ? [] : [decided.id],
  };
}

/** Returns the requirement that the refusal names, if it applies to the operation. */
function findNamedRequirement(
  { detail }: Refusal,
  operation: Operation | undefined,
): Requirement | undefined {
  const all: readonly Requirement[] = Object.values(requirements);
  const requirement = all.find(({ id }) => id === detail?.requirement);
  return requirement && (requirement.operations.length === 0 || isOf(operation, requirement))
    ? requirement
    : undefined;
}

function isOf(operation: Operation | undefined, { operations }: Requirement): boolean {
  return operations.some((id) => id === operation?.id);
}

function headingOf(status: number, operation: Operation | undefined): string {
  if (status === 401) return 'Authentication';
  if (status === 410) return 'Versioning';
  return status === 413 || !operation ? 'Errors' : operation.heading;
}

/** Returns the operation's requirement about the refused part, else about the status. */
function own(refusal: Refusal, operation: Operation | undefined): Requirement | undefined {
  const ofOperation = refusing.filter((requirement) => isOf(operation, requirement));
  const { status, detail } = refusal;
  if (status !== 400) return ofOperation.find(({ refuses }) => refuses === status);
  const { path = '', actual } = detail ?? {};
  return ofOperation
    .flatMap((requirement) => {
      const part = refusedPart(requirement, actual);
      return part !== undefined && isWithin(path, part) ? [{ part, requirement }] : [];
    })
    .sort((one, other) => wildcards(one.part) - wildcards(other.part))[0]?.requirement;
}

/** Returns the part that a requirement refuses for what was received. */
function refusedPart({ refuses }: Requirement, actual = ''): string | undefined {
  if (typeof refuses !== 'object') return undefined;
  if (actual === 'nothing') return refuses.missing;
  return actual.startsWith('"') ? refuses.string : refuses.otherType;
}

function isWithin(path: string, part: string): boolean {
  const pattern = part
    .split('.')
    .map((member) => ({ '*': '[^.]+', '**': '.+' })[member] ?? member)
    .join('\\.');
  return new RegExp(`^${pattern}$`).test(path);
}

function wildcards(part: string): number {
  return part.split('*').length;
}

/** Returns the requirement on all operations; a path of an operation is refused by its own. */
function general(status: number, operation: Operation | undefined): Requirement | undefined {
  const concernsPath = status === 404 || status === 405;
  if (concernsPath && operation) return undefined;
  return refusing.find(({ operations, refuses }) => operations.length === 0 && refuses === status);
}
