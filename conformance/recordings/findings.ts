/** Counts the uses of deprecated calls and fields in recorded traffic, and derives an outcome. */
import type { RecordedExchange, RecordingFormat } from './recording.ts';
import { type RowFinder, rowFinder } from './rows.ts';
import type { Schedule, ScheduleRow } from './schedule.ts';

const GONE = 410;

/** A row of the schedule that recorded traffic uses, with counts. Times are ISO 8601 in UTC. */
export interface DeprecationFinding extends ScheduleRow {
  /** Number of exchanges that use the row. */
  readonly exchanges: number;
  /** Number of these exchanges that were refused with 410. */
  readonly refused: number;
  readonly firstSeen: string;
  readonly lastSeen: string;
}

/** The counts of one recording. */
interface RecordingCount {
  readonly file: string;
  readonly format: RecordingFormat;
  readonly exchanges: number;
  /** Number of these exchanges that are calls of this API. */
  readonly calls: number;
}

/**
 * The outcome of the findings. `uses`: the traffic has deprecated calls or request fields. `reads`:
 * it has only deprecated response fields, and a recording cannot show whether the client reads
 * them. `clear`: it has calls of this API, and none is deprecated. `nothing`: it has no such calls.
 */
export type TrafficOutcome = 'uses' | 'reads' | 'clear' | 'nothing';

/** The deprecated calls and fields that recorded traffic uses on a day. */
export interface DeprecatedTraffic {
  readonly on: string;
  readonly endOfLife: string;
  readonly outcome: TrafficOutcome;
  readonly recordings: readonly RecordingCount[];
  /** Calls that may carry a deprecated field in a body that was not recorded. */
  readonly unseen: number;
  /** The used rows, in the order of the schedule. */
  readonly findings: readonly DeprecationFinding[];
}

interface UseCount {
  exchanges: number;
  refused: number;
  firstMs: number;
  lastMs: number;
}

/** Counts uses exchange by exchange. It stores only counts, not the traffic. */
export class TrafficCount {
  readonly #schedule: Schedule;
  readonly #finder: RowFinder;
  readonly #counts = new Map<ScheduleRow, UseCount>();
  readonly #recordings: RecordingCount[] = [];
  #unseen = 0;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    this.#finder = rowFinder(schedule);
  }

  /** Counts a whole recording. @throws any error of the iteration over `exchanges` */
  async add(
    file: string,
    format: RecordingFormat,
    exchanges: Iterable<RecordedExchange> | AsyncIterable<RecordedExchange>,
  ): Promise<void> {
    let [all, calls] = [0, 0];
    for await (const exchange of exchanges) {
      all += 1;
      const uses = this.#finder.usesOf(exchange);
      if (!uses) continue;
      calls += 1;
      for (const row of uses.rows) this.#record(row, exchange);
      if (uses.unseen.length > 0) this.#unseen += 1;
    }
    this.#recordings.push({ file, format, exchanges: all, calls });
  }

  /** Returns the counts so far and their outcome. */
  traffic(): DeprecatedTraffic {
    const { on, endOfLife, rows } = this.#schedule;
    const findings = rows.flatMap((row) => {
      const count = this.#counts.get(row);
      return count ? [findingOf(row, count)] : [];
    });
    const recordings = [...this.#recordings];
    const outcome = outcomeOf(findings, recordings);
    return { on, endOfLife, outcome, recordings, unseen: this.#unseen, findings };
  }

  #record(row: ScheduleRow, { atMs, status }: RecordedExchange): void {
    const count = this.#counts.get(row) ?? {
      exchanges: 0,
      refused: 0,
      firstMs: atMs,
      lastMs: atMs,
    };
    count.exchanges += 1;
    if (status === GONE) count.refused += 1;
    count.firstMs = Math.min(count.firstMs, atMs);
    count.lastMs = Math.max(count.lastMs, atMs);
    this.#counts.set(row, count);
  }
}

function findingOf(
  row: ScheduleRow,
  { exchanges, refused, firstMs, lastMs }: UseCount,
): DeprecationFinding {
  const [firstSeen, lastSeen] = [iso(firstMs), iso(lastMs)];
  return { ...row, exchanges, refused, firstSeen, lastSeen };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function outcomeOf(
  findings: readonly DeprecationFinding[],
  recordings: readonly RecordingCount[],
): TrafficOutcome {
  if (findings.some(({ location }) => location !== 'response')) return 'uses';
  if (findings.length > 0) return 'reads';
  return recordings.some(({ calls }) => calls > 0) ? 'clear' : 'nothing';
}
