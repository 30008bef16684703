/** `fleetbed simulate --virtual`: one run in virtual time, or many runs with `--explore`. */
import { createWriteStream } from 'node:fs';
import { PassThrough, type Writable } from 'node:stream';
import type { Command } from 'commander';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { countText } from '../../../fixtures/base/count-text.ts';
import { durationText } from '../../../fixtures/base/duration.ts';
import {
  ClientError,
  type FleetPlan,
  type FleetProgress,
} from '../../../simulator/engine/simulate-fleet.ts';
import { fleetReport } from '../../../simulator/report/text.ts';
import { fleetFormats } from '../../options/fleet-formats.ts';
import { repeatLine } from '../../options/repeat-line.ts';
import { prepareReports, type ReportFiles, writeReports } from '../../options/reports.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { fileError, openForLines } from '../../output/files.ts';
import { fleetError, fleetExitCode } from '../../output/fleet-outcome.ts';
import type { Output } from '../../output/output.ts';
import { stopSignals } from '../../output/stop-signal.ts';
import { packageVersion } from '../../output/version.ts';
import { virtualRunOptions } from '../../virtual/command-line.ts';
import { EventLog, type EventLogSummary } from '../../virtual/event-log.ts';
import { exploreSeeds, type FailedRun } from '../../virtual/explore-seeds.ts';
import type { InvariantViolation } from '../../virtual/invariants.ts';
import type { VirtualOptions } from '../../virtual/options.ts';
import { runVirtually, type VirtualEnvironment, type VirtualRun } from '../../virtual/run.ts';
import { RestartError } from '../../virtual/server-process.ts';
import { judgeFor } from './checks.ts';
import { printKeyProgress } from './rsa-keys.ts';
import { STANDARD_OUTPUT } from './run-observers.ts';

export { virtualUser } from '../../virtual/virtual-server.ts';

/** The options of a run in virtual time that are not part of its plan. */
type VirtualCommandOptions = VirtualOptions & {
  readonly events?: string;
  readonly report?: ReportFiles;
};

const PROGRESS_PERIOD_MS = 5000;
const DAY_MS = 86_400_000;

/** The input of a run in virtual time. */
interface VirtualCommand {
  readonly plan: FleetPlan;
  readonly options: VirtualCommandOptions;
  readonly output: Output;
  /** The command with the arguments that the user typed. */
  readonly command: Command;
  readonly args: readonly string[];
}

/** Runs the plan once, or explores it with many seeds. */
export async function simulateVirtually(command: VirtualCommand): Promise<ExitCode> {
  const { plan, options, output } = command;
  const { signal, forceStop } = stopSignals();
  const environment = {
    signal,
    forceStop,
    version: packageVersion(),
    onKeys: printKeyProgress(output),
    judge: await judgeFor(plan),
  };
  const virtualRun = {
    plan,
    startMs: options.virtualStart,
    faults: options.fault ?? [],
    restarts: options.restart ?? [],
    isInterleaved: options.interleave === true,
  };
  try {
    if (options.explore === undefined) return await runOnce(virtualRun, environment, command);
    return await runSearch({ ...command, seeds: options.explore }, virtualRun, environment);
  } catch (error) {
    throw fleetError(error, plan);
  }
}

async function runOnce(
  virtualRun: VirtualRun,
  environment: VirtualEnvironment,
  { plan, options, output, command, args }: VirtualCommand,
): Promise<ExitCode> {
  await prepareReports(options.report);
  const log = new EventLog(await eventStream(options.events));
  const progress = new ProgressLines(output, plan);
  const cpu = process.cpuUsage();
  const { result, violations } = await runVirtually(virtualRun, {
    ...environment,
    onEvent: log.record,
    mayContinue: () => log.hasRoom,
    onProgress: progress.record,
  }).finally(progress.close);
  const { user, system } = process.cpuUsage(cpu);
  const logged = await log.close().catch((error: unknown) => {
    throw fileError(`--events cannot write ${options.events}`, error);
  });
  const { sha256, lines } = logged;
  const virtual = { startMs: virtualRun.startMs, eventLog: { sha256, lines }, violations };
  const run = { ...result, virtual };
  await writeReports(fleetFormats, options.report, run);
  output.data(run);
  output.line(fleetReport(run));
  const seconds = (user + system) / 1e6;
  output.line(virtualReport({ durationMs: result.durationMs, seconds, logged, violations }));
  const repeatArguments = { ownArguments: ['--seed', plan.seed], replaced: ['--seed'] };
  output.line(`repeat: ${repeatLine(args, command, repeatArguments)}`);
  return fleetExitCode(run);
}

