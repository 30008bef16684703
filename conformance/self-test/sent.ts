/** Predicates on the body of a request, by which defects select requests. */
import { isObject } from '../../fixtures/base/json.ts';
import { jsonOf } from './alter.ts';
import type { ProxiedRequest } from './defect.ts';

/** Selects the requests on which a defect acts. */
export type RequestFilter = (request: ProxiedRequest) => boolean;

export { isObject };

/** Returns the value at a path of the JSON body; `last` is the last entry of a list. */
export function bodyMemberAt(request: ProxiedRequest, path: string): unknown {
  return stepsOf(path).reduce(memberOf, jsonOf(request));
}

/** Matches bodies that lack a member although its parent object is present. */
export function memberIsMissing(path: string): RequestFilter {
  const steps = stepsOf(path);
  const name = steps.pop() ?? '';
  return (request) => {
    const owner = steps.reduce(memberOf, jsonOf(request));
    return isObject(owner) && !(name in owner);
  };
}

/** Matches bodies whose member is present and does not fit. */
export function memberDoesNotFit(
  path: string,
  isValid: (value: unknown) => boolean,
): RequestFilter {
  return (request) => {
    const value = bodyMemberAt(request, path);
    return value !== undefined && !isValid(value);
  };
}

/** Matches bodies whose member has that value. */
export function memberEquals(path: string, wanted: unknown): RequestFilter {
  return (request) => bodyMemberAt(request, path) === wanted;
}

/** Matches requests that all of the predicates match. */
export function allOf(...appliesTo: readonly RequestFilter[]): RequestFilter {
  return (request) => appliesTo.every((each) => each(request));
}

/** Returns true for a string. */
export function isText(value: unknown): boolean {
  return typeof value === 'string';
}

/** Matches requests without a body. */
export const isBodiless: RequestFilter = ({ body }) => body.length === 0;

/** Matches requests whose body is present and is not a JSON object. */
export const isNoObject: RequestFilter = (request) =>
  request.body.length > 0 && !isObject(jsonOf(request));

function stepsOf(path: string): string[] {
  return path === '' ? [] : path.split('.');
}

function memberOf(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return step === 'last' ? value.at(-1) : undefined;
  return isObject(value) ? value[step] : undefined;
}
