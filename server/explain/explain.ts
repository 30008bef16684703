/** Explains why a request was refused and how it would succeed. Computed only on demand. */
import type * as v from 'valibot';
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { refusedResponse } from '../../fixtures/control/explanation-responses.ts';
import type { ReadOnly } from '../../fixtures/control/operations.ts';
import { maskText } from '../http/masking.ts';
import { ParseFailure } from '../http/parse-failure.ts';
import { type MountedServer, UnknownPath } from '../pipeline/mounted.ts';
import type { Tenant } from '../tenants/tenants.ts';
import { commandOf } from './command.ts';
import { type Correction, findRemedy } from './correction.ts';
import { diagnose } from './doctor/evidence.ts';
import { type ReceivedRequest, receivedRequestOf, textOf } from './received-request.ts';
import {
  operationOf,
  problemInRequest,
  type RefusedRecord,
  type RefusedRequest,
  type RequestProblem,
} from './request-problem.ts';
import { ruleOf } from './rule.ts';
import { urlOf } from './similar-operation.ts';
import { readable, type VariableMeanings, variableNamed, variables } from './text.ts';

/** Everything known about a refusal. Secrets are replaced by `$NAME`. */
export type Explanation = ReadOnly<v.InferOutput<typeof refusedResponse>>;
type CorrectedRequest = NonNullable<Explanation['correctedRequest']>;

/** The facts that an explanation needs in addition to the record in the journal. */
export interface ExplainFacts {
  /** The tenant whose journal has the record. */
  readonly tenant: Pick<Tenant, 'name' | 'isFirst' | 'store'>;
  readonly headerNames: VendorNames;
  readonly adminEmail: string;
  readonly mounts: MountedServer;
}

/** Returns the explanation; undefined if the request was not refused. */
export function explain(record: RefusedRecord, facts: ExplainFacts): Explanation | undefined {
  const { refusal } = record;
  if (!refusal) return undefined;
  const { tenant } = facts;
  const request = receivedRequestOf(record);
  const operation = operationOf(record);
  const problem = problemInRequest({ request, refusal, operation });
  const { evidence } = refusal.detail ?? {};
  const parseFailure = evidence instanceof ParseFailure ? evidence : undefined;
  const diagnosis = parseFailure ? causeView(parseFailure) : diagnose(evidence);
  // What cannot be read does not say what was meant, so only the cause can be named.
  const refusedRequest = { request, refusal, operation, problem };
  const advice: RemedyView = parseFailure ? { variables: {} } : remedyView(refusedRequest, facts);
  const { before: _before, ...rest } = advice;
  return {
    requestId: record.requestId,
    tenant: tenant.name,
    at: new Date(record.atMs).toISOString(),
    request: requestView(record, operation),
    status: refusal.status,
    sentence: refusal.error,
    rule: ruleOf(refusal, operation),
    problem,
    ...(diagnosis && { diagnosis }),
    // A diagnosed cause is more precise than the general advice on wrong signatures, so that
    // advice is left out.
    ...(diagnosis ? rest : advice),
  };
}

function causeView({ cause, what, remedy }: ParseFailure) {
  return { cause, sentence: sentenceOf(what), remedy: sentenceOf(remedy) };
}

function sentenceOf(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}

interface CorrectedInput extends RefusedRequest {
  readonly problem: RequestProblem;
}

type RemedyView = Pick<
  Explanation,
  'before' | 'correctedRequest' | 'isUnchanged' | 'command' | 'variables'
>;

function remedyView(
  refused: CorrectedInput,
  { tenant, headerNames, adminEmail, mounts }: ExplainFacts,
): RemedyView {
  const { request, problem } = refused;
  const { name, isFirst, store } = tenant;
  const correctionInput = {
    ...refused,
    location: problem.path,
    expected: problem.expected,
    store,
    mounts,
    ...(!isFirst && { otherTenant: name }),
  };
  const { before, correction } = findRemedy(correctionInput);
  const words = before === undefined ? {} : { before };
  if (!correction) return { ...words, variables: {} };
  const lines = commandOf(correction, { headerNames, adminEmail, namesTenant: !isFirst });
  const base = baseUrl(request, mounts);
  const usedNeeds = needsOf(lines, base);
  const meanings = { ...correction.request.needs, ...neededInPath(usedNeeds, refused) };
  const needs = Object.fromEntries(
    Object.entries(usedNeeds).map(([name, meaning]) => [name, meanings[name] ?? meaning]),
  );
  const correctedRequest = correctedView(correction);
  const isUnchanged = isSame(correctedRequest, refused, correction.request.isAsSent);
  // Nothing in the request was corrected, so it would be refused again for the same reason.
  const concernsInput = /^(body|query|path)\b/.test(problem.path);
  if (isUnchanged && concernsInput && correction.steps.length === 0) {
    return { before: before ?? `correct ${problem.path} as the message says`, variables: {} };
  }
  // A request that cannot be fulfilled would be refused again with 422.
  if (isUnchanged && refused.refusal.status === 422) return { ...words, variables: {} };
  return {
    ...words,
    correctedRequest,
    ...(isUnchanged && { isUnchanged: true as const }),
    // The command runs in a subshell, which ends if a variable is missing or an earlier step fails.
    command: ['(', 'set -eo pipefail', ...definitionsOf(needs, base, lines), lines, ')'].join('\n'),
    variables: needs,
  };
}

