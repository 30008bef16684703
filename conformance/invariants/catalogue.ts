/**
 * Every invariant: what the contract says of all exchanges, or of all answers of an operation. The
 * suite holds each of its exchanges against them, and the monitor those of others.
 */
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import { artifactInvariants } from './artifact-rules.ts';
import { auditInvariants } from './audit-rules.ts';
import { bodyInvariants } from './body-rules.ts';
import { errorInvariants } from './error-rules.ts';
import { headerInvariants } from './header-rules.ts';
import type { Invariant } from './invariant.ts';
import { requestInvariants } from './request-rules.ts';
import { statusInvariants } from './status-rules.ts';

/** All of them. */
export const invariants: readonly Invariant[] = [
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
