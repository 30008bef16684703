/**
 * Tracks the entries of the audit log on what a case does as a user: each at most once for each
 * act, and in every list whose filters it fits once it was seen. Spec: Audit logs
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { membersOf } from '../../target/json-members.ts';
import { type AuditFilter, auditFilters } from '../checks/audit-filters.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import { memberAt, timeOf } from '../response-parts.ts';
import type { TrackedViolation, Tracker } from './tracker.ts';

/** Maximum number of entries that are recorded for one case. */
const ENTRIES_MAX = 1000;

/** The parameters that select a page, and do not change which entries are listed. */
const pageParameters = ['page', 'per_page', 'sort'];

/** The acts of users whose entries the contract names, by operation. */
const actions: Readonly<Record<string, string>> = {
  'create-deployment': 'create',
  'abort-deployment': 'abort',
  'set-auth-set-status': 'reject',
  'decommission-device': 'decommission',
};

/** Tracks the audit log in one case. */
export class AuditTracker implements Tracker {
  /** How often each act on an object was requested, by `OBJECT ACTION`. */
  readonly #actionCounts = new Map<string, number>();
  /** The entries on acts of the case that were seen in any list, by object and action. */
  readonly #listedEntries = new Map<string, unknown>();

  judge(exchange: JudgedExchange): readonly TrackedViolation[] {
    const { operation, status, responseJson, hasBody, isOrdinary, repeatsParameter } = exchange;
    if (operation.id !== 'list-audit-logs') {
      this.#countAction(exchange);
      return [];
    }
    if (status !== 200 || !hasBody || !isOrdinary || repeatsParameter) return [];
    if (!Array.isArray(responseJson)) return [];
    const violations = [
      this.#findRepetition(responseJson),
      this.#findMissingEntry(exchange, responseJson),
    ];
    this.#recordEntries(responseJson);
    return violations.filter((each) => each !== undefined);
  }

  recordNoResponse(exchange: JudgedExchange): void {
    this.#countAction(exchange);
  }

  /** Counts an act, also a refused one: an entry on it is another requirement's matter. */
  #countAction(exchange: JudgedExchange): void {
    const action = actions[exchange.operation.id];
    const object = action === undefined ? undefined : objectOf(exchange);
    if (object === undefined) return;
    const key = `${object} ${action}`;
    this.#actionCounts.set(key, (this.#actionCounts.get(key) ?? 0) + 1);
  }

  /** Returns a violation if a page has more entries on an act than there were such acts. */
  #findRepetition(entries: readonly unknown[]): TrackedViolation | undefined {
    const counts = new Map<string, number>();
    for (const [index, key] of entries.map(keyOf).entries()) {
      const max = this.#actionCounts.get(key) ?? Number.POSITIVE_INFINITY;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count <= max) continue;
      const expected = `be on another act than "${key}", which a user did ${max} times`;
      const part = `200 body: /${index}`;
      return {
        part,
        expected,
        actual: `entry ${count} on it`,
        requirement: 'audit.one-entry-per-action',
      };
    }
    return undefined;
  }

  /** Returns a violation if a whole list lacks an entry that was seen before and fits it. */
  #findMissingEntry(
    exchange: JudgedExchange,
    entries: readonly unknown[],
  ): TrackedViolation | undefined {
    const filters = filtersOf(exchange);
    const isFirst = ['1', undefined].includes(exchange.parameter('page'));
    const isWhole = exchange.response.headers['x-total-count'] === String(entries.length);
    if (filters === undefined || !isFirst || !isWhole) return undefined;
    const listedKeys = new Set(entries.map(keyOf));
    const missingEntry = [...this.#listedEntries].find(
      ([key, entry]) =>
        !listedKeys.has(key) &&
        filters.every(({ filter, filterValue }) => matchesFilter(filter, filterValue, entry)),
    );
    if (missingEntry === undefined) return undefined;
    const expected = `hold the entry on "${missingEntry[0]}", which fits and was listed before`;
    const requirement = requirementOf(filters.map(({ filter }) => filter));
    return { part: '200 body', expected, actual: `${entries.length} others`, requirement };
  }

  /** Records the entries on acts that were done once, so that one entry is one act. */
  #recordEntries(entries: readonly unknown[]): void {
    for (const entry of entries) {
      const key = keyOf(entry);
      if (this.#actionCounts.get(key) === 1 && this.#listedEntries.size < ENTRIES_MAX)
        this.#listedEntries.set(key, entry);
    }
  }
}

interface RequestedFilter {
  readonly filter: AuditFilter;
  readonly filterValue: string;
}

/** Returns the filters of a request; undefined if one of its parameters is not known. */
function filtersOf(exchange: JudgedExchange): readonly RequestedFilter[] | undefined {
  const requestedFilters: RequestedFilter[] = [];
  for (const [name, filterValue] of new URL(exchange.request.url).searchParams) {
    if (pageParameters.includes(name)) continue;
    const filter = auditFilters.find((each) => each.name === name);
    if (filter === undefined) return undefined;
    requestedFilters.push({ filter, filterValue });
  }
  return requestedFilters;
}

/** Returns true if every server must list the entry: it fits to the letter and the millisecond. */
function matchesFilter(
  { name, path, keeps }: AuditFilter,
  filterValue: string,
  entry: unknown,
): boolean {
  const value = memberAt(entry, path);
  if (keeps(filterValue, value) !== true) return false;
  if (name === 'created_after') return true;
  if (name !== 'created_before') return value === filterValue;
  return (timeOf(value) ?? Number.POSITIVE_INFINITY) <= Number(filterValue) * 1000;
}

/** Returns the requirement of the only filter besides the object, or that of all together. */
function requirementOf(filters: readonly AuditFilter[]): RequirementId {
  const otherFilters = filters.filter(({ name }) => name !== 'object_id');
  const [onlyFilter = filters[0]] = otherFilters;
  if (onlyFilter === undefined) return 'audit.recorded-actions';
  return otherFilters.length > 1 ? 'audit.filters-combine' : onlyFilter.requirement;
}

/** Returns what identifies an entry on an act that was done once: its object and its action. */
function keyOf(entry: unknown): string {
  return `${memberAt(entry, ['object', 'id'])} ${memberAt(entry, ['action'])}`;
}

/** Returns the ID of the object of an act; undefined for a request that is none of the acts. */
function objectOf(exchange: JudgedExchange): string | undefined {
  const { operation, requestJson, response, isSuccess } = exchange;
  if (operation.id === 'create-deployment') {
    return isSuccess ? response.headers.location?.split('/').at(-1) : undefined;
  }
  if (operation.id === 'set-auth-set-status') {
    return membersOf(requestJson).status === 'rejected' ? exchange.pathParameter('id') : undefined;
  }
  return operation.id === 'abort-deployment' ? exchange.deploymentId : exchange.segment();
}