async function eventStream(events: string | undefined): Promise<Writable | undefined> {
  if (events === undefined) return undefined;
  if (events === STANDARD_OUTPUT) {
    // `end: false`, because standard output is still used after the log has ended.
    const lines = new PassThrough();
    lines.pipe(process.stdout, { end: false });
    return lines;
  }
  return createWriteStream(events, { fd: await openForLines('--events', events) });
}

interface RunSummary {
  readonly durationMs: number;
  /** CPU time of the process in seconds. */
  readonly seconds: number;
  readonly logged: EventLogSummary;
  readonly violations: readonly InvariantViolation[];
}

function virtualReport({ durationMs, seconds, logged, violations }: RunSummary): string {
  const times = Math.round(durationMs / 1000 / seconds);
  return [
    'Virtual time',
    `  ${durationText(durationMs)} in ${seconds.toFixed(1)} s of CPU time, ${times} times as fast`,
    `  event log   ${logged.lines} lines, SHA-256 ${logged.sha256}`,
    `  invariants  ${violations.length === 0 ? 'hold' : 'violated'}`,
    ...violationLines(violations),
  ].join('\n');
}

async function runSearch(
  { output, command, args, seeds }: VirtualCommand & { readonly seeds: number },
  base: VirtualRun,
  environment: VirtualEnvironment,
): Promise<ExitCode> {
  const { signal } = environment;
  let lastShownMs = 0;
  const { seeds: triedSeeds, failed } = await exploreSeeds(base, {
    seeds,
    signal,
    runInVirtualTime: (virtualRun) => violationsOf(virtualRun, environment),
    onSeed: (done) => {
      if (systemClock.monotonicMs() - lastShownMs < PROGRESS_PERIOD_MS) return;
      lastShownMs = systemClock.monotonicMs();
      output.progress(`${done} of ${seeds} seeds: the invariants hold`);
    },
  });
  const line = failed && repeatLine(args, command, virtualRunOptions(failed.virtualRun));
  output.data({
    seeds: triedSeeds,
    ...(failed && { violations: failed.violations, repeat: line }),
  });
  if (failed && line !== undefined) output.line(failureReport(failed, triedSeeds, line));
  else output.line(`${triedSeeds} of ${seeds} seeds: the invariants hold`);
  if (signal.aborted) return exitCodes.interrupted;
  return failed ? exitCodes.failed : exitCodes.pass;
}

/**
 * Returns the invariants that the run violates; a run that fails because of the server's
 * answers counts as a violation.
 */
async function violationsOf(
  virtualRun: VirtualRun,
  environment: VirtualEnvironment,
): Promise<readonly InvariantViolation[]> {
  try {
    return (await runVirtually(virtualRun, environment)).violations;
  } catch (error) {
    if (error instanceof RestartError) {
      return [{ invariant: 'server-returns', message: error.message }];
    }
    if (!(error instanceof ClientError)) throw error;
    return [{ invariant: 'run-ends', message: error.message }];
  }
}

function failureReport(
  { virtualRun, violations, shrinkRuns }: FailedRun,
  tried: number,
  line: string,
): string {
  const { devices, durationMs = 0 } = virtualRun.plan;
  return [
    `Seed ${tried} violates an invariant:`,
    ...violationLines(violations),
    `Shrunk in ${countText(shrinkRuns, 'run')} to: ${countText(devices, 'device')}, ${durationText(durationMs)}, ${countText(virtualRun.faults.length, 'fault')}. Reproduce it with:`,
    line,
  ].join('\n');
}

function violationLines(violations: readonly InvariantViolation[]): string[] {
  return violations.map(({ invariant, message }) => `  ${invariant}: ${message}`);
}

function daysOf(durationMs: number): string {
  return String(Number((durationMs / DAY_MS).toFixed(3)));
}

/** Prints an occasional line of progress during a run. */
class ProgressLines {
  readonly #timer: { cancel(): void };
  #last: FleetProgress | undefined;

  constructor(output: Output, { durationMs }: FleetPlan) {
    const totalText = durationMs === undefined ? '' : ` of ${daysOf(durationMs)}`;
    this.#timer = systemClock.every(PROGRESS_PERIOD_MS, () => {
      if (this.#last === undefined) return;
      const { elapsedMs, exchanges } = this.#last;
      output.progress(`day ${daysOf(elapsedMs)}${totalText}: ${exchanges} exchanges`);
    });
  }

  readonly record = (progress: FleetProgress): void => {
    this.#last = progress;
  };

  readonly close = (): void => this.#timer.cancel();
}
