/**
 * Functions that merge the figures of several results: counts are added, and histograms of
 * durations are added bucket by bucket.
 */
import { DurationHistogram } from './histograms.ts';
import { counts, fields, first, highest, lowest, type PartValues, rows, sum } from './mergers.ts';
import type {
  ErrorCount,
  Figures,
  OperationCount,
  OperationLatency,
  StageFigures,
  UpdateFigures,
} from './result-figures.ts';

/**
 * Merges histograms exactly.
 * @throws HistogramError
 */
export function mergedDurations(figures: readonly Figures[]): DurationHistogram {
  const whole = DurationHistogram.empty();
  for (const each of figures) whole.add(DurationHistogram.of(each));
  return whole;
}

/** Merges rows of one kind by adding their histograms. */
function durations<Row extends Figures>(parts: PartValues<Row>): Row {
  return { ...parts[0], ...mergedDurations(parts).figures() };
}

const operationOf = ({ operation }: { readonly operation: string }): string => operation;

function sortResponses(responses: OperationCount['responses']): OperationCount['responses'] {
  const entries = Object.entries(responses).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries);
}

/** Merges latencies and their parts. Parts that are known of some exchanges only count these. */
function latencyRow(parts: PartValues<OperationLatency>): OperationLatency {
  const { operation } = parts[0];
  const figures = mergedDurations(parts).figures();
  const figuresOf = (part: 'waiting' | 'service'): readonly Figures[] =>
    parts.flatMap((row) => row[part] ?? []);
  const [waiting, service] = [figuresOf('waiting'), figuresOf('service')];
  return {
    operation,
    ...figures,
    ...(waiting.length > 0 && { waiting: mergedDurations(waiting).figures() }),
    ...(service.length > 0 && { service: mergedDurations(service).figures() }),
  };
}

/** Mergers of the figures of exchanges, by member of the result. */
export const exchangeMergers = {
  latencies: rows<OperationLatency>(operationOf, latencyRow),
  operations: rows<OperationCount>(
    operationOf,
    fields<OperationCount>({
      operation: first,
      responses: (parts) => sortResponses(counts(parts)),
      unanswered: sum,
      timeouts: sum,
      resets: sum,
      refusedConnections: sum,
      otherErrors: sum,
      signatureRefusals: sum,
      sentBytes: sum,
      receivedBytes: sum,
    }),
  ),
};

/**
 * Merges stages by name, because a name stands for the same period of the plan in every part. The
 * result is in chronological order.
 */
export const mergeStages = rows<StageFigures>(
  ({ name }) => name,
  fields<StageFigures>({
    name: first,
    startMs: lowest,
    endMs: highest,
    lateness: durations,
    ...exchangeMergers,
  }),
  (one, other) => one.startMs - other.startMs || (one.name < other.name ? -1 : 1),
);

export const mergeErrors = rows<ErrorCount>(
  ({ operation, cause }) => `${operation} ${cause}`,
  fields<ErrorCount>({ operation: first, cause: first, count: sum }),
  compareErrors,
);

export const mergeUpdates = fields<UpdateFigures>({
  whole: rows<UpdateFigures['whole'][number]>(
    ({ from, outcome }) => `${from} ${outcome}`,
    durations,
  ),
  statuses: rows<UpdateFigures['statuses'][number]>(({ status }) => status, durations),
});

/** Compares errors: the most frequent first, and errors of equal frequency by name. */
export function compareErrors(one: ErrorCount, other: ErrorCount): number {
  const nameOf = ({ operation, cause }: ErrorCount): string => `${operation} ${cause}`;
  return other.count - one.count || (nameOf(one) < nameOf(other) ? -1 : 1);
}
