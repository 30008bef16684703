/**
 * The invariants: rules on all exchanges, or on all answers of an operation, whatever was asked. The
 * suite holds each of its exchanges against them; some hold for the exchanges of devices too.
 */
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import type { PassiveRule } from './rule.ts';
import { artifactInvariants } from './rules/artifacts.ts';
import { auditInvariants } from './rules/audit-log.ts';
import { bodyInvariants } from './rules/bodies.ts';
import { errorInvariants } from './rules/errors.ts';
import { headerInvariants } from './rules/headers.ts';
import { requestInvariants } from './rules/requests.ts';
import { statusInvariants } from './rules/statuses.ts';

export const invariants: readonly PassiveRule[] = [
  ...statusInvariants,
  ...errorInvariants,
  ...bodyInvariants,
  ...headerInvariants,
  ...requestInvariants,
  ...auditInvariants,
  ...artifactInvariants,
];

/** The requirements that speak of all operations and that are judged on every exchange. */
export const generalRequirements: readonly RequirementId[] = [
  ...new Set(invariants.flatMap(({ requirement }) => requirement ?? [])),
].filter((id) => requirements[id].operations.length === 0);
