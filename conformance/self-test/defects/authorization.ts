/**
 * Defects in the authorisation matrix: each operation admits callers that it must refuse.
 * Spec: Authentication, rule 5
 */
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { statusBecomes } from '../alterations.ts';
import type { Defect } from '../defect.ts';

/** The status with which each operation answers an admitted caller. */
const successes: readonly (readonly [OperationId, number])[] = [
  ['list-artifacts', 200],
  ['get-artifact', 404],
  ['get-artifact-link', 404],
  ['get-next-deployment', 204],
  ['post-next-deployment', 204],
  ['put-deployment-status', 404],
  ['put-deployment-log', 404],
  ['post-next-deployment-v2', 204],
  ['get-update-control-map', 404],
  ['get-configuration', 200],
  ['put-configuration', 204],
  ['connect', 400],
  ['post-alerts', 204],
  ['post-monitor-configuration', 204],
  ['patch-attributes', 200],
  ['put-attributes', 200],
  ['list-audit-logs', 200],
  ['export-audit-logs', 200],
];

/**
 * Requirements of the areas on callers without a valid token, besides the requirement for all operations.
 */
const areaRequirements: Readonly<Partial<Record<OperationId, RequirementId>>> = {
  'list-artifacts': 'artifacts.unauthenticated-is-401',
  'get-artifact': 'artifacts.unauthenticated-is-401',
  'get-artifact-link': 'link.unauthenticated-is-401',
  'patch-attributes': 'inventory.unauthenticated-is-401',
  'put-attributes': 'inventory.unauthenticated-is-401',
  'post-alerts': 'alerts.need-a-token',
  'post-monitor-configuration': 'monitor.needs-a-token',
};

/** Returns the requirement of the operation's area, if it has one of its own. */
function areaRequirement(operation: OperationId): readonly RequirementId[] {
  const requirement = areaRequirements[operation];
  return requirement === undefined ? [] : [requirement];
}

export const authorizationDefects: readonly Defect[] = successes.flatMap(
  ([operation, status]) =>
    [
      {
        id: `${operation}-takes-no-token`,
        title: `The operation ${operation} is open to callers without a token.`,
        violates: ['tokens.missing-is-401', ...areaRequirement(operation)],
        operations: [operation],
        alter: statusBecomes(
          401,
          status,
          ({ headers }) => headers.authorization === undefined && headers.cookie === undefined,
        ),
      },
      {
        id: `${operation}-takes-made-up-tokens`,
        title: `The operation ${operation} is open to callers with any three words as a token.`,
        violates: ['tokens.invalid-is-401', ...areaRequirement(operation)],
        operations: [operation],
        alter: statusBecomes(
          401,
          status,
          ({ headers }) => headers.authorization === 'Bearer one.two.three',
        ),
      },
    ] as const satisfies readonly Defect[],
);
