/**
 * The invariants: rules that every exchange, or every answer of an operation, must satisfy. The
 * suite checks each of its own exchanges against all of them; `watch.ts` also applies some of them
 * to the exchanges of other devices.
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

/** The requirements that apply to all operations and that an invariant checks. */
export const generalRequirements: readonly RequirementId[] = [
  ...new Set(invariants.flatMap(({ requirement }) => requirement ?? [])),
].filter((id) => requirements[id].operations.length === 0);
