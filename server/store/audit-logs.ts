/** The audit log: entries are appended, filtered and paged, and never changed. Spec: Audit logs */
import type { AuditLog } from '../../fixtures/contract/resources.ts';
import type { WideAuditAction } from '../../fixtures/contract/vocabulary.ts';
import { AuditIdentities, type KnownIdentities } from './audit-identities.ts';
import { AuditPositions, type EntryPosition, endOfLog, startOfLog } from './audit-positions.ts';
import { equal, filterBy } from './engine/filter.ts';
import { bounds, type Page } from './engine/page.ts';
import { document, number, numberIn } from './engine/row.ts';
import type { Sql, SqlRow } from './engine/sql.ts';

/** An entry to append, with its time in milliseconds. */
export type NewAuditEntry = Pick<AuditLog, 'actor' | 'object' | 'change'> & {
  /**
   * An action of the contract; or, under the dialect wide-audit-actions, of the wider vocabulary of
   * servers in the field.
   */
  readonly action: AuditLog['action'] | WideAuditAction;
  readonly timeMs: number;
};

/** Filter of a list or an export. The time bounds are Unix seconds, both inclusive. */
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

/**
 * With at least this many entries before a page, starting from a nearby known position is faster.
 */
const FAR_ENTRIES = 1000;

/** Entries that `readBatches` reads at a time; reading them does not noticeably block other requests. */
const BATCH_ENTRIES = 250;
/** Entries that a search compares with its filter at a time. */
const RANGE_ENTRIES = 5000;

type SortDirection = 'asc' | 'desc';

/** A filter and an order. */
interface Search {
  readonly filter: AuditFilter;
  readonly order: SortDirection;
}

/** A range of consecutive entries in the order of a search. */
interface EntryRange {
  /** The position before the first entry, exclusive. */
  readonly after: EntryPosition;
  /** The position of the last entry, or a later one; inclusive. */
  readonly upTo: EntryPosition;
}

/** A page of entries, and the total number of matching entries. */
interface EntryPage {
  readonly total: number;
  readonly entries: AuditLog[];
}

