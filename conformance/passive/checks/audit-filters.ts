/** The filters of the audit log, with the entries that each selects. Spec: Audit logs */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { actorTypes, auditObjectTypes } from '../../../fixtures/contract/vocabulary.ts';
import { timeOf } from '../response-parts.ts';

const MS_PER_SECOND = 1000;

/** A parameter that selects entries. */
export interface AuditFilter {
  readonly name: string;
  readonly requirement: RequirementId;
  readonly path: readonly string[];
  /**
   * Returns whether the filter value `wanted` selects an entry with `value`; undefined if the
   * contract does not define which entries `wanted` selects.
   */
  readonly keeps: (wanted: string, value: unknown) => boolean | undefined;
}

const isSame: AuditFilter['keeps'] = (wanted, value) =>
  wanted === '' ? undefined : value === wanted;

function isSameOf(names: readonly string[]): AuditFilter['keeps'] {
  return (wanted, value) => (names.includes(wanted) ? value === wanted : undefined);
}

/** Compares the stamp of an entry with a bound: both are times of the server, so no clock matters. */
function isInTime(holds: (ms: number, boundMs: number) => boolean): AuditFilter['keeps'] {
  return (wanted, value) => {
    const ms = timeOf(value);
    if (!/^\d{1,11}$/.test(wanted) || ms === undefined) return undefined;
    return holds(ms, Number(wanted) * MS_PER_SECOND);
  };
}

const isSameAddress: AuditFilter['keeps'] = (wanted, value) => {
  // The email of an actor is optional in an entry.
  if (value === undefined || !/^[\w.+-]+@[\w.-]+$/.test(wanted)) return undefined;
  return typeof value === 'string' && value.toLowerCase() === wanted.toLowerCase();
};

/** The filters of the list; the export has the same. */
export const auditFilters: readonly AuditFilter[] = [
  { name: 'actor_id', requirement: 'audit.actor-filters', path: ['actor', 'id'], keeps: isSame },
  {
    name: 'actor_type',
    requirement: 'audit.actor-type-filter',
    path: ['actor', 'type'],
    keeps: isSameOf(actorTypes),
  },
  {
    name: 'actor_email',
    requirement: 'audit.actor-email-filter',
    path: ['actor', 'email'],
    keeps: isSameAddress,
  },
  {
    name: 'object_id',
    requirement: 'audit.object-filters',
    path: ['object', 'id'],
    keeps: isSame,
  },
  {
    name: 'object_type',
    requirement: 'audit.object-type-filter',
    path: ['object', 'type'],
    keeps: isSameOf(auditObjectTypes),
  },
  {
    name: 'object_deployment_name',
    requirement: 'audit.object-deployment-name-filter',
    path: ['object', 'deployment', 'name'],
    keeps: isSame,
  },
  {
    name: 'created_after',
    requirement: 'audit.time-bounds',
    path: ['time'],
    keeps: isInTime((ms, boundMs) => ms >= boundMs),
  },
  {
    name: 'created_before',
    requirement: 'audit.created-before',
    path: ['time'],
    keeps: isInTime((ms, boundMs) => ms <= boundMs),
  },
];
