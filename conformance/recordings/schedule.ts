/** The deprecation schedule on one day. Spec: Versioning */
import {
  type DeprecatedApi,
  type DeprecatedField,
  deprecatedApis,
  deprecatedFields,
  endOfLife,
  type Successor,
} from '../../fixtures/contract/deprecations.ts';
import { daysBetween } from './day.ts';

/** The state of a row of the schedule on a day. */
type DeprecationState = 'not-yet-deprecated' | 'deprecated' | 'retired';

/** One row of the schedule on a day; days are UTC, `YYYY-MM-DD`. */
export interface ScheduleRow {
  readonly kind: 'call' | 'field';
  readonly method: string;
  /** Path below the prefix of its versions, parameters in braces. */
  readonly path: string;
  /** Further paths that carry a field. */
  readonly alsoAt?: readonly string[];
  /** Family and version, as in `management v1`. */
  readonly versions: readonly string[];
  /** For a field only: its name and its place. */
  readonly field?: string;
  readonly place?: DeprecatedField['place'];
  readonly deprecatedSince: string;
  readonly endOfLife: string;
  readonly state: DeprecationState;
  /** Days until its end of life, 0 from that day on. */
  readonly daysLeft: number;
  readonly replacement: string;
  /** Of a call alone: the call to make instead. */
  readonly successor?: Successor;
}

/** The whole schedule on a day: its 15 calls, then its 5 fields, each in the contract's order. */
export interface Schedule {
  readonly on: string;
  readonly endOfLife: string;
  readonly rows: readonly ScheduleRow[];
}

/** The schedule on a day. */
export function scheduleOn(on: string): Schedule {
  const calls = deprecatedApis.map((api) => callRow(api, on));
  const fields = deprecatedFields.map((field) => fieldRow(field, on));
  return { on, endOfLife, rows: [...calls, ...fields] };
}

/** A row's name in one line: `GET v1 /useradm/roles`, or a field and the call that carries it. */
export function rowName({ method, path, versions, field }: ScheduleRow): string {
  const among = versions.map((version) => version.replace('management ', '')).join(', ');
  const call = `${method} ${among} ${path}`;
  return field === undefined ? call : `${field} of ${call}`;
}

function callRow(api: DeprecatedApi, on: string): ScheduleRow {
  const { method, path, version, deprecatedSince, replacement, successor } = api;
  const versions = [`management ${version}`];
  const standing = standingOn(on, deprecatedSince);
  return { kind: 'call', method, path, versions, ...standing, replacement, successor };
}

function fieldRow(row: DeprecatedField, on: string): ScheduleRow {
  const { deprecatedSince, replacement, ...carried } = row;
  return { kind: 'field', ...carried, ...standingOn(on, deprecatedSince), replacement };
}

function standingOn(on: string, deprecatedSince: string) {
  const daysLeft = Math.max(0, daysBetween(on, endOfLife));
  return { deprecatedSince, endOfLife, state: stateOn(on, deprecatedSince), daysLeft };
}

/** Both days belong to what they begin: deprecated on the day of the announcement already. */
function stateOn(on: string, deprecatedSince: string): DeprecationState {
  if (on >= endOfLife) return 'retired';
  return on >= deprecatedSince ? 'deprecated' : 'not-yet-deprecated';
}
