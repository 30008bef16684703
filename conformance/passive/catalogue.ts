/**
 * The passive checks: what every exchange, or every response of an operation, must satisfy. The
 * suite checks each of its own exchanges against all of them; `device-traffic-judge.ts` also applies some of them
 * to the exchanges of other devices.
 */
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import type { PassiveCheck } from './check.ts';
import { artifactChecks } from './checks/artifacts.ts';
import { auditChecks } from './checks/audit-log.ts';
import { bodyChecks } from './checks/bodies.ts';
import { errorChecks } from './checks/errors.ts';
import { headerChecks } from './checks/headers.ts';
import { requestChecks } from './checks/requests.ts';
import { statusChecks } from './checks/statuses.ts';

export const passiveChecks: readonly PassiveCheck[] = [
  ...statusChecks,
  ...errorChecks,
  ...bodyChecks,
  ...headerChecks,
  ...requestChecks,
  ...auditChecks,
  ...artifactChecks,
];

/** The requirements that apply to all operations and that a passive check decides. */
export const generalRequirements: readonly RequirementId[] = [
  ...new Set(passiveChecks.flatMap(({ requirement }) => requirement ?? [])),
].filter((id) => requirements[id].operations.length === 0);
