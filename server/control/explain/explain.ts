/** Why a request was refused, and how it would succeed; computed only on demand. */

import type { Operation } from '../../../fixtures/contract/operation.ts';
import type { VendorNames } from '../../../fixtures/contract/vendor-names.ts';
import type { ExchangeRecord } from '../../http/exchange-record.ts';
import { shown } from '../../http/fault-detail.ts';
import { isSecretName, masked, maskText } from '../../http/masking.ts';
import type { Refusal } from '../../http/refusal.ts';
import { mountedOperations } from '../../pipeline/endpoint.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import { type Asked, askedIn, jsonOf, textOf } from './asked.ts';
import { commandOf } from './command.ts';
import { type Correction, correctionOf } from './correction.ts';
import type { Diagnosis } from './doctor/diagnosis.ts';
import { diagnose } from './doctor/evidence.ts';
import { nearestOperation } from './nearest.ts';
import { type BrokenRule, ruleOf } from './rule.ts';
import { readable } from './text.ts';

/** The place of the fault, the expected value, and the actual one. */
interface Wrong {
  /** `body.status`, `query.page`, `header.Content-Type`, `path`, `method`, or `state`. */
  readonly path: string;
  readonly expected: string;
  readonly actual: string;
}

/** A request with `$NAME` in the place of every secret. */
interface CorrectedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Everything known about a refusal. */
export interface Explanation {
  readonly requestId: string;
  /** Name of the tenant. */
  readonly world: string;
  /** ISO 8601, in the time of the tenant. */
  readonly at: string;
  readonly asked: {
    readonly method: string;
    readonly path: string;
    readonly operation?: string;
    readonly heading?: string;
  };
  readonly status: number;
  /** The error message of the response. */
  readonly sentence: string;
  readonly rule: BrokenRule;
  readonly wrong: Wrong;
  /** The mistake behind it, where one was recognised. */
  readonly diagnosis?: Diagnosis;
  /** What to do before the request, in words. */
  readonly first?: string;
  readonly correctedRequest: CorrectedRequest;
  /** Lines of bash. */
  readonly command: string;
  /** The shell variables that the command takes, and what each one is. */
  readonly needs: Readonly<Record<string, string>>;
}

/** Facts beside the record. */
export interface ExplainFacts {
  /** Whose journal holds the record. */
  readonly tenant: Pick<Tenant, 'name' | 'isFirst' | 'store'>;
  readonly names: VendorNames;
  readonly adminEmail: string;
}

/** The fields of a record that are needed. */
export type RefusedRecord = Pick<
  ExchangeRecord,
  | 'requestId'
  | 'method'
  | 'url'
  | 'headers'
  | 'body'
  | 'bodyBytes'
  | 'operation'
  | 'atMs'
  | 'refusal'
>;

/** The explanation; undefined when the request was not refused. */
export function explain(record: RefusedRecord, facts: ExplainFacts): Explanation | undefined {
  const { refusal } = record;
  if (!refusal) return undefined;
  const { tenant, names, adminEmail } = facts;
  const asked = askedIn(record);
  const operation = operationOf(record);
  const place = placeOf(refusal);
  const { store } = tenant;
  const correction = correctionOf({ asked, refusal, place, operation, store });
  const lines = commandOf(correction, { names, adminEmail, namesTenant: !tenant.isFirst });
  const needs = needsOf(lines, asked);
  const command = [...definitionsOf(needs, asked), lines].join('\n');
  const diagnosis = diagnose(refusal.detail?.evidence);
  const { first } = correction;
  return {
    requestId: record.requestId,
    world: tenant.name,
    at: new Date(record.atMs).toISOString(),
    asked: askedView(record, operation),
    status: refusal.status,
    sentence: refusal.error,
    rule: ruleOf(refusal, operation),
    wrong: wrongOf({ asked, refusal, place, operation }),
    ...(diagnosis && { diagnosis }),
    ...(first !== undefined && { first }),
    correctedRequest: correctedView(correction),
    command,
    needs,
  };
}

function operationOf({ operation }: RefusedRecord): Operation | undefined {
  return operation === undefined ? undefined : mountedOperations[operation];
}

function askedView({ method, url }: RefusedRecord, operation: Operation | undefined) {
  return {
    method,
    path: maskText(url),
    ...(operation && { operation: operation.id, heading: operation.heading }),
  };
}

/** Where a sentence says that it was wrong, for refusals of rules: `body: name: exists already`. */
const placePattern = /^(body|query|path|file)(?:: ([\w.]+))?: /;

