/** Finds the rule of the contract behind a refusal. Spec: Errors */
import type { Operation } from '../../fixtures/contract/operation.ts';
import { requirements } from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import type { Refusal } from '../http/refusal.ts';

/** A rule, and the ids of the requirements that state it. */
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

const all: readonly Requirement[] = Object.values(requirements);

/**
 * Requirements that apply to all operations, by status. Used if no requirement of the operation
 * itself matches.
 */
const ofFaults: Readonly<Record<number, string>> = {
  401: 'tokens.invalid-is-401',
  404: 'errors.unknown-path',
  405: 'errors.wrong-method',
  413: 'errors.body-too-large',
  415: 'errors.media-type',
  429: 'errors.too-many-requests-is-429',
  500: 'errors.unexpected-is-500',
};

/**
 * Returns the rule by which a request was refused. `operation` is undefined for an unknown path.
 */
export function ruleOf(refusal: Refusal, operation: Operation | undefined): BrokenRule {
  const { status, detail } = refusal;
  const named = detail?.requirement;
  const isOther = named !== undefined && !concerns(named, operation);
  const decided =
    named !== undefined && !isOther
      ? named
      : (own(refusal, operation) ?? general(status, operation));
  return {
    heading: headingOf(status, operation),
    sentence: detail?.rule ?? sentences[status] ?? 'An unexpected error is answered with 500.',
    requirements: decided === undefined ? [] : [decided],
  };
}

/** Returns true if a requirement applies to the operation or to all operations. */
function concerns(id: string, operation: Operation | undefined): boolean {
  const { operations = [] } = all.find((one) => one.id === id) ?? {};
  return operations.length === 0 || operations.some((one) => one === operation?.id);
}

function headingOf(status: number, operation: Operation | undefined): string {
  if (status === 401) return 'Authentication';
  if (status === 410) return 'Versioning';
  return status === 413 || !operation ? 'Errors' : operation.heading;
}

/**
 * Returns the id of the operation's requirement about this status, and about the wrong field if
 * there is one.
 */
function own({ status, detail }: Refusal, operation: Operation | undefined): string | undefined {
  const ofStatus = all.filter(
    ({ sentence, operations, level }) =>
      level !== 'may' &&
      sentence.includes(String(status)) &&
      operations.some((id) => id === operation?.id),
  );
  // If several requirements concern the caller's identity, only the refusal itself can say which
  // one was broken.
  const isOfCaller = status === 401 || status === 403;
  if (status !== 400) return isOfCaller && ofStatus.length > 1 ? undefined : ofStatus[0]?.id;
  const { path = '', expected = '', actual } = detail ?? {};
  const isMissing = actual === 'nothing';
  const isMember = path.includes('.');
  // The contract's requirements about a whole body only say of which type it is.
  if (!isMember && !/^(JSON|an object|an array|a body)\b/.test(expected)) return undefined;
  const isText = actual?.startsWith('"') ?? false;
  const about = ofStatus
    .filter(({ sentence }) => !(isText && /another type|is not a string/.test(sentence)))
    .filter(({ sentence }) =>
      isMember ? sentence.includes(`\`${path.split('.').at(-1)}\``) : /\bbody\b/.test(sentence),
    );
  const absent = /required|without|lacks/;
  return about.find(({ sentence }) =>
    isMember || isMissing ? absent.test(sentence) === isMissing : /\bJSON\b/.test(sentence),
  )?.id;
}

function general(status: number, operation: Operation | undefined): string | undefined {
  const isOfPath = status === 404 || status === 405;
  return isOfPath && operation ? undefined : ofFaults[status];
}
