/** Renders the result and the progress of a run as lines for a terminal. */
import { countText } from '../../fixtures/base/count-text.ts';
import { printable } from '../../fixtures/base/printable.ts';
import { remedies } from '../result/contact-findings.ts';
import { deviceStates, stateText } from '../result/device-states.ts';
import { fixedRatePollsLine } from '../result/fixed-rate-polls.ts';
import { differencesIn, missingShardShare, outcomeOf } from '../result/outcome.ts';
import type { FleetProgress, FleetResult } from '../result/result.ts';
import { machineLine } from '../result/result-machines.ts';
import type { RestartedShard } from '../result/result-spread.ts';
import { sharedKeysLine } from '../result/shared-keys.ts';
import { countsOf } from '../result/thresholds-measures.ts';
import { timeToPercentMs, updateTimes } from '../result/update-times.ts';
import { columns } from './columns.ts';
import { endings } from './endings.ts';
import { checkSections, violationText } from './text-checks.ts';

/** Maximum number of differences and errors shown; the JSON report contains all of them. */
const ROWS_MAX = 10;

/** Renders the whole result. The lines contain no control characters. */
export function fleetReport(result: FleetResult): string {
  const { plan, seed, ended } = result;
  const duration = seconds(result.durationMs);
  const sections = [
    [
      outcomeOf(result).headline,
      `  server ${plan.baseUrl}, seed "${seed}", ended after ${duration}: ${endings[ended]}`,
      ...remedies(result).map((sentence) => `  ${sentence}`),
    ],
    ...(result.validity === 'invalid' ? [invalidLines(result)] : []),
    ['Funnel', ...funnelLines(result), ...rolloutLines(result)],
    ...(result.thresholds.length > 0 ? [['Thresholds', ...thresholdLines(result)]] : []),
    ...checkSections(result),
    reconciliationLines(result),
    ...spreadLines(result),
    ...(result.backoffComparison
      ? [['Backoff comparison', ...comparedCohorts(result.backoffComparison)]]
      : []),
    ...(result.sharedKeys ? [[`Keys: ${sharedKeysLine(result.sharedKeys)}`]] : []),
    ...eventLines(result),
    ...(result.fixedRatePolls
      ? [[`Polls at a fixed rate: ${fixedRatePollsLine(result.fixedRatePolls)}`]]
      : []),
    ['Latency in ms', ...latencyLines(result)],
    ...partLines(result),
    ...trafficLines(result),
    ['Responses by operation', ...responseLines(result)],
    errorLines(result),
    ...(result.machines ? [['Load generators', ...machineLines(result.machines)]] : []),
  ];
  return sections.map((lines) => lines.map((line) => printable(line)).join('\n')).join('\n\n');
}

/** Returns the table of the cohorts' load and recovery after the outage. */
function comparedCohorts(cohorts: NonNullable<FleetResult['backoffComparison']>): string[] {
  return columns(backoffTable(cohorts));
}

function invalidLines({ generator }: FleetResult): string[] {
  const reasons = generator.reasons.map((reason) => `  ${reason}`);
  return ['INVALID: the load generator was the limit, not the server', ...reasons];
}

function machineLines(machines: NonNullable<FleetResult['machines']>): string[] {
  return shortenLines(machines.map((machine) => `  ${machineLine(machine)}`));
}

/**
 * Returns the section about the event stream, because its readers must know when it is incomplete.
 */
function eventLines({ events }: FleetResult): string[][] {
  if (events === undefined) return [];
  const { written, lost, error } = events;
  if (lost === 0) return [[`Events: ${written} written, none lost`]];
  const reason = error === undefined ? 'the reader was too slow' : `writing failed with ${error}`;
  return [[`Events: ${lost} of ${lost + written} LOST (${reason})`]];
}

/** Returns a line with the times until 50, 95 and 100 percent of the fleet were updated. */
function rolloutLines(result: FleetResult): string[] {
  const times = updateTimes(result);
  if (times.points.length === 0) return [];
  const parts = [50, 95, 100].map((percent) => {
    const afterMs = timeToPercentMs(times, percent);
    return afterMs === undefined ? `${percent}% never` : `${percent}% after ${seconds(afterMs)}`;
  });
  return [`  updated: ${parts.join(', ')}`];
}

function thresholdLines({ thresholds }: FleetResult): string[] {
  return columns(
    thresholds.map(({ threshold, verdict, observed }) => [threshold, verdict, observed]),
  );
}

/** Returns the section about restarted and lost shards. */
function spreadLines(result: FleetResult): string[][] {
  const { spread, shards } = result;
  if (spread === undefined) return [];
  const { takeovers, lost, missingDeviceMs } = spread;
  const rows = [
    ...takeovers.map(
      ({ shard, afterMs, from, to, reason, adopted, kept }) =>
        `  shard ${shard}: ${to} took over from ${from} after ${seconds(afterMs)} (${reason}); ` +
        `${countText(adopted, 'device')} had finished by then; ${keptText(kept)}`,
    ),
    ...lost.map(
      ({ shard, reason, kept }) =>
        `  shard ${shard}: LOST, no result (${reason}); ${keptText(kept)}`,
    ),
  ];
  if (rows.length === 0) return [];
  const heading = `Shards: ${shards.length} with a result`;
  if (missingDeviceMs === undefined) return [[heading, ...shortenLines(rows)]];
  const share = missingShardShare(result);
  const missing = `  MISSING: ${(100 * share).toFixed(1)}% of the run was not measured`;
  return [[heading, ...shortenLines(rows), missing]];
}

