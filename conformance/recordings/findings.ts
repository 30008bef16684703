/** Counts what recorded traffic uses of the schedule, and says what that means. */
import type { RecordedExchange, RecordingForm } from './recording.ts';
import { type RowFinder, rowFinder } from './rows.ts';
import type { Schedule, ScheduleRow } from './schedule.ts';

const GONE = 410;

/** A row of the schedule that recorded traffic uses; times are ISO 8601 in UTC. */
export interface Finding extends ScheduleRow {
  /** Number of exchanges that use the row. */
  readonly exchanges: number;
  /** Of these, those that were refused with 410 already. */
  readonly refused: number;
  readonly firstSeen: string;
  readonly lastSeen: string;
}

/** One recording by its name. */
interface RecordingCount {
  readonly file: string;
  readonly form: RecordingForm;
  readonly exchanges: number;
  /** Of these, those with this API. */
  readonly calls: number;
}

/**
 * What the findings come to. `uses`: a call or a field of a request that stops working or has
 * stopped. `reads`: only fields of answers, and no recording shows whether the client reads them.
 * `clear`: calls of this API, and none of that. `nothing`: no calls of this API.
 */
export type TrafficOutcome = 'uses' | 'reads' | 'clear' | 'nothing';

/** What recorded traffic uses of the schedule. */
export interface Traffic {
  readonly on: string;
  readonly endOfLife: string;
  readonly outcome: TrafficOutcome;
  readonly recordings: readonly RecordingCount[];
  /** Calls that may carry a deprecated field in a body that was not recorded. */
  readonly unseen: number;
  /** In the order of the schedule. */
  readonly findings: readonly Finding[];
}

interface Count {
  exchanges: number;
  refused: number;
  firstMs: number;
  lastMs: number;
}

/** Counts exchange by exchange; holds one count for each row and nothing of the traffic itself. */
export class TrafficCount {
  readonly #schedule: Schedule;
  readonly #finder: RowFinder;
  readonly #counts = new Map<ScheduleRow, Count>();
  readonly #recordings: RecordingCount[] = [];
  #unseen = 0;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    this.#finder = rowFinder(schedule);
  }

  /** Counts a whole recording. @throws whatever reading it throws */
  async add(
    file: string,
    form: RecordingForm,
    exchanges: Iterable<RecordedExchange> | AsyncIterable<RecordedExchange>,
  ): Promise<void> {
    let [all, calls] = [0, 0];
    for await (const exchange of exchanges) {
      all += 1;
      const uses = this.#finder.usesOf(exchange);
      if (!uses) continue;
      calls += 1;
      for (const row of uses.rows) this.#note(row, exchange);
      if (uses.unseen.length > 0) this.#unseen += 1;
    }
    this.#recordings.push({ file, form, exchanges: all, calls });
  }

  /** What has been counted so far. */
  traffic(): Traffic {
    const { on, endOfLife, rows } = this.#schedule;
    const findings = rows.flatMap((row) => {
      const count = this.#counts.get(row);
      return count ? [findingOf(row, count)] : [];
    });
    const recordings = [...this.#recordings];
    const outcome = outcomeOf(findings, recordings);
    return { on, endOfLife, outcome, recordings, unseen: this.#unseen, findings };
  }

  #note(row: ScheduleRow, { atMs, status }: RecordedExchange): void {
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

function findingOf(row: ScheduleRow, { exchanges, refused, firstMs, lastMs }: Count): Finding {
  const [firstSeen, lastSeen] = [iso(firstMs), iso(lastMs)];
  return { ...row, exchanges, refused, firstSeen, lastSeen };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function outcomeOf(
  findings: readonly Finding[],
  recordings: readonly RecordingCount[],
): TrafficOutcome {
  if (findings.some(({ place }) => place !== 'answer')) return 'uses';
  if (findings.length > 0) return 'reads';
  return recordings.some(({ calls }) => calls > 0) ? 'clear' : 'nothing';
}
