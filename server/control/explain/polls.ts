/** What a device says of itself when it asks for a deployment, in the form of each operation for it. */
import type { Operation } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { isObject } from '../../../fixtures/json.ts';
import { type Asked, jsonOf, textOf, tokenOwnerIn } from './asked.ts';
import type { KnownStore } from './steps.ts';

type Provides = Readonly<Record<string, unknown>>;

const inQuery: Operation = operations['get-next-deployment'];
const inBody: Operation = operations['post-next-deployment'];
/** What every device says. */
const required = Object.keys(inQuery.query ?? {});

/**
 * The request in the form of an operation for polls: what was sent in the form of another one is put
 * where it belongs, and what is missing is taken from the last poll of the device, where one is known.
 */
export function askedInForm(
  asked: Asked,
  operation: Operation,
  { devices }: KnownStore,
  deviceId = ownerOf(asked),
): Asked {
  if (operation.deploymentRole !== 'hands-out') return asked;
  const sent = providesIn(asked);
  if (isInForm(asked, operation) && required.every((name) => name in sent)) return asked;
  const { operation: polled, said = '' } = devices.facts(deviceId)?.lastPoll ?? {};
  const last = polled === undefined ? {} : providesIn(requestOf(polled, said));
  const provides = { ...last, ...sent };
  if (Object.keys(provides).length === 0) return withoutBody(asked);
  if (operation === inQuery) {
    const search = new URLSearchParams();
    for (const name of required) if (name in provides) search.set(name, String(provides[name]));
    return { ...withoutBody(asked), search: search.toString() };
  }
  const body = operation === inBody ? provides : { ...outside(asked), device_provides: provides };
  return { ...asked, search: '', body: Buffer.from(JSON.stringify(body)) };
}

/** Whether what was sent is the body of the other version. */
export function isInOtherForm(asked: Asked, operation: Operation): boolean {
  const body = bodyOf(asked);
  if (operation.deploymentRole !== 'hands-out' || operation === inQuery || !body) return false;
  const isOfSecond = isObject(body.device_provides);
  if (operation === inBody) return isOfSecond;
  return !isOfSecond && required.some((name) => name in body);
}

function isInForm(asked: Asked, operation: Operation): boolean {
  const body = bodyOf(asked);
  if (operation === inQuery || body === undefined) return operation === inQuery && !body;
  return isObject(body.device_provides) === (operation !== inBody);
}

function providesIn(asked: Pick<Asked, 'search' | 'body'>): Provides {
  const body = bodyOf(asked);
  if (body) return isObject(body.device_provides) ? body.device_provides : body;
  const search = new URLSearchParams(asked.search);
  return Object.fromEntries([...search].filter(([name]) => required.includes(name)));
}

/** The members of a body of the second version beside what it provides. */
function outside(asked: Asked): Provides {
  const body = bodyOf(asked) ?? {};
  return isObject(body.device_provides) ? body : {};
}

function bodyOf(asked: Pick<Asked, 'body'>): Provides | undefined {
  const value = jsonOf(textOf(asked))?.value;
  return isObject(value) ? value : undefined;
}

function requestOf(operation: string, said: string): Pick<Asked, 'search' | 'body'> {
  if (operation === inQuery.id) return { search: said.split('?')[1] ?? '', body: undefined };
  return { search: '', body: Buffer.from(said, 'latin1') };
}

/** The body of a poll that was not read is not needed: it says no more than what is asked for. */
function withoutBody(asked: Asked): Asked {
  const isLength = (name: string): boolean => /^(content-length|transfer-encoding)$/.test(name);
  const headers = new Map([...asked.headers].filter(([name]) => !isLength(name)));
  return { ...asked, headers, body: undefined, bodyBytes: 0 };
}

function ownerOf(asked: Asked): string {
  const owner = tokenOwnerIn(asked);
  return owner?.isDevice ? owner.subject : '';
}
