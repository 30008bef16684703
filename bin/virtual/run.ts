/** One run in virtual time: a fleet and the reference server in one process, on one clock. */
import { runFast } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import type { MemoryListener } from '../../server/listeners/memory-listener.ts';
import {
  type FleetEnvironment,
  type FleetEvent,
  type FleetIntervals,
  type FleetPlan,
  type FleetResult,
  simulateFleet,
} from '../../simulator/engine/simulate-fleet.ts';
import type { Machine } from '../../simulator/metrics/generator-machine.ts';
import { cohortsOf } from '../../simulator/plan/cohort.ts';
import type { ExchangeFault } from '../../simulator/plan/exchange-faults.ts';
import type { Restart } from '../../simulator/plan/restarts.ts';
import { exchangeDisturbances } from './exchange-disturbances.ts';
import { type InvariantViolation, violationsIn } from './invariants.ts';
import { MemoryTransport } from './memory-transport.ts';
import { UnauthorizedDevice } from './unauthorized-device.ts';
import { openVirtualServer, virtualHost, virtualUser } from './virtual-server.ts';

/** The inputs of a run: the same values give the same events. */
export interface VirtualRun {
  readonly plan: FleetPlan;
  /** Start of the run, in milliseconds since the Unix epoch. */
  readonly startMs: number;
  readonly faults: readonly ExchangeFault[];
  readonly restarts: readonly Restart[];
  /** True when the seed orders simultaneous events and delays every exchange. */
  readonly isInterleaved: boolean;
}

/** The observers of a run, and the signal that ends it. */
export interface VirtualEnvironment
  extends Pick<
    FleetEnvironment,
    'signal' | 'forceStop' | 'onProgress' | 'onKeys' | 'version' | 'judge'
  > {
  readonly onEvent?: (event: FleetEvent) => void;
  /** Returns false while virtual time must wait for the receiver of the events. */
  readonly mayContinue?: () => boolean;
  /** Wraps the listener that the fleet calls. */
  readonly wrapListener?: (listener: MemoryListener) => MemoryListener;
}

/** The outcome of a finished run. */
export interface VirtualOutcome {
  readonly result: FleetResult;
  readonly violations: readonly InvariantViolation[];
}

const PROGRESS_MIN_MS = 1000;
/** Limit on the progress reports of a run, because each one reads every device. */
const PROGRESS_REPORTS_MAX = 300;
const USER_MIN_MS = 250;
/**
 * Checks for pending devices per poll interval: a device waits at most a tenth of the interval to
 * be accepted.
 */
const USER_CHECKS_PER_POLL = 10;

/** Returns true when the run restarts its server. */
function restartsServer({ faults, restarts }: VirtualRun): boolean {
  return (
    faults.some(({ name }) => name === 'server-restart') ||
    restarts.some(({ device }) => device === undefined)
  );
}

/**
 * Executes a run in virtual time to its end.
 * @throws RestartError when the server does not come back, and the errors of `simulateFleet`
 */
export async function runVirtually(
  virtualRun: VirtualRun,
  {
    mayContinue = () => true,
    wrapListener = (listener) => listener,
    ...environment
  }: VirtualEnvironment,
): Promise<VirtualOutcome> {
  const plan = virtualPlan(virtualRun);
  const random = seededRandom(plan.seed);
  const chance = (name: string) => (virtualRun.isInterleaved ? random.stream(name) : undefined);
  const { clock, server } = await openVirtualServer(plan, {
    startMs: virtualRun.startMs,
    mayRestart: restartsServer(virtualRun),
    order: chance('virtual/order'),
  });
  const connectionOptions = { server, host: virtualHost, clock };
  const disturbanceOf = exchangeDisturbances({
    faults: virtualRun.faults,
    delays: chance('virtual/delays'),
  });
  const pollIntervalMs = minPollMs(plan);
  const unauthorizedDevice = new UnauthorizedDevice({
    plan,
    clock,
    pollIntervalMs,
    server,
    inProcess: new MemoryTransport(connectionOptions),
    random: random.stream('virtual/unauthorized-device'),
  });
  const failure = new AbortController();
  server.onRestartError = (error) => failure.abort(error);
  for (const { device, atMs, lastingMs } of virtualRun.restarts) {
    if (device === undefined) server.restartAfter(atMs, lastingMs);
  }
  const unauthorizedRun = unauthorizedDevice.run().catch((error: unknown) => failure.abort(error));
  try {
    const result = await simulateFleet(plan, {
      ...environment,
      signal: AbortSignal.any([environment.signal, failure.signal]),
      clock,
      inProcess: new MemoryTransport({
        ...connectionOptions,
        listener: wrapListener(server.listener),
        disturbanceOf,
      }),
      intervals: intervalsOf(plan, pollIntervalMs),
      machine: () => idleMachine,
      advanceTime: (isIdle) => {
        const isBusy = (): boolean => unauthorizedDevice.isBusy || server.isBusy;
        const mayAdvance = (): boolean => isIdle() && !isBusy() && mayContinue();
        return runFast(clock, mayAdvance, { idleIterations: 1, singly: true });
      },
    });
    unauthorizedDevice.stop();
    await unauthorizedRun;
    if (failure.signal.aborted) throw failure.signal.reason;
    return { result, violations: [...violationsIn(result), ...unauthorizedDevice.violations] };
  } finally {
    unauthorizedDevice.stop();
    await server.close();
  }
}

/** Returns the plan with the power cuts of the run. */
function virtualPlan({ plan, restarts }: VirtualRun): FleetPlan {
  const reboots = restarts.flatMap(({ device, atMs, lastingMs }) =>
    device === undefined ? [] : [{ name: 'power-cut' as const, atMs, lastingMs, device }],
  );
  const ownServerPlan = planForOwnServer(plan);
  return reboots.length === 0
    ? ownServerPlan
    : { ...ownServerPlan, incidents: [...(ownServerPlan.incidents ?? []), ...reboots] };
}

/**
 * Returns the plan for this server and its user, without settings for connections and other
 * servers.
 */
function planForOwnServer({
  tls: _certificates,
  tenantToken: _tenant,
  sourceAddresses: _addresses,
  state: _state,
  ledger: _ledger,
  ...plan
}: FleetPlan): FleetPlan {
  return { ...plan, baseUrl: `http://${virtualHost}`, acceptWith: virtualUser };
}

function minPollMs(plan: FleetPlan): number {
  return Math.min(...cohortsOf(plan).map(({ policy }) => policy.pollIntervalMs));
}

/**
 * Returns the intervals of the work that visits all devices. For a large fleet, a visit every
 * second would take longer than all polls.
 */
function intervalsOf({ durationMs = 0 }: FleetPlan, pollIntervalMs: number): FleetIntervals {
  return {
    progressMs: Math.max(PROGRESS_MIN_MS, durationMs / PROGRESS_REPORTS_MAX),
    userMs: Math.max(USER_MIN_MS, pollIntervalMs / USER_CHECKS_PER_POLL),
  };
}

/** A machine that is never the limit, because virtual time waits for it. */
const idleMachine: Machine = {
  read: () => ({
    cpuUserMs: 0,
    cpuSystemMs: 0,
    loopBusyMs: 0,
    loopIdleMs: 0,
    memoryBytes: 0,
    collections: 0,
    collectionMs: 0,
    collectionMaxMs: 0,
    eventLoopLagP99Ms: 0,
    eventLoopLagMaxMs: 0,
  }),
  close: () => undefined,
};