/**
 * Returns the variable that the reader must set for a path parameter that names nothing existing,
 * with its expected value.
 */
function neededInPath(
  needs: VariableMeanings,
  { problem }: CorrectedInput,
): Record<string, string> {
  const [, parameter = ''] = /^path\.(\w+)$/.exec(problem.path) ?? [];
  const name = variableNamed(parameter);
  return name in needs && problem.expected !== undefined ? { [name]: problem.expected } : {};
}

/** Returns true if the corrected request equals the request that was sent. */
function isSame(
  { method, path, body }: CorrectedRequest,
  { request, problem, refusal }: CorrectedInput,
  isBodyAsSent = false,
): boolean {
  const target = request.search === '' ? request.path : `${request.path}?${request.search}`;
  // For an unknown path, the corrected request goes to another path or another port.
  const isElsewhere = refusal.detail?.evidence instanceof UnknownPath;
  // A body that was too large has not been read.
  const isRead = request.body !== undefined || request.bodyBytes === 0;
  const isKept = isRead && refusal.status !== 413;
  const concernsHeader = problem.path.startsWith('header');
  return (
    !isElsewhere &&
    isKept &&
    !concernsHeader &&
    method === request.method &&
    path === maskText(target) &&
    (isBodyAsSent || body === textOf(request))
  );
}

function requestView({ method, url }: RefusedRecord, operation: Operation | undefined) {
  return {
    method,
    path: maskText(url),
    ...(operation && { operation: operation.id, heading: operation.heading }),
  };
}

function correctedView({ request }: Correction): CorrectedRequest {
  const { operation, target, headers, body, form } = request;
  const parts = form?.map(({ name, value, isFile }) => {
    return `${name}=${isFile ? '@' : ''}${readable(value)}`;
  });
  const at = request.isBodyInFile ? '@' : '';
  const content = body ? at + readable(body) : parts?.join('\n');
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

/**
 * Matches quoted literals, which bash does not expand: a body may contain text that looks like a
 * variable.
 */
const literals = /\\'|\$'(?:[^'\\]|\\.)*'|'[^']*'/g;

/** Returns the variables that the lines use without setting them, with their meanings. */
function needsOf(lines: string, base: string): Record<string, string> {
  const code = lines.replace(literals, '');
  const definedNames = new Set(
    [...code.matchAll(/^([A-Z][A-Z0-9_]*)=\$\(/gm)].map(([, name]) => name),
  );
  const needs: Record<string, string> = {
    URL: `the base URL, such as ${base}`,
    ...(base.startsWith('https:') && {
      CURL_CA_BUNDLE: 'the PEM file of the certificate authority that fleetbed serve printed',
    }),
  };
  for (const [, name = ''] of code.matchAll(/\$\{?([A-Z][A-Z0-9_]*)/g)) {
    if (definedNames.has(name) || name === 'URL') continue;
    const any = /(^|_)ID$/.test(name) ? 'the ID of an existing one' : 'a generated value';
    // The name without the indexes of lists.
    const [field = name] = name.split(/_\d/, 1);
    needs[name] = variables[field] ?? any;
  }
  return needs;
}

/** Escapes the characters that bash would expand within the message of `${NAME:?message}`. */
function plainInExpansion(text: string): string {
  return text.replace(/[\\$`"}]/g, '\\$&');
}

/**
 * Returns lines that set the known variables, and lines that stop with a message if the reader has
 * not set the others.
 */
function definitionsOf(needs: VariableMeanings, base: string, lines: string): string[] {
  const valuesByName: Readonly<Record<string, string>> = { URL: base };
  const definitions = Object.entries(needs)
    .filter(([name]) => !lines.includes(`${name}=\${${name}-`))
    .map(([name, meaning]) => {
      const value = valuesByName[name];
      return value === undefined
        ? `: "\${${name}:?set ${name} to ${plainInExpansion(meaning)}}"`
        : `${name}=\${${name}:-${value}}`;
    });
  return 'CURL_CA_BUNDLE' in needs ? [...definitions, 'export CURL_CA_BUNDLE'] : definitions;
}

/** Returns the base URL of the API, with the host name that the caller used. */
function baseUrl({ headers }: ReceivedRequest, mounts: MountedServer): string {
  const apiUrl = urlOf('api', mounts);
  const host = headers.get('host') ?? '';
  const isStorage = `//${host}` === urlOf('storage', mounts).replace(/^\w+:/, '');
  if (!/^[\w.:[\]-]+$/.test(host) || (isStorage && urlOf('storage', mounts) !== apiUrl))
    return apiUrl;
  return `${apiUrl.startsWith('https:') ? 'https' : 'http'}://${host}`;
}
