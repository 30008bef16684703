/** Formats one frame of the live view of a run as lines; all figures come from the caller. */
import type { FleetProgress } from '../../../simulator/engine/simulate-fleet.ts';
import { violationText } from '../../../simulator/report/text-checks.ts';
import { type LineStyle, styledLine, type TextSpan, type TextTone, widthOf } from './live-spans.ts';

/** The facts that one frame of the live view shows. */
export interface LiveFacts {
  /** Title of the run, such as `1000 devices against http://127.0.0.1:8080, seed "x"`. */
  readonly title: string;
  readonly progress: FleetProgress;
  readonly rates: Rates;
  /** True while the run is ending. */
  readonly ending: boolean;
}

/** Recent rates, each per second. */
export interface Rates {
  readonly exchanges: number;
  readonly errors: number;
  /** Number of devices that finished the deployment, per second. */
  readonly ended: number;
}

/** The size of the terminal in characters, and whether it shows colours. */
export interface LiveSize extends LineStyle {
  readonly rows: number;
}

const BAR_MAX_COLUMNS = 40;
const LABEL_COLUMNS = 18;
const NUMBER_COLUMNS = 9;
/** Limit on the operations and on the causes in a frame. */
const LIST_MAX = 8;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Returns the frame: it has at most as many lines and columns as the terminal. */
export function liveFrame(facts: LiveFacts, size: LiveSize): string {
  const { progress } = facts;
  const head = [...titleLines(facts), ...deploymentLines(facts), []];
  const body = [...funnelLines(progress), ...standingLines(facts), ...generatorLines(progress)];
  const room = Math.max(0, size.rows - 1 - head.length - body.length);
  const lines = [...head, ...body, ...listLines(progress, room)].slice(0, size.rows - 1);
  return lines.map((spans) => styledLine(spans, size)).join('\n');
}

type FrameRow = readonly TextSpan[];

function titleLines({ title, progress, ending }: LiveFacts): FrameRow[] {
  const segments: TextSpan[] = [{ text: clock(progress.elapsedMs), tone: 'strong' }];
  const stageText = ending ? 'stopping …' : progress.stage;
  return [[...segments, '  ', { text: stageText, tone: ending ? 'warn' : 'dim' }, `  ${title}`]];
}

function deploymentLines({ progress, rates }: LiveFacts): FrameRow[] {
  const { deployment, funnel } = progress;
  if (deployment === undefined) return [];
  const endedDevices = endedCount(funnel);
  const percent = Math.floor((100 * endedDevices) / Math.max(1, funnel.devices));
  const devicesLeft = funnel.devices - endedDevices;
  const wait =
    rates.ended > 0 && devicesLeft > 0
      ? `, about ${clock((1000 * devicesLeft) / rates.ended)} left`
      : '';
  return [
    [
      'deployment ',
      { text: deployment.artifactName, tone: 'strong' },
      { text: ` ${deployment.deploymentId}`, tone: 'dim' },
      `  ${percent} % finished (${endedDevices} of ${funnel.devices})${wait}`,
    ],
  ];
}

/** Returns the number of devices that have finished the deployment. */
export function endedCount(funnel: FleetProgress['funnel']): number {
  return funnel.success + funnel.failure + funnel.aborted + funnel.alreadyInstalled;
}

function funnelLines({ funnel }: FleetProgress): FrameRow[] {
  const rows: readonly (readonly [string, number, TextTone?])[] = [
    ['offered', funnel.offered],
    ['downloading', funnel.downloading],
    ['installing', funnel.installing],
    ['rebooting', funnel.rebooting],
    ['success', funnel.success, 'positive'],
    ['failure', funnel.failure, 'negative'],
    ['aborted', funnel.aborted, 'warn'],
    ['already installed', funnel.alreadyInstalled],
  ];
  return rows.map(([label, count, tone]) => {
    const barText = bar(count / Math.max(1, funnel.devices));
    const number = String(count).padStart(NUMBER_COLUMNS);
    if (barText === '') return [label.padEnd(LABEL_COLUMNS), number];
    const mark: TextSpan = tone ? { text: `  ${barText}`, tone } : `  ${barText}`;
    return [label.padEnd(LABEL_COLUMNS), number, mark];
  });
}

/** Returns a bar. @param share from 0 to 1; any value above 0 is visible */
function bar(share: number): string {
  const eighths = Math.round(share * BAR_MAX_COLUMNS * EIGHTHS.length);
  const shownEighths = share > 0 ? Math.max(1, eighths) : 0;
  const part = EIGHTHS[shownEighths % EIGHTHS.length] ?? '';
  return '█'.repeat(Math.floor(shownEighths / EIGHTHS.length)) + part;
}

