import { describe, expect, it } from 'vitest';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import { reportableStatuses } from '../../fixtures/contract/vocabulary.ts';
import { instructionFields } from '../suite/instruction-fields.ts';
import { SOURCE } from './device-history.ts';
import {
  DeviceTrafficJudge,
  deviceTrafficChecks,
  deviceTrafficRequirements,
  type ServerVerdict,
} from './device-traffic-judge.ts';

const noonMs = Date.UTC(2026, 0, 31, 12);
const DAY_SECONDS = 86_400;
const WEEK_SECONDS = 7 * DAY_SECONDS;
const base = 'https://server.example';
const sourceUri = `${base}/files/1?x-svc-signature=c2VjcmV0`;

/**
 * One exchange of a device; it takes 1 ms, and starts one second after the previous one by default.
 */
interface GivenExchange {
  readonly operation: OperationId | typeof SOURCE;
  readonly status: number;
  /** The body of the response: a value to encode as JSON, or a text. */
  readonly response?: unknown;
  readonly sent?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: string;
  readonly id?: string;
  readonly isSilent?: boolean;
  /** Seconds between the previous exchange and this one. */
  readonly afterSeconds?: number;
}

function tokenOf(name: string, claims: object = { iat: 0, exp: WEEK_SECONDS }): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part({ name, ...claims })}.c2ln`;
}

const firstToken = tokenOf('first');
const secondToken = tokenOf('second');

/** Returns the verdicts of the judge on the last of these exchanges. */
function verdictsOn(steps: readonly GivenExchange[]): readonly ServerVerdict[] {
  const judge = new DeviceTrafficJudge('X-SVC');
  let nowMs = noonMs;
  let verdicts: readonly ServerVerdict[] = [];
  for (const step of steps) {
    nowMs += (step.afterSeconds ?? 1) * 1000;
    verdicts = judge.judge(exchangeOf(step, nowMs));
  }
  return verdicts;
}

function exchangeOf(step: GivenExchange, sentMs: number) {
  const { operation, status, response, sent, id = 'd-1', headers = {}, token = firstToken } = step;
  const isSource = operation === SOURCE;
  const url = isSource ? sourceUri : base + operations[operation].path.replace(/\{\w+\}/, id);
  const isSigned = operation === 'post-auth-request';
  const credential = { [isSigned ? 'X-SVC-Signature' : 'authorization']: `Bearer ${token}` };
  const text = typeof response === 'string' ? response : JSON.stringify(response ?? '');
  const body = Buffer.from(response === undefined ? '' : text);
  const date = new Date(sentMs).toUTCString();
  return {
    device: 0,
    operation,
    method: isSource ? 'GET' : operations[operation].method,
    url,
    headers: isSource ? {} : credential,
    ...(sent !== undefined && { body: JSON.stringify(sent) }),
    sentMs,
    endedMs: sentMs + 1,
    ...(!step.isSilent && {
      response: { status, headers: { date, ...headers }, ...(!isSource && { body }) },
    }),
  };
}

const authRequest = (
  response: unknown = firstToken,
  status = 200,
  pubkey = 'key-1',
): GivenExchange => ({
  operation: 'post-auth-request',
  status,
  response,
  sent: { id_data: '{}', pubkey },
});

type PollOperation = 'get-next-deployment' | 'post-next-deployment' | 'post-next-deployment-v2';
const provides = { device_type: 'board', artifact_name: 'one' };

const poll = (
  operation: PollOperation,
  response?: unknown,
  change: Partial<GivenExchange> = {},
): GivenExchange => ({
  operation,
  status: response === undefined ? 204 : 200,
  response,
  ...(operation === 'post-next-deployment' && { sent: provides }),
  ...(operation === 'post-next-deployment-v2' && { sent: { device_provides: provides } }),
  ...change,
});
const pollV2 = (response?: unknown, change: Partial<GivenExchange> = {}) =>
  poll('post-next-deployment-v2', response, change);

const instructions = {
  id: 'd-1',
  artifact: {
    artifact_name: 'two',
    source: { uri: sourceUri, expire: '2026-02-01T12:00:00Z' },
    device_types_compatible: ['board'],
    update_control_map: { id: 'd-1' },
  },
};

function otherInstructions(id: string) {
  return { id, artifact: { ...instructions.artifact, update_control_map: { id } } };
}

const report = (
  status: string,
  answered: number,
  change: Partial<GivenExchange> = {},
): GivenExchange => ({
  operation: 'put-deployment-status',
  status: answered,
  sent: { status },
  ...change,
});

const error = { error: 'no', request_id: 'r-1' };
const refusedWith = (response: unknown, change: Partial<GivenExchange> = {}): GivenExchange => ({
  ...authRequest(response, 401),
  ...change,
});

const simple = (
  operation: OperationId | typeof SOURCE,
  status: number,
  change: Partial<GivenExchange> = {},
): GivenExchange => ({
  operation,
  status,
  ...change,
});
const log = { messages: [{ timestamp: '2026-01-31T12:00:00Z', level: 'info', message: 'done' }] };
const free = { sent: { device_provides: { ...provides, kernel: '6' } } };

/** The life of a device on a good server, with all three ways to poll for a deployment. */
const honest: readonly GivenExchange[] = [
  refusedWith(error, { headers: { 'x-svc-requestid': 'r-1' } }),
  authRequest(),
  simple('put-attributes', 200, { sent: [] }),
  simple('patch-attributes', 200, { sent: [] }),
  simple('get-configuration', 200, { response: { key: 'value' } }),
  simple('put-configuration', 204, { sent: {} }),
  simple('post-alerts', 204, { sent: [] }),
  simple('post-monitor-configuration', 204, { sent: [] }),
  poll('get-next-deployment'),
  poll('post-next-deployment'),
  pollV2(),
  pollV2(undefined, free),
  poll('post-next-deployment', undefined, { sent: { ...provides, kernel: '6' } }),
  pollV2(instructions),
  simple(SOURCE, 200),
  simple('get-update-control-map', 200, { response: { update_control_map: { id: 'd-1' } } }),
  ...reportableStatuses.map((status) => report(status, 204)),
  report('failure', 204, { sent: { status: 'failure', substate: 'it broke' } }),
  report('failure', 204),
  simple('put-deployment-log', 204, { sent: log }),
  pollV2(),
  pollV2(otherInstructions('d-2')),
  report('downloading', 409, { id: 'd-2' }),
  report('installing', 409, { id: 'd-2' }),
  pollV2(),
  poll('get-next-deployment', otherInstructions('d-3')),
  poll('post-next-deployment', otherInstructions('d-3')),
  authRequest(secondToken),
  pollV2(undefined, { token: secondToken }),
  pollV2({ error: 'over' }, { token: secondToken, status: 401, afterSeconds: 8 * DAY_SECONDS }),
];

const offered = [authRequest(), pollV2(instructions)];
const letInAgain = [authRequest(), { ...authRequest(secondToken), token: secondToken }];
const refusedToken = (token: string) => pollV2(error, { status: 401, token });
const refusedAgain = (response: unknown, headers = {}) => refusedWith(response, { headers });
const page = '<html>busy</html>';

/** Returns the instructions with an invalid value in one field. */
function withWrong(path: string): unknown {
  const copy = structuredClone(instructions) as Record<string, unknown>;
  const steps = path.split('.');
  const lastStep = steps.pop() ?? '';
  const parent = steps.reduce((inner, step) => inner[step] as typeof copy, copy);
  parent[lastStep] = 7;
  return copy;
}

const fieldViolations = instructionFields.flatMap(({ field, requirements: { v1, v2 } }) => [
  ...(v1 ? [[v1, [authRequest(), poll('get-next-deployment', withWrong(field))]] as const] : []),
  ...(v2 ? [[v2, [authRequest(), pollV2(withWrong(field))]] as const] : []),
]);

const statusViolations = reportableStatuses.map((status) => {
  const id = `status.${status.replaceAll('_', '-')}` as RequirementId;
  return [id, [...offered, report(status, 400, { response: error })]] as const;
});

/** Each requirement with a device life whose last exchange violates that requirement. */
const violations: readonly (readonly [RequirementId, readonly GivenExchange[]])[] = [
  ...fieldViolations,
  ...statusViolations,
  ['auth.token-is-plain-text', [authRequest(`"${firstToken}"`)]],
  ['auth.token-is-a-jwt', [authRequest('a-token')]],
  ['tokens.device-token-lasts-a-week', [authRequest(tokenOf('x', { iat: 0, exp: DAY_SECONDS }))]],
  [
    'tokens.device-token-lasts-a-week',
    [authRequest(), pollV2(), refusedToken(firstToken), authRequest(secondToken)],
  ],
  [
    'tokens.device-token-opens',
    [authRequest(), refusedToken(firstToken), authRequest(secondToken)],
  ],
  ['tokens.renewal', [...letInAgain, refusedToken(secondToken), authRequest(firstToken)]],
  [
    'tokens.expired-is-refused',
    [authRequest(), pollV2(undefined, { afterSeconds: 8 * DAY_SECONDS })],
  ],
  ['next.nothing-is-204', [authRequest(), pollV2('null')]],
  ['next.get-pending-is-200', [poll('get-next-deployment', instructions, { status: 201 })]],
  ['next.post-pending-is-200', [poll('post-next-deployment', instructions, { status: 201 })]],
  ['next.v2-pending-is-200', [pollV2(instructions, { status: 202 })]],
  [
    'next.get-parameters',
    [poll('get-next-deployment'), poll('get-next-deployment', error, { status: 400 })],
  ],
  [
    'next.post-keys',
    [poll('post-next-deployment'), poll('post-next-deployment', error, { status: 400 })],
  ],
  [
    'next.free-pairs',
    [200, 400].map((status) =>
      poll('post-next-deployment', error, { status, sent: { ...provides, kernel: '6' } }),
    ),
  ],
  ['next.v2-keys', [pollV2(), pollV2(error, { status: 400 })]],
  ['next.v2-free-pairs', [pollV2(undefined, free), pollV2(error, { status: 400, ...free })]],
  ['next.instructions-v1', [poll('get-next-deployment', [instructions])]],
  ['next.instructions-v2', [pollV2([instructions])]],
  ['next.source-expires-later', [pollV2(instructions, { afterSeconds: 2 * DAY_SECONDS })]],
  ['next.control-map-id', [pollV2({ ...instructions, id: 'd-9' })]],
  ['next.finished-is-over', [...offered, report('success', 204), pollV2(instructions)]],
  ['next.aborted-is-over', [...offered, report('downloading', 409), pollV2(instructions)]],
  ['status.is-204', [...offered, report('downloading', 200)]],
  ['status.each-value-is-accepted', [...offered, report('installing', 400, { response: error })]],
  [
    'status.substate',
    [...offered, report('x', 400, { sent: { status: 'downloading', substate: 'half' } })],
  ],
  ['status.substate-is-optional', [...offered, report('downloading', 400)]],
  ['status.repeated', [...offered, report('installing', 204), report('installing', 400)]],
  ['status.success', [...offered, report('rebooting', 204), report('success', 400)]],
  ['status.rebooting', [...offered, report('installing', 204), report('rebooting', 400)]],
  ['status.aborted-is-409', [...offered, report('downloading', 409), report('installing', 204)]],
  ['next.v2-id-is-usable', [...offered, report('downloading', 404, { response: error })]],
  ['log.is-accepted', [simple('put-deployment-log', 200, { sent: log })]],
  [
    'log.is-accepted',
    [204, 400].map((status) =>
      simple('put-deployment-log', status, { sent: log, response: error }),
    ),
  ],
  [
    'map.is-wrapped',
    [simple('get-update-control-map', 200, { response: { update_control_map: 7 } })],
  ],
  [
    'map.id-is-the-deployment',
    [simple('get-update-control-map', 200, { response: { update_control_map: { id: 'd-9' } } })],
  ],
  ['next.source-gives-the-artifact', [...offered, simple(SOURCE, 404)]],
  ['errors.body-is-error', [refusedWith(page)]],
  ['errors.body-is-error', [refusedWith(['no'])]],
  ['service.bodies-are-json', [pollV2(page, { status: 429 })]],
  ['auth.refusals-are-errors', [refusedWith(page)]],
  ['errors.error-is-string', [refusedWith({ error: { message: 'no' } })]],
  ['errors.request-id-is-string', [refusedWith({ request_id: 17 })]],
  ['errors.request-id-equals-header', [refusedAgain(error, { 'x-svc-requestid': 'r-2' })]],
  ['errors.request-id-of-the-server', [refusedWith(error), pollV2(error, { status: 500 })]],
  ['configuration.write', [simple('put-configuration', 200)]],
  ['configuration.write-has-no-body', [simple('put-configuration', 200, { response: {} })]],
  ['configuration.read', [simple('get-configuration', 200, { response: [] })]],
  ['configuration.read-strings', [simple('get-configuration', 200, { response: { a: 1 } })]],
  ['alerts.are-accepted', [simple('post-alerts', 201)]],
  ['alerts.response-has-no-body', [simple('post-alerts', 201, { response: {} })]],
  ['monitor.is-accepted', [simple('post-monitor-configuration', 200)]],
  ['monitor.response-has-no-body', [simple('post-monitor-configuration', 200, { response: {} })]],
  ['inventory.put-is-200', [simple('put-attributes', 204)]],
  ['inventory.put-has-no-body', [simple('put-attributes', 200, { response: {} })]],
  ['inventory.patch-is-200', [simple('patch-attributes', 204)]],
  ['inventory.patch-has-no-body', [simple('patch-attributes', 200, { response: {} })]],
];

function violatedBy(steps: readonly GivenExchange[]): string[] {
  return verdictsOn(steps).flatMap(({ requirement, evidence }) => (evidence ? requirement : []));
}

const judgedIds = deviceTrafficRequirements.map(({ requirement }) => requirement);

describe("the judge of a device's traffic", () => {
  it('reports no violation by a good server, and judges every requirement of devices', () => {
    const judged = new Set<string>();
    for (let length = 1; length <= honest.length; length++) {
      const steps = honest.slice(0, length);
      expect(violatedBy(steps), `step ${length}`).toEqual([]);
      for (const { requirement } of verdictsOn(steps)) judged.add(requirement);
    }
    expect([...judged].toSorted()).toEqual([...judgedIds].toSorted());
  });

  it.each(violations)('reports a violation of %s', (requirement, steps) => {
    expect(violatedBy(steps)).toContain(requirement);
  });

  it('has a test of a violation for each requirement that it judges', () => {
    const known = new Set(violations.map(([requirement]) => requirement));
    expect(judgedIds.filter((requirement) => !known.has(requirement))).toEqual([]);
  });

  it('judges only MUSTs of the server that device operations show', () => {
    for (const { requirement, operations: places = [] } of deviceTrafficChecks) {
      if (requirement === undefined)
        throw new Error('a check of device traffic names no requirement');
      const row: Requirement = requirements[requirement];
      expect(row, requirement).toMatchObject({ level: 'must' });
      expect([row.actor, row.excluded], requirement).toEqual([undefined, undefined]);
      const isListed = places.some((place) => row.operations.some((each) => each === place));
      const isForAny = row.operations.length === 0 || places.includes(SOURCE);
      const isOfTokens = /^(tokens|status|next)\./.test(requirement);
      expect(isListed || isForAny || isOfTokens, requirement).toBe(true);
    }
  });
});

describe("the judge of a device's traffic", () => {
  it.each<[string, readonly GivenExchange[]]>([
    ['of a server that is overloaded', [pollV2(page, { status: 503 })]],
    ['of a gateway that has no such path', [pollV2(page, { status: 404 })]],
    ['of a refusal for which the contract shows no body', [report('installing', 409)]],
    [
      'when a refused token was followed by a refused device',
      [authRequest(), refusedToken(firstToken), refusedWith({ error: 'no' })],
    ],
    [
      'when the device was let in again with another key',
      [authRequest(), refusedToken(firstToken), authRequest(secondToken, 200, 'key-2')],
    ],
    [
      'when the refused token was past its week',
      [
        authRequest(),
        pollV2(error, { status: 401, afterSeconds: 8 * DAY_SECONDS }),
        authRequest(secondToken),
      ],
    ],
    ['when a form of the poll was never accepted', [authRequest(), pollV2(error, { status: 400 })]],
    [
      'when a longer body was refused than was ever taken',
      [
        simple('post-alerts', 204, { sent: [] }),
        simple('post-alerts', 400, { sent: [{ name: 'x'.repeat(99) }], response: error }),
      ],
    ],
    ['when a report was malformed', [...offered, report('sleeping', 400, { response: error })]],
    [
      'when a status followed another one',
      [...offered, report('success', 204), report('downloading', 400, { response: error })],
    ],
    [
      'when nobody knows whether the end was recorded',
      [...offered, report('success', 204, { isSilent: true }), pollV2(instructions)],
    ],
    [
      'when a later report may have taken the end back',
      [...offered, report('success', 204), report('downloading', 503), pollV2(instructions)],
    ],
    [
      'when a deployment is finished in another sense',
      [...offered, report('already-installed', 204), pollV2(instructions)],
    ],
    [
      'when a source has ended',
      [...offered, simple(SOURCE, 403, { afterSeconds: 2 * DAY_SECONDS })],
    ],
    ['of a source that was never offered', [authRequest(), simple(SOURCE, 404)]],
    [
      'of what the operator of a test server had it do',
      [pollV2(page, { status: 429, headers: { 'x-svc-testbed-fault': 'planned' } })],
    ],
  ])('decides nothing %s', (_, steps) => {
    expect(violatedBy(steps)).toEqual([]);
  });

  it('decides nothing about an exchange outside the contract, or without a response', () => {
    const otherExchange = { ...exchangeOf(pollV2(), noonMs), operation: 'list-devices' };
    expect(new DeviceTrafficJudge('X-SVC').judge(otherExchange)).toEqual([]);
    expect(verdictsOn([pollV2(undefined, { isSilent: true })])).toEqual([]);
  });
});

describe('the evidence of a violation in a device life', () => {
  const evidenceOf = (steps: readonly GivenExchange[], requirement: RequirementId) =>
    verdictsOn(steps)
      .find((each) => each.requirement === requirement)
      ?.evidence?.();

  it('contains the request, the response and the expectation', () => {
    const steps = [...offered, report('success', 204), pollV2(instructions)];
    expect(evidenceOf(steps, 'next.finished-is-over')).toMatchObject({
      expected:
        'deployment d-1 to not be offered any more, since its end was reported and accepted',
      actual: 'it is offered again',
      request: { line: `POST ${base}${operations['post-next-deployment-v2'].path}` },
      response: { status: 200, body: expect.stringContaining('"id":"d-1"') },
    });
  });

  it('is the exchange that refused a token, not the later proof', () => {
    const steps = [authRequest(), pollV2(), refusedToken(firstToken), authRequest(secondToken)];
    expect(evidenceOf(steps, 'tokens.device-token-lasts-a-week')).toMatchObject({
      expected: 'the token to be accepted, 2 s after it was granted',
      response: { status: 401 },
    });
  });

  it.each<[RequirementId, readonly GivenExchange[], string]>([
    [
      'next.finished-is-over',
      [...offered, report('success', 204), pollV2(instructions)],
      firstToken,
    ],
    [
      'next.finished-is-over',
      [...offered, report('success', 204), pollV2(instructions)],
      'c2VjcmV0',
    ],
    ['auth.token-is-plain-text', [authRequest(`"${firstToken}"`)], firstToken],
    ['auth.token-is-a-jwt', [authRequest(`opaque-${'t'.repeat(5000)}`)], 'opaque-ttt'],
    ['errors.body-is-error', [refusedWith(page)], `Bearer ${firstToken}`],
  ])('contains no secret for the requirement %s', (requirement, steps, secret) => {
    const text = JSON.stringify(evidenceOf(steps, requirement));
    expect(text).toContain('<masked');
    expect(text).not.toContain(secret);
  });
});
