/** Filters lists and counts of devices. */
import type { DeviceStatus } from '../../fixtures/contract/vocabulary.ts';
import { comparison, filterBy, oneOf, type SqlCondition, type SqlFilter } from './engine/filter.ts';

/** A device must meet all given conditions; an empty list of statuses or IDs is not a condition. */
export interface DeviceFilter {
  readonly status?: readonly DeviceStatus[] | undefined;
  readonly id?: readonly string[] | undefined;
  /** Only devices in these groups, to which the caller's access is limited. */
  readonly groups?: readonly string[] | undefined;
  /** Only devices in this group, as the caller requested. */
  readonly group?: string | undefined;
  /** True for devices in any group, false for devices in none. */
  readonly hasGroup?: boolean | undefined;
  /** Only devices first accepted at or before this time, in milliseconds since the Unix epoch. */
  readonly acceptedByMs?: number | undefined;
  /** Only devices after this one, in order of first contact. */
  readonly afterSeq?: number | undefined;
  /** Only devices whose identity, as canonical JSON, contains one of these texts. */
  readonly identityHas?: readonly string[] | undefined;
}

/** Returns the filter as the WHERE part of a query on devices. */
export function deviceFilter(filter: DeviceFilter): SqlFilter {
  const {
    status = [],
    id = [],
    groups,
    group,
    hasGroup,
    acceptedByMs,
    afterSeq,
    identityHas,
  } = filter;
  return filterBy(
    oneOf('status', status),
    oneOf('id', id),
    groupsCondition(groups),
    group === undefined ? undefined : groupsCondition([group]),
    hasGroup === undefined ? undefined : groupCondition(hasGroup),
    comparison('accepted_ms', '<=', acceptedByMs),
    comparison('seq', '>', afterSeq),
    identityHas && [identityHas.map(() => 'instr(identity, ?)').join(' OR '), ...identityHas],
  );
}

/** An empty list of groups matches no device. */
function groupsCondition(groups: readonly string[] | undefined): SqlCondition | undefined {
  if (!groups) return undefined;
  const names = groups.map(() => '?').join(', ');
  return [`id IN (SELECT device_id FROM device_groups WHERE name IN (${names}))`, ...groups];
}

function groupCondition(wanted: boolean): SqlCondition {
  return [`id ${wanted ? 'IN' : 'NOT IN'} (SELECT device_id FROM device_groups)`];
}
