/**
 * Entry point of the fleet simulator: it runs a plan and returns one result. It does not use the
 * command line.
 */
import { setFlagsFromString } from 'node:v8';
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { readBehaviourFiles } from '../behaviours/behaviour-file.ts';
import { discardedEvents, EventSource, type FleetEvent } from '../device/events.ts';
import { Identities } from '../identity/identities.ts';
import type { KeyProgress } from '../identity/rsa-pool.ts';
import type { SampledExchangeJudge } from '../metrics/check-metrics.ts';
import { type Machine, thisMachine, thisMachineFacts } from '../metrics/generator-machine.ts';
import { GeneratorWatch } from '../metrics/generator-watch.ts';
import { FleetStopped } from '../network/errors.ts';
import type { InProcessTransport } from '../network/in-process-transport.ts';
import { type FleetPlan, PlanError } from '../plan/plan.ts';
import { planSummary } from '../result/plan-summary.ts';
import type { CurrentLatency, EndReason, FleetProgress, FleetResult } from '../result/result.ts';
import type { Funnel } from '../result/result-devices.ts';
import type { ProcessFacts } from '../result/result-generator.ts';
import { latencySoFar } from '../result/shard-figures.ts';
import { ThresholdWatch } from '../result/thresholds-live.ts';
import { trafficOf } from '../result/traffic.ts';
import { openStorage } from '../state/storage.ts';
import type { CoordinatorConnection } from './coordinator-connection.ts';
import { Deferred } from './deferred.ts';
import { Fleet, type FleetParts } from './fleet.ts';
import { measuresNow, shardFigures } from './fleet-measures.ts';
import { deviceCountsOf, funnelOf } from './funnel.ts';
import { resultOf } from './result-of-fleet.ts';

export { BehaviourFileError } from '../behaviours/behaviour-file.ts';
export type { FleetEvent } from '../device/events.ts';
export { IdentityError } from '../identity/identity-error.ts';
export type { SampledExchangeJudge } from '../metrics/check-metrics.ts';
export { ClientError } from '../network/errors.ts';
export { type FleetPlan, PlanError } from '../plan/plan.ts';
export type { FleetProgress, FleetResult } from '../result/result.ts';
export { FleetStateError as StateError } from '../state/state-error.ts';
export { NotDeployableError, requireDeployable } from './deployable.ts';

/** The surroundings of a run: signals, callbacks, clock, transport and judge. */
export interface FleetEnvironment {
  /** Ends the run cleanly; its result says that it was interrupted. */
  readonly signal: AbortSignal;
  /**
   * Ends the run without waiting for deployments in progress. It has an effect only after `signal`
   * has aborted.
   */
  readonly forceStop?: AbortSignal | undefined;
  /** Keeps the fleet alive after the end of the run. */
  readonly stay?: {
    /** Milliseconds between two polls of a device after the end of the run. */
    readonly pollIntervalMs: number;
    /** Called with the result. The fleet stops when the returned promise resolves. */
    readonly until: (result: FleetResult) => Promise<void>;
  };
  /** Called at the start, then about once a second, and once at the end. */
  readonly onProgress?: (progress: FleetProgress) => void;
  /** Called synchronously for every event, so it must return quickly. */
  readonly onEvent?: (event: FleetEvent) => void;
  /** Called in a shard with the number of events that could not be sent to its coordinator. */
  readonly onEventsLost?: (events: number) => void;
  /** Called when an RSA key of the pool is found missing, and again when it has been created. */
  readonly onKeys?: (progress: KeyProgress) => void;
  readonly clock: Clock;
  /**
   * Advances the clock of a run in virtual time until cancelled. `isIdle` returns true when
   * everything waits for time to pass.
   */
  readonly advanceTime?: (isIdle: () => boolean) => Timer;
  /** Carries the requests in place of connections. */
  readonly inProcess?: InProcessTransport | undefined;
  /** Intervals of the work that visits all devices, which is the largest cost in virtual time. */
  readonly intervals?: FleetIntervals | undefined;
  /** Starts measuring the resources of the process; without it, Node's measurements are used. */
  readonly machine?: () => Machine;
  /** Version of Fleetbed, for the result. */
  readonly version?: string;
  /** Connection to the coordinator of the run, when the plan is that of a shard. */
  readonly coordinator?: CoordinatorConnection;
  /** Judges the exchanges of watched devices; required when the plan has a `checkShare`. */
  readonly judge?: SampledExchangeJudge | undefined;
}

/** Intervals in milliseconds of the work that visits all devices. */
export interface FleetIntervals {
  /** Interval of progress reports, threshold checks and the time series; one second by default. */
  readonly progressMs: number;
  /** Interval of the user's search for devices to accept. */
  readonly userMs: number;
}

const PROGRESS_PERIOD_MS = 1000;

/**
 * Turns off an optimization of V8: code whose objects survive several collections allocates its
 * objects directly in the old generation. While a fleet authenticates, requests survive because
 * they wait for the server. Later, each poll would leave garbage in the old generation until the
 * next full collection.
 */
function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/**
 * Runs a fleet against a server and returns the result with the outcome of every device.
 * @throws BehaviourFileError when a behaviour file is invalid, and PlanError when a `checkShare`
 *   has no judge, both before anything starts; IdentityError when the devices cannot be built;
 *   StateError when the state or the ledger cannot be stored; ClientError when the server cannot be
 *   reached, or refuses the user's login or the deployment
 */
