/**
 * The sections of the page about the run itself: thresholds, reconciliation, load generator, plan
 * and environment.
 */
import { stateText } from '../result/device-states.ts';
import { fixedRatePollsLine } from '../result/fixed-rate-polls.ts';
import type { FleetResult } from '../result/result.ts';
import { sharedKeysLine } from '../result/shared-keys.ts';
import type { ShownSection, ShownTable } from './page-facts.ts';

/** Maximum number of differences listed; the JSON report contains all of them. */
const DIFFERENCES_MAX = 200;
const MEBIBYTE = 2 ** 20;

/**
 * Returns the section with the thresholds and their verdicts; an empty list when the plan has none.
 */
export function thresholdSections({ thresholds }: FleetResult): readonly ShownSection[] {
  if (thresholds.length === 0) return [];
  const tones = { met: 'positive', missed: 'negative', inconclusive: 'pending' } as const;
  return [
    {
      id: 'thresholds',
      title: 'Thresholds',
      tables: [
        {
          caption: 'Thresholds and observed values',
          columns: ['Threshold', 'Verdict', 'Observed'],
          rows: thresholds.map(({ threshold, verdict, observed }) => {
            return [threshold, { word: verdict, tone: tones[verdict] }, observed];
          }),
        },
      ],
    },
  ];
}

/** Returns the section about the reconciliation. */
export function reconciliationSection({ reconciliation, deviceCounts }: FleetResult): ShownSection {
  const { checked, ok, reason, deploymentsChecked, differences, statistics } = reconciliation;
  const comparisonText =
    deploymentsChecked === 0 ? 'Nothing to compare: no deployment.' : 'Server and fleet agree.';
  const agreementText = ok ? comparisonText : 'Server and fleet differ.';
  const verdictText = checked ? agreementText : 'Not reconciled.';
  return {
    id: 'reconciliation',
    title: 'Reconciliation',
    isDetail: ok,
    lines: [reason === undefined ? verdictText : `${verdictText} (${reason})`],
    tables: [
      {
        caption: 'Devices by state',
        columns: Object.keys(deviceCounts).map(stateText),
        rows: [Object.values(deviceCounts).map(String)],
      },
      ...differenceTables(differences),
      ...statisticsTables(statistics),
    ],
  };
}

function differenceTables(
  differences: FleetResult['reconciliation']['differences'],
): readonly ShownTable[] {
  if (differences.length === 0) return [];
  const shownDifferences = differences.slice(0, DIFFERENCES_MAX);
  const more = differences.length - shownDifferences.length;
  return [
    {
      caption: more > 0 ? `Differences (${more} more are in the JSON report)` : 'Differences',
      columns: ['Device', 'ID', 'Kind', 'Device reports', 'Server lists'],
      rows: shownDifferences.map((row) => {
        return [String(row.deviceIndex), row.deviceId, row.kind, row.fleetStatus, row.serverStatus];
      }),
    },
  ];
}

function statisticsTables(
  statistics: FleetResult['reconciliation']['statistics'],
): readonly ShownTable[] {
  if (statistics.length === 0) return [];
  return [
    {
      caption: "Differences between the server's statistics and its list",
      columns: ['Status', 'Listed', 'Counted'],
      rows: statistics.map((row) => [row.status, String(row.inList), String(row.inStatistics)]),
    },
  ];
}

/** Returns the section about the load generator. */
export function generatorSection({
  generator,
  validity,
  fixedRatePolls,
}: FleetResult): ShownSection {
  const { schedule, reasons } = generator;
  return {
    id: 'generator',
    title: 'Load generator',
    isDetail: validity === 'valid',
    lines: reasons,
    pairs: [
      ['figures', validity],
      ['polls due', String(schedule.due)],
      ['polls sent', String(schedule.sent)],
      ['target rate', `${schedule.targetPerSecond.toFixed(1)}/s`],
      ...(fixedRatePolls ? [['at a fixed rate', fixedRatePollsLine(fixedRatePolls)] as const] : []),
      ['achieved rate', `${schedule.achievedPerSecond.toFixed(1)}/s`],
      ['delay, p99', `${schedule.lateness.p99Ms.toFixed(1)} ms`],
      ['delay, maximum', `${schedule.lateness.maxMs.toFixed(1)} ms`],
    ],
    tables: [processTable(generator)],
  };
}

function processTable({ processes }: FleetResult['generator']): ShownTable {
  return {
    caption: 'Processes',
    columns: [
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
    rows: processes.map((row, index) => [
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
  };
}

/** Returns the section with the plan and the environment of the run. */
export function planSection(result: FleetResult): ShownSection {
  const { plan, shards, startedAt, deploymentId, ended, sharedKeys, spread, events } = result;
  const facts: Record<string, string> = {
    startedAt,
    ended,
    shards: shards.map(({ index, of }) => `${index} of ${of}`).join(', '),
  };
  if (deploymentId !== undefined) facts.deploymentId = deploymentId;
  if (sharedKeys !== undefined) facts.keys = sharedKeysLine(sharedKeys);
  if (events !== undefined) facts.events = `${events.written} written, ${events.lost} lost`;
  if (spread !== undefined) facts.spread = JSON.stringify(spread);
  for (const [name, value] of Object.entries(plan)) {
    facts[name] = typeof value === 'string' ? value : JSON.stringify(value);
  }
  return {
    id: 'plan',
    title: 'Plan and environment',
    isDetail: true,
    pairs: Object.entries(facts),
    tables: [machineTable(result.machines ?? [])],
  };
}

function machineTable(machines: NonNullable<FleetResult['machines']>): ShownTable {
  const rows = machines.map((row) => [
    row.fleetbed ?? 'unknown',
    row.node,
    `${row.platform} ${row.release} ${row.architecture}`,
    `${row.cpus} x ${row.cpuModel}`,
    `${Math.round(row.memoryBytes / MEBIBYTE)} MiB`,
    String(row.processes),
  ]);
  const columns = ['Fleetbed', 'Node', 'System', 'Processors', 'Memory', 'Processes'];
  return { caption: 'Load generator machines', columns, rows };
}
