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
  /** Path below the version prefix, with parameters in braces. */
  readonly path: string;
  /** Further paths whose bodies have the field. */
  readonly alsoAt?: readonly string[];
  /** Family and version, as in `management v1`. */
  readonly versions: readonly string[];
  /** The name and the location of the field; only for the kind `field`. */
  readonly field?: string;
  readonly location?: DeprecatedField['location'];
  readonly deprecatedSince: string;
  readonly endOfLife: string;
  readonly state: DeprecationState;
  /** Days until the end of life, 0 from that day on. */
  readonly daysLeft: number;
  readonly replacement: string;
  /** The replacement of a call; only for the kind `call`. */
  readonly successor?: Successor;
}

/** The whole schedule on a day: 15 calls, then 5 fields, each in the order of the contract. */
export interface Schedule {
  readonly on: string;
  readonly endOfLife: string;
  readonly rows: readonly ScheduleRow[];
}

/** Returns the schedule as of a day. */
export function scheduleOn(on: string): Schedule {
  const calls = deprecatedApis.map((api) => callRow(api, on));
  const fields = deprecatedFields.map((field) => fieldRow(field, on));
  return { on, endOfLife, rows: [...calls, ...fields] };
}

/** Returns the name of a row: `GET v1 /useradm/roles`, or a field and the call that has it. */
export function rowName({ method, path, versions, field }: ScheduleRow): string {
  const among = versions.map((version) => version.replace('management ', '')).join(', ');
  const call = `${method} ${among} ${path}`;
  return field === undefined ? call : `${field} of ${call}`;
}

function callRow(api: DeprecatedApi, on: string): ScheduleRow {
  const { method, path, version, deprecatedSince, replacement, successor } = api;
  const versions = [`management ${version}`];
  const deprecationState = deprecationOn(on, deprecatedSince);
  return { kind: 'call', method, path, versions, ...deprecationState, replacement, successor };
}

function fieldRow(row: DeprecatedField, on: string): ScheduleRow {
  const { deprecatedSince, replacement, ...carried } = row;
  return { kind: 'field', ...carried, ...deprecationOn(on, deprecatedSince), replacement };
}

function deprecationOn(on: string, deprecatedSince: string) {
  const daysLeft = Math.max(0, daysBetween(on, endOfLife));
  return { deprecatedSince, endOfLife, state: stateOn(on, deprecatedSince), daysLeft };
}

/** Returns the state on a day. A state starts at the beginning of its day. */
function stateOn(on: string, deprecatedSince: string): DeprecationState {
  if (on >= endOfLife) return 'retired';
  return on >= deprecatedSince ? 'deprecated' : 'not-yet-deprecated';
}
