/**
 * Passive checks of the bodies of responses and their media types.
 * Spec: Resources and their fields; Endpoints
 */
import * as v from 'valibot';
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import { describeValue, responseSummary } from '../../target/expectations.ts';
import type { PassiveCheck, Violation } from '../check.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import { linkPaths, memberAt, requirementOn } from '../response-parts.ts';
import { hasErrorBody } from './errors.ts';

const jsonLabel = /^application\/([\w.-]+\+)?json\s*(;|$)/i;
const foreignLabel = /^(application\/([\w.-]+\+)?json|text\/html)\s*(;|$)/i;

/** Returns the documented form of a success with this status; undefined if there is none. */
function documentedSuccess({ operation, status, hasBody }: JudgedExchange) {
  return hasBody ? operation.success[status] : undefined;
}

/** Returns true if the contract documents a JSON shape for the body. */
function hasShape(exchange: JudgedExchange): boolean {
  const success = documentedSuccess(exchange);
  return success?.shape !== undefined && success.mediaType === undefined;
}

function ofContract(applies: (exchange: JudgedExchange) => boolean): PassiveCheck['applies'] {
  return (exchange) => exchange.contractOperation !== undefined && applies(exchange);
}

/** Returns true for issues on open points: unknown actions, and a null update control map. */
function isLeftOpen({ path, type, input }: v.BaseIssue<unknown>): boolean {
  const lastKey = path?.at(-1)?.key;
  if (lastKey === 'action' && type === 'picklist' && typeof input === 'string') return true;
  return lastKey === 'update_control_map' && input === null;
}

/** Returns the first issue that is not an open point. The full parse runs only after an issue. */
function issueOf(shape: v.GenericSchema, value: unknown): v.BaseIssue<unknown> | undefined {
  if (v.safeParse(shape, value, { abortEarly: true }).success) return undefined;
  return v.safeParse(shape, value).issues?.find((issue) => !isLeftOpen(issue));
}

/** Returns the path to the issue, without the index if the body itself is a list. */
function stepsTo(issue: v.BaseIssue<unknown>): readonly string[] {
  const keys = issue.path?.map(({ key }) => key) ?? [];
  return (typeof keys[0] === 'number' ? keys.slice(1) : keys).map(String);
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  Array: 'a list',
  Object: 'an object',
};

/** Describes the type and the value in a few words. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'none';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `the list ${describeValue(value)}`;
  return `the ${typeof value === 'string' ? 'text' : typeof value} ${describeValue(value)}`;
}

function shapeViolation(
  operation: OperationId,
  issue: v.BaseIssue<unknown>,
  { status }: JudgedExchange,
): Violation {
  const { expected, message } = issue;
  const lastItem = issue.path?.at(-1);
  const value = lastItem ? lastItem.value : issue.input;
  const kind = value === undefined ? 'there' : kinds[expected ?? ''];
  const steps = issue.path?.map(({ key }) => String(key)) ?? [];
  return {
    part: `${status} body: /${steps.join('/')}`,
    expected: kind === undefined ? `fit: ${message}` : `be ${kind}`,
    actual: kindOf(value),
    requirement: requirementOn(operation, ['body', ...stepsTo(issue)]),
  };
}

function isAbsoluteUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  return /^https?:$/.test(new URL(value).protocol);
}

function badLink(
  operation: OperationId,
  { responseJson, status }: JudgedExchange,
): Violation | undefined {
  for (const steps of linkPaths(operation)) {
    const link = memberAt(responseJson, steps);
    if (link === undefined || isAbsoluteUrl(link)) continue;
    return {
      part: `${status} body: /${steps.join('/')}`,
      expected: 'be an absolute URL',
      actual: kindOf(link),
      requirement: requirementOn(operation, ['body', ...steps]),
    };
  }
  return undefined;
}

/** Spec: What the service does, "Request and response bodies are JSON unless stated otherwise" */
export const bodyChecks: readonly PassiveCheck[] = [
  {
    id: 'body-is-json',
    requirement: 'service.bodies-are-json',
    applies: (exchange) => hasShape(exchange) || hasErrorBody(exchange),
    violation: ({ responseJson, status, response }) => {
      if (responseJson !== undefined) return undefined;
      return { part: `${status} body`, expected: 'be JSON', actual: responseSummary(response) };
    },
  },
  {
    id: 'body-fits-its-shape',
    applies: ofContract((exchange) => hasShape(exchange) && exchange.responseJson !== undefined),
    violation: (exchange) => {
      const { contractOperation: operation, responseJson } = exchange;
      const shape = documentedSuccess(exchange)?.shape;
      if (operation === undefined || shape === undefined) return undefined;
      const issue = issueOf(shape, responseJson);
      return issue ? shapeViolation(operation, issue, exchange) : badLink(operation, exchange);
    },
  },
  {
    id: 'no-body',
    applies: ofContract(({ operation, status, hasBody }) => {
      const isEmpty = Object.values(operation.success).every(
        ({ shape, mediaType }) => shape === undefined && mediaType === undefined,
      );
      return hasBody && status >= 200 && status < 300 && isEmpty;
    }),
    violation: ({ response, status, contractOperation: operation }) => {
      if (response.bytes.length === 0 || operation === undefined) return undefined;
      const requirement = requirementOn(operation, ['body']);
      return {
        part: `${status} body`,
        expected: 'be empty',
        actual: responseSummary(response),
        requirement,
      };
    },
  },
  {
    id: 'token-is-bare',
    requirement: 'auth.token-is-plain-text',
    applies: ({ operation, status, hasBody }) =>
      operation.id === 'post-auth-request' && status === 200 && hasBody,
    violation: ({ response, status }) =>
      /^[^\s"{}<>]+$/.test(response.text)
        ? undefined
        : {
            part: `${status} body`,
            expected: 'be a bare token',
            actual: responseSummary(response),
          },
  },
  {
    id: 'json-is-labelled',
    requirement: 'service.json-is-labelled',
    applies: ofContract(
      (exchange) =>
        exchange.responseJson !== undefined &&
        exchange.hasBody &&
        (hasShape(exchange) || exchange.isNamedRefusal),
    ),
    violation: ({ response, status }) => {
      const label = response.headers['content-type'] ?? '';
      if (jsonLabel.test(label)) return undefined;
      return {
        part: `${status} Content-Type`,
        expected: 'be JSON',
        actual: describeValue(label || 'none'),
      };
    },
  },
  {
    id: 'export-is-labelled',
    requirement: 'audit.export-media-type',
    applies: ({ operation, status }) => operation.id === 'export-audit-logs' && status === 200,
    violation: ({ response, status }) => {
      const label = response.headers['content-type'] ?? '';
      if (/^text\/csv\s*(;|$)/i.test(label)) return undefined;
      return {
        part: `${status} Content-Type`,
        expected: 'be text/csv',
        actual: describeValue(label || 'none'),
      };
    },
  },
  {
    id: 'other-media-types',
    requirement: 'service.other-media-types',
    applies: ofContract((exchange) => {
      const success = documentedSuccess(exchange);
      return success?.mediaType !== undefined && success.mediaType !== 'text/csv';
    }),
    violation: ({ response, status, operation }) => {
      const label = response.headers['content-type'] ?? '';
      if (!foreignLabel.test(label)) return undefined;
      const expected = `be ${operation.success[status]?.mediaType ?? 'another'}, or the like`;
      return { part: `${status} Content-Type`, expected, actual: describeValue(label) };
    },
  },
];