export async function simulateFleet(
  plan: FleetPlan,
  environment: FleetEnvironment,
): Promise<FleetResult> {
  disablePretenuring();
  await readBehaviourFiles(plan.behaviourFiles ?? []);
  const judge = judgeFor(plan, environment);
  const { clock, signal, onProgress, onEvent, coordinator } = environment;
  const startedAt = new Date(clock.now()).toISOString();
  const events = onEvent ? new EventSource(clock, onEvent) : discardedEvents;
  const identities = await Identities.open(plan, {
    random: seededRandom(plan.seed),
    onKeys: environment.onKeys,
  });
  const summary = await planSummary(plan);
  coordinator?.reportPlan(summary.digest);
  const { inProcess, intervals } = environment;
  const userIntervalMs = intervals?.userMs;
  const parts: FleetParts = {
    identities,
    events,
    coordinator,
    judge,
    inProcess,
    userIntervalMs,
  };
  const fleet = new Fleet(plan, clock, parts);
  const watch = new GeneratorWatch((environment.machine ?? thisMachine)());
  const thresholds = new ThresholdWatch(plan);
  const report = (): void => {
    watch.recordCounts(fleet.openNow());
    const shard = plan.shard?.index ?? 0;
    // In a run with several shards, the coordinator judges the thresholds for all of them together.
    if (coordinator)
      coordinator.reportFigures(() => shardFigures(fleet, clock.now(), plan.thresholds));
    else if (thresholds.check(() => measuresNow(fleet, clock.now()))) fleet.end('threshold');
    const funnel = funnelOf(fleet.devices, fleet.runDeployment);
    fleet.metrics.series.recordDevices(clock.now(), deviceCountsOf(funnel));
    onProgress?.(progressOf(fleet, funnel, watch.facts(shard, fleet.elapsedMs())));
  };
  const reports = clock.every(intervals?.progressMs ?? PROGRESS_PERIOD_MS, report);
  // Virtual time stops while keys are created, because only the first run with a pool creates them.
  let isPreparingKeys = false;
  const driver = environment.advanceTime?.(() => !isPreparingKeys && fleet.isIdle());
  try {
    fleet.storage = openStorage(plan, fleet.devices);
    // The first progress report is due at once, not after the first second.
    report();
    await unlessStopped(fleet.reach(signal));
    isPreparingKeys = true;
    await unlessStopped(prepareKeys(identities, fleet, signal));
    isPreparingKeys = false;
    const { forceStop, stay } = environment;
    const resultWhen = async (ended: EndReason): Promise<FleetResult> => {
      events.emit({ kind: 'ended', reason: ended });
      report();
      const sharedKeys = await identities.keyring.sharedKeys(fleet.devices);
      return resultOf(fleet, {
        plan,
        summary,
        ended,
        startedAt,
        watch,
        sharedKeys,
        machine: thisMachineFacts(environment.version),
      });
    };
    if (stay === undefined) return await resultWhen(await fleet.run(signal, { forceStop }));
    const { pollIntervalMs } = stay;
    const result = new Deferred<FleetResult>();
    const until = async (ended: EndReason): Promise<void> => {
      result.resolve(await resultWhen(ended));
      await stay.until(await result.value);
    };
    await fleet.run(signal, { forceStop, keepAlive: { pollIntervalMs, until } });
    return await result.value;
  } finally {
    reports.cancel();
    driver?.cancel();
    watch.close();
    identities.close();
    fleet.storage.close();
    await fleet.close();
  }
}

/**
 * Returns the judge of the watched devices. Without one, the sample would pass whatever the server
 * does, so its absence is an error.
 */
function judgeFor(
  { checkShare }: FleetPlan,
  { judge }: FleetEnvironment,
): SampledExchangeJudge | undefined {
  if (checkShare === undefined) return undefined;
  if (judge === undefined) throw new PlanError(['checkShare needs a judge']);
  return judge;
}

/** Ignores FleetStopped, because a run that is interrupted before its start also has a result. */
async function unlessStopped(step: Promise<void>): Promise<void> {
  try {
    await step;
  } catch (error) {
    if (!(error instanceof FleetStopped)) throw error;
  }
}

/**
 * Creates all missing keys before the run, because a prime search during the run would distort its
 * figures.
 */
async function prepareKeys(
  { keyring }: Identities,
  { devices }: Fleet,
  signal: AbortSignal,
): Promise<void> {
  const giveUp = (): void => keyring.close();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    await keyring.prepare(devices);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

function progressOf(fleet: Fleet, funnel: Funnel, generator: ProcessFacts): FleetProgress {
  const elapsedMs = fleet.elapsedMs();
  const traffic = trafficOf(fleet.metrics.operations(), elapsedMs);
  return {
    elapsedMs,
    funnel,
    exchanges: fleet.metrics.exchangeCount,
    errors: fleet.metrics.errorCount,
    socketsOpen: fleet.socketsOpen,
    ...(fleet.runDeployment && { deployment: fleet.runDeployment }),
    stage: fleet.metrics.stage,
    latencies: latenciesSoFar(fleet),
    generators: [generator],
    latenessP99Ms: fleet.metrics.lateness.percentileMs(99),
    ...(traffic && { traffic }),
    ...(fleet.fixedRatePolls && { fixedRatePolls: fleet.fixedRatePolls }),
    causes: fleet.metrics.errors(),
    ...(fleet.checks && { violated: fleet.checks.violated() }),
  };
}

/**
 * Returns percentiles without histograms. Encoding a histogram takes time, so only the result
 * contains them.
 */
function latenciesSoFar({ metrics }: Fleet): CurrentLatency[] {
  return [...metrics.histograms()].map(latencySoFar);
}
