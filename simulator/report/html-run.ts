/**
 * The run itself on the page: thresholds, reconciliation, generator health, plan and environment.
 */

import type { FleetResult } from '../result/result.ts';
import { sharedKeysLine } from '../result/shared-keys.ts';
import { type Child, element, type Html, mark, section, table } from './html-elements.ts';

/** Differences that are listed; the JSON report has all of them. */
const DIFFERENCES_MAX = 200;
const MEBIBYTE = 2 ** 20;

/** Renders the thresholds of the run and their verdicts. */
export function thresholdSection({ thresholds }: FleetResult): Html {
  const tones = { met: 'good', missed: 'bad', undecided: 'warn' } as const;
  const rows = thresholds.map(({ threshold, verdict, observed }) => {
    return [threshold, mark(verdict, tones[verdict]), observed];
  });
  return section(
    'thresholds',
    'Thresholds',
    table('Thresholds', ['Threshold', 'Verdict', 'Observed'], rows),
  );
}

/** Renders the reconciliation of devices and server. */
export function balanceSection({ balance, accounts }: FleetResult): Html {
  const { checked, ok, because, differences, statistics } = balance;
  const said = checked
    ? ok
      ? 'Server and fleet agree.'
      : 'Server and fleet differ.'
    : 'Not reconciled.';
  return section(
    'reconciliation',
    'Reconciliation',
    element('p', {}, because === undefined ? said : `${said} (${because})`),
    table('Devices by state', Object.keys(accounts), [Object.values(accounts).map(String)]),
    ...(differences.length === 0
      ? []
      : [
          table(
            'Differences',
            ['Device', 'ID', 'Kind', 'Device reports', 'Server lists'],
            differences
              .slice(0, DIFFERENCES_MAX)
              .map((row) => [
                String(row.deviceIndex),
                row.deviceId,
                row.kind,
                row.ours,
                row.servers,
              ]),
          ),
        ]),
    ...(statistics.length === 0
      ? []
      : [
          table(
            "Server statistics that differ from the server's list",
            ['Status', 'Listed', 'Counted'],
            statistics.map((row) => [row.status, String(row.listed), String(row.stated)]),
          ),
        ]),
  );
}

/** Renders if the load generator was fast enough. */
export function generatorSection({ generator, validity }: FleetResult): Html {
  const { processes, schedule, reasons } = generator;
  const facts = {
    figures: validity,
    'polls due': String(schedule.due),
    'polls sent': String(schedule.sent),
    'target rate': `${schedule.targetPerSecond.toFixed(1)}/s`,
    'achieved rate': `${schedule.achievedPerSecond.toFixed(1)}/s`,
    'delay, p99': `${schedule.lateness.p99Ms.toFixed(1)} ms`,
    'delay, maximum': `${schedule.lateness.maxMs.toFixed(1)} ms`,
  };
  return section(
    'generator',
    'Load generator',
    ...reasons.map((reason) => element('p', {}, mark('invalid', 'bad'), ' ', reason)),
    definitions(facts),
    table(
      'Processes',
      [
        'Process',
        'CPU',
        'Event loop p99',
        'Event loop max',
        'Garbage collections',
        'Memory',
        'Sockets',
        'Connections',
        'Queued',
      ],
      processes.map((row, index) => [
        String(index),
        `${(100 * (row.cpuUserShare + row.cpuSystemShare)).toFixed(0)} %`,
        `${row.eventLoopLagP99Ms.toFixed(1)} ms`,
        `${row.eventLoopLagMaxMs.toFixed(1)} ms`,
        `${row.collections} (${(100 * row.collectionShare).toFixed(1)} % of the time)`,
        `${Math.round(row.memoryMaxBytes / MEBIBYTE)} MiB`,
        String(row.socketsMax),
        String(row.connectionsMax),
        String(row.queuedMax),
      ]),
    ),
  );
}

/** Renders the plan and the environment of the run. */
export function planSection(result: FleetResult): Html {
  const { plan, shards, startedAt, deploymentId, ended, sharedKeys, spread, events } = result;
  const parts = shards.map(({ index, of }) => `${index} of ${of}`).join(', ');
  const facts: Record<string, string> = { startedAt, ended, shards: parts };
  if (deploymentId !== undefined) facts.deploymentId = deploymentId;
  if (sharedKeys !== undefined) facts.keys = sharedKeysLine(sharedKeys);
  if (events !== undefined) facts.events = `${events.written} written, ${events.lost} lost`;
  if (spread !== undefined) facts.spread = JSON.stringify(spread);
  for (const [name, value] of Object.entries(plan)) {
    facts[name] = typeof value === 'string' ? value : JSON.stringify(value);
  }
  return section(
    'plan',
    'Plan and environment',
    definitions(facts),
    machineTable(result.machines ?? []),
  );
}

function machineTable(machines: NonNullable<FleetResult['machines']>): Html {
  const rows = machines.map((row) => [
    row.fleetbed ?? 'unknown',
    row.node,
    `${row.platform} ${row.release} ${row.architecture}`,
    `${row.cpus} x ${row.cpuModel}`,
    `${Math.round(row.memoryBytes / MEBIBYTE)} MiB`,
    String(row.processes),
  ]);
  const columns = ['Fleetbed', 'Node', 'System', 'Processors', 'Memory', 'Processes'];
  return table('Load generator machines', columns, rows);
}

function definitions(facts: Readonly<Record<string, Child>>): Html {
  const rows = Object.entries(facts).flatMap(([name, value]) => [
    element('dt', {}, name),
    element('dd', {}, value),
  ]);
  return element('dl', {}, ...rows);
}
