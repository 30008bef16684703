/** The bytes of a run in total and per second, computed from the counts of its operations. */
import * as v from 'valibot';
import { downloadOperations } from '../plan/thresholds-parser.ts';
import type { Immutable } from './immutable.ts';
import type { OperationCount } from './result-figures.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const rate = v.pipe(v.number(), v.finite(), v.minValue(0));

/** Schema of the bytes of a run. Rates are averages over the whole run. */
export const trafficShape = v.pipe(
  v.object({
    sentBytes: count,
    receivedBytes: count,
    downloadedBytes: v.pipe(
      count,
      v.description('Received bytes of file downloads, a part of the received bytes.'),
    ),
    sentBytesPerSecond: rate,
    receivedBytesPerSecond: rate,
    downloadedBytesPerSecond: rate,
  }),
  v.description(
    'Bytes of the bodies of requests and responses and of WebSocket messages, over the whole run. ' +
      'Headers, TLS and TCP are not counted; a response that broke off counts as far as it arrived.',
  ),
);

/** The bytes of a run. */
export type Traffic = Immutable<v.InferOutput<typeof trafficShape>>;

/** Returns the bytes of a run; undefined for figures of a version that did not count them. */
export function trafficOf(
  operations: readonly OperationCount[],
  durationMs: number,
): Traffic | undefined {
  const countedRows = operations.filter(({ receivedBytes }) => receivedBytes !== undefined);
  if (countedRows.length === 0) return undefined;
  const downloads = countedRows.filter(({ operation }) => downloadOperations.includes(operation));
  const total = (rows: typeof countedRows, field: 'sentBytes' | 'receivedBytes'): number =>
    rows.reduce((sum, row) => sum + (row[field] ?? 0), 0);
  const perSecond = (bytes: number): number => (durationMs > 0 ? (bytes * 1000) / durationMs : 0);
  const sentBytes = total(countedRows, 'sentBytes');
  const receivedBytes = total(countedRows, 'receivedBytes');
  const downloadedBytes = total(downloads, 'receivedBytes');
  return {
    sentBytes,
    receivedBytes,
    downloadedBytes,
    sentBytesPerSecond: perSecond(sentBytes),
    receivedBytesPerSecond: perSecond(receivedBytes),
    downloadedBytesPerSecond: perSecond(downloadedBytes),
  };
}
