/** Runs fleets in separate processes. */
import { planDefaults } from '../../../simulator/plan/plan.ts';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import type { FleetBench, FleetMeasurement, UnsettledFleet } from './children/fleet.ts';
import type { Children, ServerChild } from './children.ts';

const RAMP_MS = 1000;
/**
 * Factor by which the settling time grows for the second attempt; on a busy machine devices
 * authenticate more slowly.
 */
const SETTLE_GROWTH = 4;
const SETTLE_MAX_MS = 120_000;

/**
 * Returns the plan of a fleet whose devices poll every 10 s, for a server that accepts devices
 * automatically.
 */
export function steadyFleet({ baseUrl, headerPrefix, tls }: ServerReady): FleetBench['plan'] {
  return {
    ...planDefaults,
    baseUrl,
    headerPrefix,
    ...(tls?.caPem !== undefined && { tls: { caPem: tls.caPem } }),
    devices: 1,
    keys: { rsa: 0, ecdsa: 0, ed25519: 1 },
    seed: 'bench',
    pollIntervalMs: 10_000,
    inventoryIntervalMs: 3_600_000,
    rampMs: 0,
    drainMs: 0,
  };
}

/** Returns a fleet of a few devices that poll without a pause for this many seconds. */
export function busyFleet(server: ServerChild, devices: number, seconds: number): FleetBench {
  return {
    plan: { ...steadyFleet(server.ready), devices, pollIntervalMs: 10 },
    gatherMs: RAMP_MS,
    settleMs: RAMP_MS,
    measuredMs: seconds * 1000,
    present: { devices, sockets: 0 },
    serverPid: server.pid,
  };
}

/**
 * Runs a fleet and measures it. When the fleet does not settle, repeats the run once with more
 * time.
 * @throws CommandError when the second run does not settle either, or when a run ends early or sees
 * an error
 */
export async function measuredFleet(
  children: Children,
  bench: FleetBench,
): Promise<FleetMeasurement> {
  const fleet = await children.script('generator', 'fleet', JSON.stringify(bench));
  const measurement = JSON.parse(fleet.firstLine) as FleetMeasurement | UnsettledFleet;
  if ('unsettled' in measurement) {
    const settleMs = bench.settleMs * SETTLE_GROWTH;
    if (settleMs <= SETTLE_MAX_MS) return measuredFleet(children, { ...bench, settleMs });
    const sentence = `the machine is too busy: ${measurement.unsettled}; stop other programs.`;
    throw new CommandError(sentence, exitCodes.generatorLimited);
  }
  if (measurement.errors.length > 0) {
    throw new CommandError(
      `the fleet saw ${measurement.errors.join(', ')}.`,
      exitCodes.generatorLimited,
    );
  }
  return measurement;
}