function keptText(kept: RestartedShard['kept']): string {
  if (kept === undefined) return 'its figures are lost';
  return `its figures up to ${seconds(kept.untilMs)} are included (${countText(kept.exchanges, 'request')})`;
}

/** Renders the progress of the run as one line. */
export function progressLine(progress: FleetProgress): string {
  const { funnel, elapsedMs, exchanges, errors, socketsOpen } = progress;
  const finished = funnel.success + funnel.failure + funnel.aborted + funnel.alreadyInstalled;
  const parts = [
    `${seconds(elapsedMs)}`,
    `${finished} of ${funnel.devices} finished`,
    `${funnel.updating} updating`,
    `${funnel.idle} idle`,
    `${funnel.pending} pending`,
    ...(funnel.off > 0 ? [`${funnel.off} off`] : []),
    `${funnel.noContact} no contact`,
    `${socketsOpen} sockets`,
    `${exchanges} requests`,
    `${errors} errors`,
    ...violationText(progress),
  ];
  return parts.join(', ');
}

/**
 * Renders the measurements of a run that failed: its last progress, latencies and causes of
 * failures.
 */
export function failedRunReport(progress: FleetProgress): string {
  const sections = [
    ['Measured before the run broke off', `  ${progressLine(progress)}`],
    ['Latency in ms', ...columns(latencyRows(progress.latencies))],
    ...(progress.causes.length > 0 ? [['Causes of failures', ...causeLines(progress.causes)]] : []),
  ];
  return sections.map((lines) => lines.map((line) => printable(line)).join('\n')).join('\n\n');
}

function funnelLines({ funnel }: FleetResult): string[] {
  return columns([
    ['offered', String(funnel.offered)],
    ['downloading', String(funnel.downloading)],
    ['installing', String(funnel.installing)],
    ['rebooting', String(funnel.rebooting)],
    ...deviceStates.map(({ outcome, field }) => [stateText(outcome), String(funnel[field])]),
  ]);
}

function reconciliationLines({ reconciliation, funnel, plan }: FleetResult): string[] {
  const { checked, ok, reason, differences } = reconciliation;
  if (!checked) {
    return [`Reconciliation: not checked (${reason ?? 'no reason given'})`];
  }
  if (reconciliation.deploymentsChecked === 0) {
    return ['Reconciliation: nothing to compare, no deployment was created'];
  }
  const partly = reason === undefined ? '' : ` (${reason})`;
  if (ok) {
    return [
      `Reconciliation: server and fleet agree on ${countText(funnel.devices, 'device')}${partly}`,
      ...unfitLines(reconciliation.withoutArtifact, plan),
    ];
  }
  const rows = differences.map(({ deviceIndex, deviceId, kind, fleetStatus, serverStatus }) => {
    const outcome = kind === 'unknown' ? '' : `, report ${kind}`;
    return `  device ${deviceIndex} (${deviceId}): device reports ${fleetStatus}, server lists ${serverStatus}${outcome}`;
  });
  const reports = `${countText(reconciliation.lostReports, 'report')} lost, ${reconciliation.duplicateReports} doubled`;
  return [
    `Reconciliation: ${countText(differencesIn(reconciliation), 'difference')}, ${reports}${partly}`,
    ...shortenLines([...rows, ...statisticsLines(reconciliation.statistics)]),
  ];
}

function statisticsLines(rows: FleetResult['reconciliation']['statistics']): string[] {
  return rows.map(
    ({ deploymentId, status, inList, inStatistics }) =>
      `  deployment ${deploymentId}, ${status}: the server lists ${inList} and counts ${inStatistics}`,
  );
}

/** Returns a line that explains why no artifact was offered to some devices. */
function unfitLines(count: number, { deploy, deviceType }: FleetResult['plan']): string[] {
  if (count === 0) return [];
  return [
    `  no artifact named ${deploy} is compatible with ${countText(count, 'device')}: check its device types ` +
      `(the fleet's is ${deviceType}) and its dependencies`,
  ];
}

function latencyLines({ latencies, generator }: FleetResult): string[] {
  const { lateness } = generator.schedule;
  // This row shows which part of the latencies is the generator's lateness, since they count from
  // when a request was due.
  const latenessRow = { operation: 'of it, late by the generator', ...lateness };
  return columns(latencyRows([...latencies, latenessRow]));
}

/** Returns the section with the two parts of the latencies; empty when they are not known. */
function partLines({ latencies }: FleetResult): string[][] {
  const rows = latencies.flatMap(({ operation, waiting, service }) => {
    if (waiting === undefined || service === undefined) return [];
    const cells = [waiting, service].flatMap(({ p50Ms, p99Ms, maxMs }) => [p50Ms, p99Ms, maxMs]);
    return [[operation, ...cells.map((ms) => ms.toFixed(1))]];
  });
  if (rows.length === 0) return [];
  const head = ['operation', 'wait p50', 'p99', 'max', 'service p50', 'p99', 'max'];
  const heading = 'Latency divided, in ms: waiting from due to sent, service from sent to answered';
  return [[heading + partialLatencyNote(latencies), ...columns([head, ...rows])]];
}

