/** Measures a long audit log: single pages, and the CSV export. */
import { get, type IncomingMessage } from 'node:http';
import { systemClock } from '../../../../fixtures/base/clock.ts';
import { limits } from '../../../../fixtures/contract/limits.ts';
import { pathOf } from '../../../../fixtures/contract/operation.ts';
import { operations } from '../../../../fixtures/contract/operations.ts';
import { spentMs } from '../cpu-time.ts';
import { exchange } from '../exchange.ts';
import { bearer } from '../parts/exchanges.ts';
import type { BenchContext } from '../rounds.ts';
import { type BenchRow, limitRow, median, rowOf } from '../row.ts';
import { auditSpan } from './audit-entries.ts';
import { grownMegabytes, type ObservedReference, observedServer, once } from './observed.ts';

const ENTRIES = 1_000_000;
const QUICK_ENTRIES = 100_000;
const PAGE_MAX_MS = 5;
/** Requests for each page; the median counts. */
const TIMES = 5;
const PER_PAGE = limits.pageDefault;
const EXPORT_MIN_MB = 50;
/** Time limit of the export; no further request is sent after it. */
const EXPORT_MAX_MS = 20_000;
const QUICK_EXPORT_MAX_MS = 2000;
const GROWTH_MAX_MB = 64;
const BYTES_PER_MB = 1_000_000;
const LINE_END = 0x0a;

/** Fills the log of a server from within its process, and measures the rows. */
export async function auditLogRows(context: BenchContext): Promise<BenchRow[]> {
  const { children, output, quick } = context;
  const entries = quick ? QUICK_ENTRIES : ENTRIES;
  const countText = entries.toLocaleString('en-US');
  output.progress(`filling an audit log with ${countText} entries`);
  const server = await observedServer(children, {}, entries);
  const rows = [await pageRow(server, entries, countText)];
  output.progress(`exporting ${countText} entries`);
  const maxMs = quick ? QUICK_EXPORT_MAX_MS : EXPORT_MAX_MS;
  rows.push(...(await exportRows(server, { entries, countText, maxMs })));
  await server.end();
  return rows;
}

async function pageRow(
  server: ObservedReference,
  entries: number,
  countText: string,
): Promise<BenchRow> {
  const last = Math.ceil(entries / PER_PAGE);
  const pages = { first: 1, middle: Math.ceil(last / 2), last };
  const times: { name: string; ms: number }[] = [];
  for (const [name, page] of Object.entries(pages)) {
    times.push({ name, ms: await pageMs(server, page) });
  }
  return limitRow({
    title: `page of an audit log with ${countText} entries`,
    unit: 'ms',
    subject: once('fleetbed', Math.max(...times.map(({ ms }) => ms))),
    limit: PAGE_MAX_MS,
    note: `the slowest of ${times.map(({ name, ms }) => `${name} ${ms.toFixed(1)} ms`).join(', ')}; pages of ${PER_PAGE}, medians of ${TIMES} requests`,
  });
}

/** Returns the median time until a whole page has arrived, in milliseconds. */
async function pageMs({ ready }: ObservedReference, page: number): Promise<number> {
  const path = `${pathOf(operations['list-audit-logs'])}?page=${page}&per_page=${PER_PAGE}`;
  const times: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    const startedMs = systemClock.monotonicMs();
    const response = await exchange(ready.baseUrl, { path, headers: bearer(ready.adminToken) });
    times.push(systemClock.monotonicMs() - startedMs);
    if (response.status !== 200 || JSON.parse(response.body).length !== PER_PAGE) {
      throw new Error(`page ${page} of the audit log was answered with ${response.status}`);
    }
  }
  return median(times);
}

/** An export of a log with this many entries. */
interface Export {
  readonly entries: number;
  readonly countText: string;
  readonly maxMs: number;
}

async function exportRows(
  server: ObservedReference,
  { entries, countText, maxMs }: Export,
): Promise<BenchRow[]> {
  const { pid } = server;
  await server.begin();
  const [startedMs, spentBeforeMs] = [systemClock.monotonicMs(), spentMs(pid)];
  const { bytes, lines } = await exportLog(server, entries, maxMs);
  const cpuSeconds = (spentMs(pid) - spentBeforeMs) / 1000;
  const seconds = (systemClock.monotonicMs() - startedMs) / 1000;
  const figures = await server.endObservation();
  const megabytes = bytes / BYTES_PER_MB;
  const parts = `in parts of ${limits.auditExportMax.toLocaleString('en-US')} entries, the most that one request gives`;
  const part = `the first ${lines.toLocaleString('en-US')} entries ${parts}; ${Math.round(megabytes)} MB, measured once`;
  return [
    rowOf({
      title: `CSV export of an audit log with ${countText} entries`,
      unit: 'MB/CPU s',
      better: 'higher',
      goal: 1,
      subject: once('fleetbed', megabytes / cpuSeconds),
      baseline: once('goal', EXPORT_MIN_MB),
      note: `${part}; by the clock ${(megabytes / seconds).toFixed(1)} MB/s, longest stall ${Math.round(figures.longestStallMs)} ms`,
    }),
    limitRow({
      title: `growth of memory, CSV export of ${countText} entries`,
      unit: 'MB',
      subject: once('fleetbed', grownMegabytes(figures)),
      limit: GROWTH_MAX_MB,
      note: `peak resident memory; ${part}`,
    }),
  ];
}

/**
 * Exports the log in several requests: a response has a limited number of entries, so each request
 * selects a period with just as many.
 */
async function exportLog(server: ObservedReference, entries: number, maxMs: number) {
  const startedMs = systemClock.monotonicMs();
  let [bytes, lines, first] = [0, 0, 0];
  while (first < entries && systemClock.monotonicMs() - startedMs < maxMs) {
    const part = await exportedPart(server, auditSpan(first, limits.auditExportMax));
    first += limits.auditExportMax;
    bytes += part.bytes;
    lines += part.lines - 1;
  }
  if (lines === Math.min(first, entries)) return { bytes, lines };
  throw new Error(`${lines} of ${Math.min(first, entries)} audit entries were exported`);
}

async function exportedPart({ ready }: ObservedReference, span: Readonly<Record<string, string>>) {
  const path = `${pathOf(operations['export-audit-logs'])}?${new URLSearchParams(span)}`;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = bearer(ready.adminToken);
    get(`${ready.baseUrl}${path}`, { headers }, resolve).on('error', reject);
  });
  let [bytes, lines] = [0, 0];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, at + 1)) lines++;
  }
  return { bytes, lines };
}
