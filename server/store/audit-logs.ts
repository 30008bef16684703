/** The audit log: appended to, filtered and paged, never changed. Spec: Audit logs */
import type { AuditLog } from '../../fixtures/contract/resources.ts';
import type { WideAuditAction } from '../../fixtures/contract/vocabulary.ts';
import { AuditIdentities, type KnownIdentities } from './audit-identities.ts';
import { AuditPlaces, endOfLog, type Place, startOfLog } from './audit-places.ts';
import { type Condition, equal, type Filter, filterBy } from './filter.ts';
import { bounds, type Page } from './page.ts';
import { document, number, numberIn } from './row.ts';
import type { Sql, SqlRow } from './sql.ts';

/** An entry before it has a time in text form. */
export type NewAuditEntry = Pick<AuditLog, 'actor' | 'object' | 'change'> & {
  /** A word of the contract, or of the field's wider vocabulary where that was chosen. */
  readonly action: AuditLog['action'] | WideAuditAction;
  readonly timeMs: number;
};

/** What a list or an export can be narrowed to. Bounds are Unix seconds, both inclusive. */
export interface AuditFilter {
  readonly created_before?: number | undefined;
  readonly created_after?: number | undefined;
  readonly actor_id?: string | undefined;
  readonly actor_type?: string | undefined;
  readonly actor_email?: string | undefined;
  readonly object_id?: string | undefined;
  readonly object_type?: string | undefined;
  readonly object_deployment_name?: string | undefined;
}

/** From so many entries before a page on, it pays to begin at a place nearby. */
const FAR_ENTRIES = 1000;

/** Few enough that reading them does not block noticeably. */
const ENTRIES_A_PART = 250;

/** Some entries of the log, in the order asked for. */
interface Walk {
  readonly filter: AuditFilter;
  readonly order: 'asc' | 'desc';
  readonly most: number;
}

/** The verbs for the audit log. */
export class AuditLogStore {
  readonly #sql: Sql;
  readonly #places: AuditPlaces;
  readonly #identities: AuditIdentities;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#places = new AuditPlaces(sql);
    this.#identities = new AuditIdentities(sql);
  }

  /** Forgets what it knows of a log that was replaced by another. */
  load(): void {
    this.#places.load();
  }

  append({ timeMs, ...entry }: NewAuditEntry): void {
    const stored = this.#identities.without({ ...entry, time: new Date(timeMs).toISOString() });
    this.#sql.run(
      `INSERT INTO audit_logs (time_ms, action, actor_id, actor_type, actor_email, object_id,
         object_type, object_deployment_name, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        timeMs,
        entry.action,
        entry.actor.id,
        entry.actor.type,
        entry.actor.email ?? null,
        entry.object.id,
        entry.object.type,
        entry.object.deployment?.name ?? null,
        JSON.stringify(stored),
      ],
    );
    this.#places.add(timeMs);
  }

  /** Entries by time, and by order of appending within one millisecond. */
  list(filter: AuditFilter, order: 'asc' | 'desc', page: Page): AuditLog[] {
    const { where, values } = auditFilter(filter);
    const [limit, offset] = bounds(page);
    if (where === '' && offset >= FAR_ENTRIES) return this.#farPage(order, limit, offset);
    const query = `SELECT document FROM audit_logs ${where} ${orderBy[order]} LIMIT ? OFFSET ?`;
    return this.#entries(this.#sql.all(query, [...values, limit, offset]));
  }

  #farPage(order: 'asc' | 'desc', limit: number, offset: number): AuditLog[] {
    const left = this.count({}) - offset;
    if (left <= 0) return [];
    const length = Math.min(limit, left);
    const { place, steps } = this.#places.near(order === 'asc' ? offset : left - length);
    const query = `SELECT document FROM audit_logs WHERE (time_ms, seq) >= (?, ?)
      ${orderBy.asc} LIMIT ? OFFSET ?`;
    const rows = this.#sql.all(query, [place.timeMs, place.seq, length, steps]);
    return this.#entries(order === 'asc' ? rows : rows.reverse());
  }

  count(filter: AuditFilter): number {
    const { where, values } = auditFilter(filter);
    if (where === '') return this.#places.count();
    return numberIn(this.#sql, `SELECT count(*) AS n FROM audit_logs ${where}`, values);
  }

  /** What a list has at this moment, a few entries at a time, however long that takes. */
  walk(walk: Walk): Generator<AuditLog[]> {
    const lastSeq = numberIn(this.#sql, 'SELECT coalesce(max(seq), 0) AS n FROM audit_logs');
    return this.#parts(walk, lastSeq);
  }

  /** Each part begins where the one before ended, so that the engine steps over nothing. */
  *#parts({ filter, order, most }: Walk, lastSeq: number): Generator<AuditLog[]> {
    const known: KnownIdentities = new Map();
    let place = placeBefore(filter, order);
    for (let left = most; left > 0; left -= ENTRIES_A_PART) {
      const { where, values } = filterAfter(place, { filter, order, lastSeq });
      const query = `SELECT time_ms, seq, document FROM audit_logs ${where} ${orderBy[order]} LIMIT ?`;
      const rows = this.#sql.all(query, [...values, Math.min(left, ENTRIES_A_PART)]);
      const last = rows.at(-1);
      if (!last) return;
      yield this.#entries(rows, known);
      place = { timeMs: number(last, 'time_ms'), seq: number(last, 'seq') };
    }
  }

  #entries(rows: readonly SqlRow[], known?: KnownIdentities): AuditLog[] {
    const entries = rows.map((row) => document<AuditLog>(row, 'document'));
    this.#identities.putBack(entries, known);
    return entries;
  }
}

const orderBy = {
  asc: 'ORDER BY time_ms, seq',
  desc: 'ORDER BY time_ms DESC, seq DESC',
};

/** The place that all entries of a walk come after; it takes the part of one of the bounds. */
function placeBefore(filter: AuditFilter, order: 'asc' | 'desc'): Place {
  const { created_after: after, created_before: before } = filter;
  if (order === 'asc') return after === undefined ? startOfLog : { timeMs: after * 1000, seq: 0 };
  return before === undefined ? endOfLog : { timeMs: before * 1000, seq: endOfLog.seq };
}

/** What is left of a walk. A bound beside the place would keep the engine from beginning there. */
function filterAfter(
  { timeMs, seq }: Place,
  { filter, order, lastSeq }: Omit<Walk, 'most'> & { readonly lastSeq: number },
): Filter {
  const isAscending = order === 'asc';
  const unbounded = isAscending ? { created_after: undefined } : { created_before: undefined };
  return auditFilter(
    { ...filter, ...unbounded },
    [`(time_ms, seq) ${isAscending ? '>' : '<'} (?, ?)`, timeMs, seq],
    // The sign keeps the engine from taking this for an order.
    ['+seq <= ?', lastSeq],
  );
}

function auditFilter(filter: AuditFilter, ...others: readonly Condition[]): Filter {
  const { created_before: before, created_after: after } = filter;
  return filterBy(
    ...others,
    before === undefined ? undefined : ['time_ms <= ?', before * 1000],
    after === undefined ? undefined : ['time_ms >= ?', after * 1000],
    equal('actor_id', filter.actor_id),
    equal('actor_type', filter.actor_type),
    equal('actor_email', filter.actor_email),
    equal('object_id', filter.object_id),
    equal('object_type', filter.object_type),
    equal('object_deployment_name', filter.object_deployment_name),
  );
}
