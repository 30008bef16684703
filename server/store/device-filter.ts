/** Which devices a list or a count is for. */
import type { DeviceStatus } from '../../fixtures/contract/vocabulary.ts';
import { type Condition, compared, type Filter, filterBy, oneOf } from './engine/filter.ts';

/** Everything that is given must hold; an empty list of statuses or ids filters nothing. */
export interface DeviceFilter {
  readonly status?: readonly DeviceStatus[] | undefined;
  readonly id?: readonly string[] | undefined;
  /** Devices of these groups only: those that the caller may see. */
  readonly groups?: readonly string[] | undefined;
  /** Only devices of this group, which the caller requests. */
  readonly group?: string | undefined;
  /** Devices that are in any group, or in none. */
  readonly hasGroup?: boolean | undefined;
  /** Devices that were first accepted by this time, in milliseconds since the Unix epoch. */
  readonly acceptedByMs?: number | undefined;
  /** Devices behind this one, in order of their first contact. */
  readonly afterSeq?: number | undefined;
  /** Devices whose identity, as canonical JSON text, has one of these texts in it. */
  readonly identityHas?: readonly string[] | undefined;
}

/** The filter as the WHERE part of a query on devices. */
export function deviceFilter(filter: DeviceFilter): Filter {
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
    inGroups(groups),
    group === undefined ? undefined : inGroups([group]),
    hasGroup === undefined ? undefined : grouped(hasGroup),
    compared('accepted_ms', '<=', acceptedByMs),
    compared('seq', '>', afterSeq),
    identityHas && [identityHas.map(() => 'instr(identity, ?)').join(' OR '), ...identityHas],
  );
}

/** An empty list of groups is a filter too: no device passes. */
function inGroups(groups: readonly string[] | undefined): Condition | undefined {
  if (!groups) return undefined;
  const names = groups.map(() => '?').join(', ');
  return [`id IN (SELECT device_id FROM device_groups WHERE name IN (${names}))`, ...groups];
}

function grouped(wanted: boolean): Condition {
  return [`id ${wanted ? 'IN' : 'NOT IN'} (SELECT device_id FROM device_groups)`];
}
