/**
 * Positions of audit log entries. SQLite can find the n-th entry only by stepping over all entries
 * before it; this cache of some positions provides a nearby one to start from.
 */
import { number, numberIn } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';

/** The position of an entry in the order by time, then by order of appending. */
export interface EntryPosition {
  readonly timeMs: number;
  readonly seq: number;
}

/**
 * Distance between cached positions; SQLite steps over so many entries in less time than a response
 * takes.
 */
const ENTRIES_APART = 1000;

/** The position before every entry. */
export const startOfLog: EntryPosition = { timeMs: Number.MIN_SAFE_INTEGER, seq: 0 };
/** The position after every entry. */
export const endOfLog: EntryPosition = {
  timeMs: Number.MAX_SAFE_INTEGER,
  seq: Number.MAX_SAFE_INTEGER,
};

const stepQueries = {
  after: `SELECT time_ms, seq FROM audit_logs WHERE (time_ms, seq) >= (?, ?)
    ORDER BY time_ms, seq LIMIT 1 OFFSET ?`,
  before: `SELECT time_ms, seq FROM audit_logs WHERE (time_ms, seq) < (?, ?)
    ORDER BY time_ms DESC, seq DESC LIMIT 1 OFFSET ? - 1`,
};

/** The number of entries, and the cached positions of some. */
export class AuditPositions {
  readonly #sql: Sql;
  /** Undefined until first needed, because counting reads a large part of the file. */
  #count: number | undefined;
  /**
   * Element n is the position of the entry with `n * ENTRIES_APART` entries before it, if known.
   */
  #positions: (EntryPosition | undefined)[] = [];

  constructor(sql: Sql) {
    this.#sql = sql;
    this.load();
  }

  /** Discards the cache, for a log that was replaced. */
  load(): void {
    this.#positions = [startOfLog];
    this.#count = this.#sql.first('SELECT 1 FROM audit_logs LIMIT 1') ? undefined : 0;
  }

  /** The number of entries in the log. */
  count(): number {
    this.#count ??= numberIn(this.#sql, 'SELECT count(*) AS n FROM audit_logs');
    return this.#count;
  }

  /** Records an entry that was just appended. */
  add(timeMs: number): void {
    this.#sql.afterRollback(() => this.#remove(timeMs));
    // After a clock was set back, the entries later than this one have moved by one.
    this.#forget((entry) => entry.timeMs > timeMs);
    if (this.#count === undefined) return;
    const last = this.#count;
    this.#count += 1;
    if (last % ENTRIES_APART === 0 && last > 0) {
      this.#positions[last / ENTRIES_APART] = this.#step('before', endOfLog, 1);
    }
  }

  /**
   * Returns a known position, and the number of steps from it to the entry that has `position`
   * entries before it.
   */
  near(position: number): { readonly entry: EntryPosition; readonly steps: number } {
    const at = Math.floor(position / ENTRIES_APART);
    return { entry: this.#position(at), steps: position % ENTRIES_APART };
  }

  #remove(timeMs: number): void {
    this.#forget((entry) => entry.timeMs >= timeMs);
    if (this.#count !== undefined) this.#count -= 1;
  }

  /** Discards cached positions from the end while they match. */
  #forget(isLike: (entry: EntryPosition) => boolean): void {
    for (let last = this.#positions.at(-1); !last || isLike(last); last = this.#positions.at(-1)) {
      this.#positions.pop();
    }
  }

  #position(at: number): EntryPosition {
    return this.#positions[at] ?? this.#stepTo(this.#nearest(at), at * ENTRIES_APART);
  }

  /** Returns the nearest cached position, and the number of entries before it. */
  #nearest(at: number): readonly [EntryPosition, number] {
    const isKnown = (entry: EntryPosition | undefined): boolean => entry !== undefined;
    const below = this.#positions.slice(0, at).findLastIndex(isKnown);
    const above = this.#positions.findIndex((entry, position) => position > at && isKnown(entry));
    const next = above < 0 ? this.count() : above * ENTRIES_APART;
    return (at - below) * ENTRIES_APART <= next - at * ENTRIES_APART
      ? [this.#positions[below] ?? startOfLog, below * ENTRIES_APART]
      : [this.#positions[above] ?? endOfLog, next];
  }

  /** Steps from a cached position to the wanted one, and caches the positions in between. */
  #stepTo([from, start]: readonly [EntryPosition, number], wanted: number): EntryPosition {
    const isUp = start < wanted;
    let [entry, position] = [from, start];
    while (position !== wanted) {
      const remainder = position % ENTRIES_APART;
      const steps = isUp || remainder === 0 ? ENTRIES_APART : remainder;
      entry = this.#step(isUp ? 'after' : 'before', entry, steps);
      position += isUp ? steps : -steps;
      this.#positions[position / ENTRIES_APART] = entry;
    }
    return entry;
  }

  /** Returns the entry a number of steps after or before a position. */
  #step(
    direction: 'after' | 'before',
    { timeMs, seq }: EntryPosition,
    steps: number,
  ): EntryPosition {
    const row = this.#sql.first(stepQueries[direction], [timeMs, seq, steps]);
    if (!row)
      throw new RangeError(`the audit log has no entry ${steps} steps ${direction} a place`);
    return { timeMs: number(row, 'time_ms'), seq: number(row, 'seq') };
  }
}
