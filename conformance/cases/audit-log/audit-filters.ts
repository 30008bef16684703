/** The filters of the audit log, shared by list and export. Spec: Audit logs */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import {
  type AuditQuery,
  type ReceivedEntry,
  secondsAround,
  textAt,
  unknownId,
} from './audit-reading.ts';

/**
 * One parameter: queries that match both entries of a deployment, and queries that match neither.
 */
export interface FilterParameter {
  /** The beginning of a title that continues with "are listed" or "are exported". */
  readonly title: string;
  readonly ofList: RequirementId;
  readonly ofExport: RequirementId;
  readonly matchingQuery: (
    arranged: { readonly deploymentName: string },
    createAndAbortEntries: readonly ReceivedEntry[],
  ) => AuditQuery;
  readonly nonMatchingQueries: (
    createAndAbortEntries: readonly ReceivedEntry[],
    arranged: { readonly deploymentName: string },
  ) => readonly AuditQuery[];
}

/** Texts that no entry has, some of which a careless server interprets as more than text. */
const strangeTexts = ["' OR '1'='1", '%', '*', '.*', 'größer ☃', 'x'.repeat(500)];

/** Returns queries for texts that no entry has. */
export function emptyQueries(name: string): readonly AuditQuery[] {
  return [unknownId, ...strangeTexts].map((text) => ({ [name]: text }));
}

/**
 * Returns queries for texts that are almost an existing one: its beginning, its end, a longer text,
 * and patterns of several languages that match it.
 */
function nearQueries(name: string, text: string | undefined): readonly AuditQuery[] {
  if (text === undefined || text.length < 2) return [];
  const [prefix, end] = [text.slice(0, -1), text.slice(1)];
  const near = [prefix, end, `${text}0`, `${prefix}%`, `${prefix}_`, `${prefix}*`];
  return near.map((each) => ({ [name]: each }));
}

const DAY_SECONDS = 86_400;

/** Every filter except `object_id`, which the checks of the others rely on. */
export const auditFilters: Readonly<Record<string, FilterParameter>> = {
  'created-after': {
    title: 'With created_after, only entries of that second or later',
    ofList: 'audit.time-bounds',
    ofExport: 'audit.export-created-after',
    matchingQuery: (_, createAndAbortEntries) => ({
      created_after: secondsAround(createAndAbortEntries).oldest,
    }),
    nonMatchingQueries: (createAndAbortEntries) => [
      { created_after: secondsAround(createAndAbortEntries).afterNewest },
      { created_after: secondsAround(createAndAbortEntries).newest + DAY_SECONDS },
    ],
  },
  'created-before': {
    title: 'With created_before, only entries of that second or earlier',
    ofList: 'audit.created-before',
    ofExport: 'audit.export-created-before',
    matchingQuery: (_, createAndAbortEntries) => ({
      created_before: secondsAround(createAndAbortEntries).newest,
    }),
    nonMatchingQueries: (createAndAbortEntries) => [
      { created_before: secondsAround(createAndAbortEntries).oldest - 1 },
      { created_before: 0 },
      { created_before: 1 },
    ],
  },
  'actor-id': {
    title: 'With actor_id, only entries by that actor',
    ofList: 'audit.actor-filters',
    ofExport: 'audit.export-actor-id',
    matchingQuery: (_, createAndAbortEntries) =>
      queryOfValue(createAndAbortEntries, 'actor.id', 'actor_id'),
    nonMatchingQueries: (createAndAbortEntries) => [
      ...emptyQueries('actor_id'),
      ...nearQueries('actor_id', textAt(createAndAbortEntries[0] ?? {}, 'actor.id')),
    ],
  },
  'actor-type': {
    title: 'With actor_type, only entries by users or by devices',
    ofList: 'audit.actor-type-filter',
    ofExport: 'audit.export-actor-type',
    matchingQuery: () => ({ actor_type: 'user' }),
    nonMatchingQueries: () => [{ actor_type: 'device' }],
  },
  'actor-email': {
    title: 'With actor_email, only entries by the user with that email address',
    ofList: 'audit.actor-email-filter',
    ofExport: 'audit.export-actor-email',
    // The email is optional in an entry; without it only the non-matching queries can be checked.
    matchingQuery: (_, createAndAbortEntries) =>
      queryOfValue(createAndAbortEntries, 'actor.email', 'actor_email'),
    nonMatchingQueries: (createAndAbortEntries) => [
      ...emptyQueries('actor_email'),
      { actor_email: 'nobody@example.com' },
      ...nearQueries('actor_email', textAt(createAndAbortEntries[0] ?? {}, 'actor.email')),
    ],
  },
  'object-type': {
    title: 'With object_type, only entries on objects of that type',
    ofList: 'audit.object-type-filter',
    ofExport: 'audit.export-object-type',
    matchingQuery: () => ({ object_type: 'deployment' }),
    nonMatchingQueries: () => [
      { object_type: 'artifact' },
      { object_type: 'user' },
      { object_type: 'device' },
    ],
  },
  'object-deployment-name': {
    title: 'With object_deployment_name, only entries on deployments with that name',
    ofList: 'audit.object-deployment-name-filter',
    ofExport: 'audit.export-object-deployment-name',
    matchingQuery: ({ deploymentName }) => ({ object_deployment_name: deploymentName }),
    nonMatchingQueries: (_, { deploymentName }) => [
      ...emptyQueries('object_deployment_name'),
      ...nearQueries('object_deployment_name', deploymentName),
      { object_deployment_name: deploymentName.toUpperCase() },
    ],
  },
};

/** Returns a query by a value that both entries share; empty when they do not report it. */
function queryOfValue(
  createAndAbortEntries: readonly ReceivedEntry[],
  path: string,
  name: string,
): AuditQuery {
  const [one, other] = createAndAbortEntries.map((entry) => textAt(entry, path));
  const isShared = one !== undefined && one === other;
  // Another case checks that it is an email address.
  return isShared && (!path.endsWith('email') || one.includes('@')) ? { [name]: one } : {};
}
