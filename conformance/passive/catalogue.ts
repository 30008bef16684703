/**
 * The invariants: checks that every exchange, or every response of an operation, must satisfy. The
 * suite checks each of its own exchanges against all of them; `watch.ts` also applies some of them
 * to the exchanges of other devices.
 */
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import type { PassiveCheck } from './check.ts';
import { artifactInvariants } from './checks/artifacts.ts';
import { auditInvariants } from './checks/audit-log.ts';
import { bodyInvariants } from './checks/bodies.ts';
import { errorInvariants } from './checks/errors.ts';
import { headerInvariants } from './checks/headers.ts';
import { requestInvariants } from './checks/requests.ts';
import { statusInvariants } from './checks/statuses.ts';

export const invariants: readonly PassiveCheck[] = [
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
