/** Rules on errors, and on the answers of operations that stand alone. Spec: Error; Errors */
import * as v from 'valibot';
import type { OperationId } from '../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { isObject } from '../context/instructions.ts';
import { requirementOn } from '../invariants/answer-parts.ts';
import { invariants } from '../invariants/catalogue.ts';
import type { Invariant } from '../invariants/invariant.ts';
import { ExpectationFailure, expectShape, expectThat, shown } from '../target/expectations.ts';
import { succeedsWith, type WatchRule } from './rule.ts';

/** The operations by which devices talk to a server and get JSON, where they get anything. */
export const deviceOperations = [
  'post-auth-request',
  'get-next-deployment',
  'post-next-deployment',
  'post-next-deployment-v2',
  'put-deployment-status',
  'put-deployment-log',
  'get-update-control-map',
  'get-configuration',
  'put-configuration',
  'post-alerts',
  'post-monitor-configuration',
  'patch-attributes',
  'put-attributes',
] as const satisfies readonly OperationId[];

/** Operations whose successful answer has no body, though its status could have one. */
const bodiless = [
  'post-alerts',
  'post-monitor-configuration',
  'put-configuration',
  'put-attributes',
  'patch-attributes',
] as const satisfies readonly OperationId[];

/** Those invariants that show in the exchanges of devices, whatever stands before the server. */
const shared: readonly Invariant[] = invariants.filter(({ id }) =>
  [
    ...['error-body', 'body-is-json', 'error-is-a-text', 'request-id-is-a-text'],
    ...['request-id-equals-header', 'request-id-of-the-server'],
  ].includes(id),
);

function expectHolds(invariant: Invariant): WatchRule['expect'] {
  return (seen) => {
    const fault = seen.judged && invariant.fault(seen.judged, seen.memory);
    if (fault) throw new ExpectationFailure(`${fault.where} to ${fault.must}`, fault.seen);
  };
}

function ruleOf(
  invariant: Invariant,
  requirement: RequirementId,
  places: readonly OperationId[] = deviceOperations,
): WatchRule {
  return {
    requirement,
    operations: places,
    applies: ({ judged }) => judged !== undefined && invariant.applies(judged),
    expect: expectHolds(invariant),
  };
}

const errorRules: readonly WatchRule[] = shared.flatMap((invariant) => {
  const { id, requirement } = invariant;
  if (requirement === undefined) return [];
  const ofAuthentication = ruleOf(invariant, 'auth.refusals-are-errors', ['post-auth-request']);
  return [ruleOf(invariant, requirement), ...(id === 'error-body' ? [ofAuthentication] : [])];
});

/** Answers that are to have no body, each by the requirement of its operation. */
const emptyRules: readonly WatchRule[] = invariants
  .filter(({ id }) => id === 'no-body')
  .flatMap((invariant) =>
    bodiless.map((id) => ruleOf(invariant, requirementOn(id, ['body']), [id])),
  );

const configurationRules: readonly WatchRule[] = [
  succeedsWith(204, 'put-configuration', 'configuration.write'),
  {
    requirement: 'configuration.read',
    operations: ['get-configuration'],
    applies: ({ isSuccess, hasWholeBody }) => isSuccess && hasWholeBody,
    expect: ({ answer, received }) =>
      expectThat(
        answer.status === 200 && isObject(received),
        'status 200 with a JSON object',
        `${answer.status} with ${shown(answer.text)}`,
      ),
  },
  {
    requirement: 'configuration.read-texts',
    operations: ['get-configuration'],
    applies: ({ isSuccess, received }) => isSuccess && isObject(received),
    expect: ({ answer }) => void expectShape(answer, v.record(v.string(), v.string())),
  },
];

/** Errors of every operation; configuration, monitor and inventory. */
export const answerRules: readonly WatchRule[] = [
  ...errorRules,
  ...emptyRules,
  ...configurationRules,
  succeedsWith(204, 'post-alerts', 'alerts.are-accepted'),
  succeedsWith(204, 'post-monitor-configuration', 'monitor.is-accepted'),
  succeedsWith(200, 'put-attributes', 'inventory.put-is-200'),
  succeedsWith(200, 'patch-attributes', 'inventory.patch-is-200'),
];