/**
 * Says how many of the latencies are divided, as the end of a heading; empty when all are. Workers
 * report the parts only at their end, since they cost a running generator more than the latencies.
 */
export function partialLatencyNote(latencies: FleetResult['latencies']): string {
  const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);
  const all = sum(latencies.map(({ count }) => count));
  const divided = sum(latencies.map(({ waiting }) => waiting?.count ?? 0));
  if (divided === all) return '';
  return `, of ${divided} of ${countText(all, 'request')}; those of failed workers are not divided`;
}

function trafficLines({ traffic }: FleetResult): string[][] {
  if (traffic === undefined) return [];
  const { sentBytes, receivedBytes, downloadedBytes } = traffic;
  const row = (name: string, bytes: number, perSecond: number): string[] => [
    name,
    byteText(bytes),
    `${byteText(perSecond)}/s`,
  ];
  const rows = columns([
    row('sent', sentBytes, traffic.sentBytesPerSecond),
    row('received', receivedBytes, traffic.receivedBytesPerSecond),
    row('of it downloads', downloadedBytes, traffic.downloadedBytesPerSecond),
  ]);
  return [['Bytes of bodies and WebSocket messages, without headers, TLS and TCP', ...rows]];
}

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Formats a number of bytes with three digits, such as `1.23 MB`. */
export function byteText(bytes: number): string {
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), byteUnits.length - 1);
  return `${Number((bytes / 1000 ** step).toPrecision(3))} ${byteUnits[step]}`;
}

function latencyRows(latencies: FleetProgress['latencies']): string[][] {
  return [
    ['operation', 'p50', 'p90', 'p99', 'max', 'count'],
    ...latencies.map(({ operation, p50Ms, p90Ms, p99Ms, maxMs, count }) => [
      operation,
      ...[p50Ms, p90Ms, p99Ms, maxMs].map((value) => value.toFixed(1)),
      String(count),
    ]),
  ];
}

function responseLines({ operations }: FleetResult): string[] {
  return columns(
    operations.map((count) => {
      const classes = Object.entries(count.responses).map(([name, times]) => `${name} ${times}`);
      return [count.operation, [...classes, ...noResponseTexts(count)].join(', ')];
    }),
  );
}

/**
 * Returns why exchanges had no response, as far as known, and how many responses refused the
 * signature.
 */
function noResponseTexts(count: FleetResult['operations'][number]): string[] {
  const { unanswered, timeouts, resets, refusedConnections, signatureRefusals } = count;
  const causes = nonZeroCounts({ timeouts, resets, 'refused connections': refusedConnections });
  const why = causes.length === 0 ? '' : ` (${causes.join(', ')})`;
  return [
    ...nonZeroCounts({ 'signature refused': signatureRefusals }),
    ...nonZeroCounts({ unanswered }).map((parts) => parts + why),
  ];
}

function nonZeroCounts(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).flatMap(([name, count]) => (count > 0 ? `${name} ${count}` : []));
}

/**
 * Returns the section about errors. Its causes include refusals (4xx) and broken sockets, which do
 * not count as errors.
 */
function errorLines(result: FleetResult): string[] {
  const heading = `Errors: ${errorText(result)}`;
  if (result.errors.length === 0) return [heading];
  const causes = causeLines(result.errors).map((line) => `  ${line}`);
  return [heading, '  causes, those of refusals (4xx) and broken sockets too:', ...causes];
}

function causeLines(causes: FleetResult['errors']): string[] {
  const rows = causes.map(({ operation, cause, count }) => [operation, cause, String(count)]);
  return shortenLines(columns(rows));
}

/**
 * Returns the number of errors, counted in the same way as in thresholds, progress, charts and
 * metrics.
 */
export function errorText({ operations }: FleetResult): string {
  const { exchanges, errors } = countsOf(operations, []);
  if (errors === 0) return 'none';
  return `${errors} of ${countText(exchanges, 'request')} (without a response, or with 5xx)`;
}

function shortenLines(lines: readonly string[]): string[] {
  if (lines.length <= ROWS_MAX) return [...lines];
  return [...lines.slice(0, ROWS_MAX), `  and ${lines.length - ROWS_MAX} more`];
}

/** Returns a table with a header and one row for each compared cohort. */
export function backoffTable(cohorts: NonNullable<FleetResult['backoffComparison']>): string[][] {
  return [
    ['cohort', 'devices', 'recovered', 'all recovered after', 'requests', 'peak requests/s'],
    ...cohorts.map((row) => [
      row.cohort,
      String(row.devices),
      String(row.recovered),
      row.fullRecoveryMs === null ? 'never' : seconds(row.fullRecoveryMs),
      String(row.requests),
      String(row.peakRequestsPerSecond),
    ]),
  ];
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}