function standingLines({ progress, rates }: LiveFacts): FrameRow[] {
  const { funnel, socketsOpen, exchanges, errors } = progress;
  const countSpan = (label: string, count: number, tone: TextTone): TextSpan =>
    count > 0 ? { text: `${label} ${count}  `, tone } : `${label} ${count}  `;
  return [
    [
      `updating ${funnel.updating}  idle ${funnel.idle}  `,
      countSpan('pending', funnel.pending, 'warn'),
      ...(funnel.off > 0 ? [`off ${funnel.off}  `] : []),
      countSpan('no contact', funnel.noContact, 'negative'),
      `sockets ${socketsOpen}`,
    ],
    [
      `requests ${exchanges} (${rates.exchanges.toFixed(0)}/s)  `,
      countSpan('errors', errors, 'negative'),
      `(${rates.errors.toFixed(1)}/s)`,
    ],
    ...violationText(progress).map((text): FrameRow => [{ text, tone: 'negative' }]),
  ];
}

/**
 * Returns the lines about the load generator; with several processes, about the process with the
 * worst figures.
 */
function generatorLines({ generators, latenessP99Ms }: FleetProgress): FrameRow[] {
  if (generators.length === 0) return [];
  const worst = (figureOf: (facts: (typeof generators)[number]) => number): number =>
    generators.reduce((max, facts) => Math.max(max, figureOf(facts)), 0);
  const cpu = worst(({ cpuUserShare, cpuSystemShare }) => cpuUserShare + cpuSystemShare);
  const lagMs = worst(({ eventLoopLagP99Ms }) => eventLoopLagP99Ms);
  const mebibytes = worst(({ memoryMaxBytes }) => memoryMaxBytes) / 2 ** 20;
  const segments = [
    `CPU ${percentOf(cpu)}`,
    `event loop ${percentOf(worst(({ loopBusyShare }) => loopBusyShare))} busy, p99 ${lagMs.toFixed(1)} ms`,
    `memory ${mebibytes.toFixed(0)} MiB`,
    `send delay p99 ${latenessP99Ms.toFixed(1)} ms`,
  ];
  const count = generators.length === 1 ? 'generator' : `worst of ${generators.length} generators`;
  return [[{ text: `${count}  `, tone: 'dim' }, segments.join('  ')]];
}

function percentOf(share: number): string {
  return `${Math.round(100 * share)} %`;
}

/**
 * Returns the lines with latencies and causes that fit. When space is short, each list gets a part
 * of it.
 */
function listLines({ latencies, causes }: FleetProgress, room: number): FrameRow[] {
  const busiest = latencies.toSorted((one, other) => other.count - one.count);
  const rowCounts = { latencies: busiest.length, causes: causes.length };
  const rows = room - (rowCounts.latencies > 0 ? 2 : 0) - (rowCounts.causes > 0 ? 2 : 0);
  if (rows < 1) return [];
  const half = Math.ceil(rows / 2);
  const causeRows = Math.min(
    rowCounts.causes,
    LIST_MAX,
    Math.max(half, rows - rowCounts.latencies),
  );
  const latencyRows = Math.min(rowCounts.latencies, LIST_MAX, rows - causeRows);
  return [
    ...latencyLines(busiest.slice(0, latencyRows)),
    ...causeLines(causes.slice(0, causeRows)),
  ];
}

function latencyLines(rows: FleetProgress['latencies']): FrameRow[] {
  if (rows.length === 0) return [];
  const label = Math.max('latency in ms'.length, ...rows.map(({ operation }) => operation.length));
  const cells = (texts: readonly string[]): string =>
    texts.map((text) => text.padStart(NUMBER_COLUMNS)).join('');
  const heading = `${'latency in ms'.padEnd(label)}${cells(['p50', 'p90', 'p99', 'max', 'count'])}`;
  return [
    [],
    [{ text: heading, tone: 'dim' }],
    ...rows.map(({ operation, p50Ms, p90Ms, p99Ms, maxMs, count }): FrameRow => {
      const times = [p50Ms, p90Ms, p99Ms, maxMs].map((ms) => ms.toFixed(1));
      return [operation.padEnd(label), cells([...times, String(count)])];
    }),
  ];
}

function causeLines(rows: FleetProgress['causes']): FrameRow[] {
  if (rows.length === 0) return [];
  const label = Math.max(...rows.map(({ operation }) => widthOf(operation)));
  return [
    [],
    [{ text: 'errors by cause', tone: 'dim' }],
    ...rows.map(({ operation, cause, count }): FrameRow => {
      const number = String(count).padStart(NUMBER_COLUMNS);
      return [{ text: number, tone: 'negative' }, `  ${operation.padEnd(label)}  ${cause}`];
    }),
  ];
}

function clock(elapsedMs: number): string {
  const seconds = Math.floor(elapsedMs / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}
