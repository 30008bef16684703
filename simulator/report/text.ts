/** A run's result and progress as plain lines for a terminal. Renders facts, adds none. */
import { printable } from '../../fixtures/printable.ts';
import { sharedKeysLine } from '../identity/shared-keys.ts';
import { columns } from './columns.ts';
import type { FleetProgress, FleetResult } from './result.ts';
import { machineLine } from './result-machines.ts';
import type { Takeover } from './result-spread.ts';
import { brokenWords, checkSections } from './text-checks.ts';
import { timeToPercentMs, updateTimes } from './update-times.ts';

/** Differences and errors that are shown in full; the JSON report has all of them. */
const ROWS_MAX = 10;

/** The whole result; every line is fit for a terminal. */
export function fleetReport(result: FleetResult): string {
  const { plan, seed, ended } = result;
  const duration = seconds(result.durationMs);
  const sections = [
    [`${plan.devices} devices against ${plan.baseUrl}, seed "${seed}": ${ended} after ${duration}`],
    ...(result.validity === 'invalid' ? [invalidLines(result)] : []),
    ['Funnel', ...funnelLines(result), ...rolloutLines(result)],
    ...(result.thresholds.length > 0 ? [['Thresholds', ...thresholdLines(result)]] : []),
    ...checkSections(result),
    balanceLines(result),
    ...spreadLines(result),
    ...(result.herd ? [['Cohorts after the outage', ...herdLines(result.herd)]] : []),
    ...(result.sharedKeys ? [[`Keys: ${sharedKeysLine(result.sharedKeys)}`]] : []),
    ...eventLines(result),
    ['Latency in ms (p50, p90, p99, max, count)', ...latencyLines(result)],
    ['Answers by operation', ...answerLines(result)],
    result.errors.length === 0 ? ['Errors: none'] : ['Errors', ...errorLines(result)],
    ...(result.machines ? [['Made on', ...machineLines(result.machines)]] : []),
  ];
  return sections.map((lines) => lines.map((line) => printable(line)).join('\n')).join('\n\n');
}

/** How hard each cohort came back, and how soon all of it was through. */
function herdLines(herd: NonNullable<FleetResult['herd']>): string[] {
  return columns(
    herd.map(({ cohort, peakRequestsPerSecond, recovered, devices, fullRecoveryMs }) => [
      cohort,
      `peak ${peakRequestsPerSecond} requests/s`,
      `${recovered} of ${devices} recovered`,
      fullRecoveryMs === null ? 'not all of them' : `all after ${seconds(fullRecoveryMs)}`,
    ]),
  );
}

function invalidLines({ generator }: FleetResult): string[] {
  const reasons = generator.reasons.map((reason) => `  ${reason}`);
  return ['INVALID: the generator was the limit, not the server', ...reasons];
}

function machineLines(machines: NonNullable<FleetResult['machines']>): string[] {
  return shortened(machines.map((machine) => `  ${machineLine(machine)}`));
}

/** Whoever reads the event stream has to know that it is not whole. */
function eventLines({ events }: FleetResult): string[][] {
  if (events === undefined) return [];
  const { written, lost, fault } = events;
  if (lost === 0) return [[`Events: ${written} written, none lost`]];
  const because =
    fault === undefined ? 'their reader was too slow' : `writing failed with ${fault}`;
  return [[`Events: ${lost} of ${lost + written} are LOST (${because})`]];
}

/** How long it took until half, nearly all and all of the fleet was updated. */
function rolloutLines(result: FleetResult): string[] {
  const times = updateTimes(result);
  if (times.moments.length === 0) return [];
  const words = [50, 95, 100].map((percent) => {
    const afterMs = timeToPercentMs(times, percent);
    return afterMs === undefined ? `${percent}% never` : `${percent}% after ${seconds(afterMs)}`;
  });
  return [`  updated: ${words.join(', ')}`];
}

function thresholdLines({ thresholds }: FleetResult): string[] {
  return columns(
    thresholds.map(({ threshold, verdict, observed }) => [threshold, verdict, observed]),
  );
}

/** What became of the players of the shards, where one was lost. */
function spreadLines({ spread, shards, plan, durationMs }: FleetResult): string[][] {
  if (spread === undefined) return [];
  const { takeovers, lost, missingDeviceMs } = spread;
  const rows = [
    ...takeovers.map(
      ({ shard, afterMs, from, to, because, adopted, kept }) =>
        `  shard ${shard}: ${to} took over from ${from} after ${seconds(afterMs)} (${because}); ` +
        `${adopted} devices had come to their end by then; ${keptWords(kept)}`,
    ),
    ...lost.map(
      ({ shard, because, kept }) =>
        `  shard ${shard}: LOST, it has no result (${because}); ${keptWords(kept)}`,
    ),
  ];
  if (rows.length === 0) return [];
  const heading = `Shards: ${shards.length} with a result`;
  if (missingDeviceMs === undefined) return [[heading, ...shortened(rows)]];
  const share = missingDeviceMs / (plan.devices * durationMs);
  const missing = `  MISSING: no figure is about ${(100 * share).toFixed(1)}% of the run`;
  return [[heading, ...shortened(rows), missing]];
}