/** Reads and writes the audit log of a tenant. */
export class AuditLogStore {
  readonly #sql: Sql;
  readonly #positions: AuditPositions;
  readonly #identities: AuditIdentities;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#positions = new AuditPositions(sql);
    this.#identities = new AuditIdentities(sql);
  }

  /** Discards cached positions after the log was replaced. */
  load(): void {
    this.#positions.load();
  }

  append({ timeMs, ...entry }: NewAuditEntry): void {
    const storedEntry = this.#identities.without({
      ...entry,
      time: new Date(timeMs).toISOString(),
    });
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
        JSON.stringify(storedEntry),
      ],
    );
    this.#positions.add(timeMs);
  }

  /**
   * Returns a page of entries sorted by time, then by order of appending. Yields wherever the work
   * may pause; does not find entries that are appended meanwhile.
   */
  *find(search: Search, page: Page): Generator<void, EntryPage> {
    const [limit, offset] = bounds(page);
    if (isForAll(search.filter)) {
      return { total: this.#positions.count(), entries: this.#page(search.order, limit, offset) };
    }
    const lastSeq = this.#lastSeq();
    const entries: AuditLog[] = [];
    let total = 0;
    for (const range of this.#ranges(search, lastSeq)) {
      const filterSql = matching(search, range, lastSeq);
      const inRange = numberIn(
        this.#sql,
        `SELECT count(*) AS n ${filterSql.from}`,
        filterSql.values,
      );
      const skipped = Math.max(0, offset - total);
      const remaining = limit - entries.length;
      if (remaining > 0 && skipped < inRange) {
        const query = `SELECT document ${filterSql.from} ${orderBy[search.order]} LIMIT ? OFFSET ?`;
        entries.push(
          ...this.#entries(this.#sql.all(query, [...filterSql.values, remaining, skipped])),
        );
      }
      total += inRange;
      yield;
    }
    return { total, entries };
  }

  #page(order: SortDirection, limit: number, offset: number): AuditLog[] {
    if (offset >= FAR_ENTRIES) return this.#pageByBlocks(order, limit, offset);
    const query = `SELECT document FROM audit_logs ${orderBy[order]} LIMIT ? OFFSET ?`;
    return this.#entries(this.#sql.all(query, [limit, offset]));
  }

  #pageByBlocks(order: SortDirection, limit: number, offset: number): AuditLog[] {
    const remaining = this.#positions.count() - offset;
    if (remaining <= 0) return [];
    const length = Math.min(limit, remaining);
    const { entry, steps } = this.#positions.near(order === 'asc' ? offset : remaining - length);
    const query = `SELECT document FROM audit_logs WHERE (time_ms, seq) >= (?, ?)
      ${orderBy.asc} LIMIT ? OFFSET ?`;
    const rows = this.#sql.all(query, [entry.timeMs, entry.seq, length, steps]);
    return this.#entries(order === 'asc' ? rows : rows.reverse());
  }

  /** Yields the matching entries that exist now, a few at a time; other work may run in between. */
  readBatches(search: Search, max: number): Generator<AuditLog[]> {
    return this.#batches(search, max, this.#lastSeq());
  }

  *#batches(search: Search, max: number, lastSeq: number): Generator<AuditLog[]> {
    const identities: KnownIdentities = new Map();
    let remaining = max;
    for (const { after, upTo } of this.#ranges(search, lastSeq)) {
      let position: EntryPosition | undefined = after;
      while (position && remaining > 0) {
        const { from, values } = matching(search, { after: position, upTo }, lastSeq);
        const query = `SELECT time_ms, seq, document ${from} ${orderBy[search.order]} LIMIT ?`;
        const rows = this.#sql.all(query, [...values, Math.min(remaining, BATCH_ENTRIES)]);
        remaining -= rows.length;
        yield this.#entries(rows, identities);
        position = rows.length === BATCH_ENTRIES ? positionOf(rows.at(-1)) : undefined;
      }
      if (remaining === 0) return;
    }
  }

  /** Divides the entries that a search covers into ranges. */
  *#ranges({ filter, order }: Search, lastSeq: number): Generator<EntryRange> {
    const { after, upTo } = span(filter, order);
    let position: EntryPosition | undefined = after;
    while (position) {
      const remainingSql = matching(
        { filter: { object_id: filter.object_id }, order },
        { after: position, upTo },
        lastSeq,
      );
      const query = `SELECT time_ms, seq ${remainingSql.from} ${orderBy[order]} LIMIT 1 OFFSET ?`;
      const last = positionOf(this.#sql.first(query, [...remainingSql.values, RANGE_ENTRIES - 1]));
      yield { after: position, upTo: last ?? upTo };
      position = last;
    }
  }

  #lastSeq(): number {
    return numberIn(this.#sql, 'SELECT coalesce(max(seq), 0) AS n FROM audit_logs');
  }

  #entries(rows: readonly SqlRow[], identities?: KnownIdentities): AuditLog[] {
    const entries = rows.map((row) => document<AuditLog>(row, 'document'));
    this.#identities.putBack(entries, identities);
    return entries;
  }
}

const orderBy = {
  asc: 'ORDER BY time_ms, seq',
  desc: 'ORDER BY time_ms DESC, seq DESC',
};

function positionOf(row: SqlRow | undefined): EntryPosition | undefined {
  return row && { timeMs: number(row, 'time_ms'), seq: number(row, 'seq') };
}

/** Returns the range of positions within the filter's time bounds. */
function span(
  { created_after: after, created_before: before }: AuditFilter,
  order: SortDirection,
): EntryRange {
  const low = after === undefined ? startOfLog : { timeMs: after * 1000, seq: 0 };
  const high = before === undefined ? endOfLog : { timeMs: before * 1000, seq: endOfLog.seq };
  return order === 'asc' ? { after: low, upTo: high } : { after: high, upTo: low };
}

const columns = [
  'actor_id',
  'actor_type',
  'actor_email',
  'object_id',
  'object_type',
  'object_deployment_name',
] as const;

function isForAll(filter: AuditFilter): boolean {
  const names = [...columns, 'created_after', 'created_before'] as const;
  return names.every((name) => filter[name] === undefined);
}

/** Returns the SQL that finds the matching entries of a range, up to the entry `lastSeq`. */
function matching({ filter, order }: Search, { after, upTo }: EntryRange, lastSeq: number) {
  const [behind, notBehind] = order === 'asc' ? ['>', '<='] : ['<', '>='];
  const { where, values } = filterBy(
    [`(time_ms, seq) ${behind} (?, ?)`, after.timeMs, after.seq],
    [`(time_ms, seq) ${notBehind} (?, ?)`, upTo.timeMs, upTo.seq],
    // The unary plus keeps the query planner from choosing its order of reading by this condition.
    ['+seq <= ?', lastSeq],
    ...columns.map((column) => equal(column, filter[column])),
  );
  return { from: `FROM audit_logs ${where}`, values };
}
