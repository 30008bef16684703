/** What a request sends, as far as defects pick by it. */
import { isObject } from '../../fixtures/json.ts';
import { jsonOf } from './alter.ts';
import type { ProxiedRequest } from './defect.ts';

/** Whether a defect shows on a request. */
type Picks = (request: ProxiedRequest) => boolean;

export { isObject };

/** The value at a path of the JSON body; `last` is the last entry of a list. */
export function sentAt(request: ProxiedRequest, path: string): unknown {
  return stepsOf(path).reduce(memberOf, jsonOf(request));
}

/** Picks bodies that lack a member although there is an object that it belongs in. */
export function lacks(path: string): Picks {
  const steps = stepsOf(path);
  const name = steps.pop() ?? '';
  return (request) => {
    const owner = steps.reduce(memberOf, jsonOf(request));
    return isObject(owner) && !(name in owner);
  };
}

/** Picks bodies whose member is there and does not fit. */
export function holdsOther(path: string, fits: (value: unknown) => boolean): Picks {
  return (request) => {
    const value = sentAt(request, path);
    return value !== undefined && !fits(value);
  };
}

/** Picks bodies whose member is that one. */
export function holds(path: string, wanted: unknown): Picks {
  return (request) => sentAt(request, path) === wanted;
}

/** Picks what all of them pick. */
export function both(...picks: readonly Picks[]): Picks {
  return (request) => picks.every((each) => each(request));
}

/** True for a text. */
export function isText(value: unknown): boolean {
  return typeof value === 'string';
}

/** Picks requests without a body. */
export const isBodiless: Picks = ({ body }) => body.length === 0;

/** Picks requests whose body is there and is no JSON object. */
export const isNoObject: Picks = (request) => request.body.length > 0 && !isObject(jsonOf(request));

function stepsOf(path: string): string[] {
  return path === '' ? [] : path.split('.');
}

function memberOf(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return step === 'last' ? value.at(-1) : undefined;
  return isObject(value) ? value[step] : undefined;
}