function placeOf({ detail, error, status }: Refusal): string {
  if (detail?.path !== undefined) return detail.path;
  const [, where, name] = placePattern.exec(error) ?? [];
  if (where !== undefined) return name === undefined ? where : `${where}.${name}`;
  return status === 404 ? 'path' : 'state';
}

interface WrongFacts {
  readonly asked: Asked;
  readonly refusal: Refusal;
  readonly place: string;
  readonly operation: Operation | undefined;
}

function wrongOf({ asked, refusal, place, operation }: WrongFacts): Wrong {
  const { detail, error, status } = refusal;
  return {
    path: place,
    expected:
      detail?.expected ?? (operation || status !== 404 ? expectedIn(error) : nearestTo(asked)),
    actual: detail?.actual ?? actualAt(asked, place),
  };
}

function nearestTo({ method, path }: Asked): string {
  const nearest = nearestOperation(method, path);
  return `${nearest.method} ${nearest.path}`;
}

/** The fault and the remedy: the sentence without the place. */
function expectedIn(error: string): string {
  return error.replace(placePattern, '');
}

function actualAt(asked: Asked, place: string): string {
  const [where, ...keys] = place.split('.');
  if (where === 'path') return maskText(asked.path);
  if (where !== 'body' || keys.length === 0)
    return `the request ${asked.method} ${maskText(asked.path)}`;
  let value = jsonOf(textOf(asked))?.value;
  for (const key of keys) {
    const isInner = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    value = isInner ? Reflect.get(value as object, key) : undefined;
  }
  const [name = ''] = keys.slice(-1);
  if (value === undefined) return 'nothing';
  return isSecretName(name) ? masked : shown(value);
}

function correctedView({ request }: Correction): CorrectedRequest {
  const { operation, target, headers, body, form } = request;
  const parts = form?.map(({ name, value, isFile }) => {
    return `${name}=${isFile ? '@' : ''}${readable(value)}`;
  });
  const content = body ? readable(body) : parts?.join('\n');
  return {
    method: operation.method,
    path: readable(target),
    headers: Object.fromEntries([
      ...headers.map(([name, value]) => [name, readable(value)]),
      ...(form ? [['Content-Type', 'multipart/form-data']] : []),
    ]),
    ...(content !== undefined && { body: content }),
  };
}

/** Without quotes, which bash would look for in the command. */
const variables: Readonly<Record<string, string>> = {
  TOKEN: 'the token of the device or user',
  KEY: 'the file with the private key of the device in PEM',
  ID_DATA: 'the identity of the device, as JSON text',
  EMAIL: "the user's e-mail address",
  PASSWORD: 'the password of the user',
  CURRENT_PASSWORD: 'the current password of the user',
  SECRET_HASH: 'the secret from the e-mail',
  TENANT_TOKEN: 'the token of the tenant that the device belongs to',
  FILE: 'the file to send',
};

/** What bash takes for nothing but text: a request may hold what looks like a variable. */
const literals = /\\'|\$?'[^']*'/g;

/** What the lines use and do not set themselves. */
function needsOf(lines: string, asked: Asked): Record<string, string> {
  const origin = originOf(asked);
  const code = lines.replace(literals, '');
  const own = new Set([...code.matchAll(/^([A-Z][A-Z0-9_]*)=\$\(/gm)].map(([, name]) => name));
  const needs: Record<string, string> = {
    URL: `the base URL${origin === undefined ? '' : `, as in ${origin}`}`,
  };
  for (const [, name = ''] of code.matchAll(/\$\{?([A-Z][A-Z0-9_]*)/g)) {
    if (!own.has(name) && name !== 'URL') needs[name] = variables[name] ?? 'a value of your choice';
  }
  return needs;
}

/** Defines what is known, and ends with a sentence where only the reader knows. */
function definitionsOf(needs: Readonly<Record<string, string>>, asked: Asked): string[] {
  const known: Readonly<Record<string, string | undefined>> = {
    URL: originOf(asked),
    KEY: 'device.pem',
  };
  return Object.entries(needs)
    .filter(([name]) => name !== 'EMAIL')
    .map(([name, meaning]) => {
      const value = known[name];
      return value === undefined
        ? `: "\${${name}:?set ${name} to ${meaning}}"`
        : `${name}=\${${name}:-${value}}`;
    });
}

/** The URL of the server, from the Host header. */
function originOf({ headers }: Asked): string | undefined {
  const host = headers.get('host') ?? '';
  return /^[\w.:[\]-]+$/.test(host) ? `http://${host}` : undefined;
}