function keptWords(kept: Takeover['kept']): string {
  if (kept === undefined) return 'nothing that it measured is kept';
  return `what it had measured by ${seconds(kept.untilMs)} is kept (${kept.exchanges} exchanges)`;
}

/** One line of where the run stands. */
export function progressLine(progress: FleetProgress): string {
  const { funnel, elapsedMs, exchanges, errors, socketsOpen } = progress;
  const ended = funnel.success + funnel.failure + funnel.aborted + funnel.alreadyInstalled;
  const words = [
    `${seconds(elapsedMs)}`,
    `${ended} of ${funnel.devices} ended`,
    `${funnel.underway} underway`,
    `${funnel.idle} idle`,
    `${funnel.waiting} waiting`,
    `${funnel.silent} silent`,
    `${socketsOpen} sockets`,
    `${exchanges} exchanges`,
    `${errors} errors`,
    ...brokenWords(progress),
  ];
  return words.join(', ');
}

function funnelLines({ funnel }: FleetResult): string[] {
  return columns([
    ['offered', String(funnel.offered)],
    ['downloading', String(funnel.downloading)],
    ['installing', String(funnel.installing)],
    ['rebooting', String(funnel.rebooting)],
    ['success', String(funnel.success)],
    ['failure', String(funnel.failure)],
    ['aborted', String(funnel.aborted)],
    ['already installed', String(funnel.alreadyInstalled)],
    ['underway', String(funnel.underway)],
    ['idle', String(funnel.idle)],
    ['waiting', String(funnel.waiting)],
    ['silent', String(funnel.silent)],
  ]);
}

function balanceLines({ balance, funnel, plan }: FleetResult): string[] {
  const { checked, ok, because, differences } = balance;
  if (!checked) return [`Balance: not checked (${because ?? 'no reason given'})`];
  if (balance.deploymentsChecked === 0)
    return ['Balance: nothing to check, no deployment was made'];
  const partly = because === undefined ? '' : ` (${because})`;
  if (ok) {
    return [
      `Balance: holds for ${funnel.devices} devices${partly}`,
      ...unfitLines(balance.withoutArtifact, plan),
    ];
  }
  const rows = differences.map(({ deviceIndex, deviceId, kind, ours, servers }) => {
    const fate = kind === 'unknown' ? '' : `, a report was ${kind}`;
    return `  device ${deviceIndex} (${deviceId}): ours ${ours}, the server's ${servers}${fate}`;
  });
  const sums = statisticsLines(balance.statistics);
  const count = differences.length + sums.length;
  return [
    `Balance: does NOT hold, ${count} differences${partly}`,
    ...shortened([...rows, ...sums]),
  ];
}

function statisticsLines(rows: FleetResult['balance']['statistics']): string[] {
  return rows.map(({ deploymentId, status, listed, stated }) => {
    return `  deployment ${deploymentId}, ${status}: the server lists ${listed} and states ${stated}`;
  });
}

/** Why devices are idle although there is a deployment for them. */
function unfitLines(count: number, { deploy, deviceType }: FleetResult['plan']): string[] {
  if (count === 0) return [];
  return [
    `  for ${count} of them the server found no artifact of the name ${deploy} that fits: ` +
      `see its device types (theirs is ${deviceType}) and what it depends on`,
  ];
}

function latencyLines({ latencies }: FleetResult): string[] {
  return columns(
    latencies.map(({ operation, p50Ms, p90Ms, p99Ms, maxMs, count }) => [
      operation,
      ...[p50Ms, p90Ms, p99Ms, maxMs].map((value) => value.toFixed(1)),
      String(count),
    ]),
  );
}

function answerLines({ operations }: FleetResult): string[] {
  return columns(
    operations.map((count) => {
      const classes = Object.entries(count.answers).map(([name, times]) => `${name} ${times}`);
      return [count.operation, [...classes, ...silenceWords(count)].join(', ')];
    }),
  );
}

/** Why there was no answer, as far as it is known; and which answers refused the signature. */
function silenceWords(count: FleetResult['operations'][number]): string[] {
  const { unanswered, timeouts, resets, refusedConnections, signatureRefusals } = count;
  const causes = named({ timeouts, resets, 'refused connections': refusedConnections });
  const why = causes.length === 0 ? '' : ` (${causes.join(', ')})`;
  return [
    ...named({ 'signature refused': signatureRefusals }),
    ...named({ unanswered }).map((words) => words + why),
  ];
}

function named(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).flatMap(([name, count]) => (count > 0 ? `${name} ${count}` : []));
}

function errorLines({ errors }: FleetResult): string[] {
  const rows = errors.map(({ operation, cause, count }) => [operation, cause, String(count)]);
  return shortened(columns(rows));
}

function shortened(lines: readonly string[]): string[] {
  if (lines.length <= ROWS_MAX) return [...lines];
  return [...lines.slice(0, ROWS_MAX), `  and ${lines.length - ROWS_MAX} more`];
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}
