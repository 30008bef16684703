/**
 * Measures a fleet that one process polls over shared connections, with more devices than it could
 * hold sockets for, and the server that knows these devices.
 */
import { CommandError } from '../../../output/command-error.ts';
import { heldRows, measuredHeldFleet, type PresentFleet } from '../parts/simulator.ts';
import type { BenchContext } from '../rounds.ts';
import { type BenchRow, limitRow, rowOf } from '../row.ts';
import { once } from './observed.ts';

/**
 * The ramp-up is as long as one slow core of the server needs for the eight initial requests of
 * each device: 1,800 requests a second.
 */
const fleet = {
  devices: 100_000,
  times: { gatherMs: 450_000, settleMs: 60_000, measuredMs: 20_000 },
};
/**
 * The largest fleet of one process. It polls half as often, and its ramp-up is slower, because it
 * polls during the ramp-up.
 */
const largestFleet = {
  devices: 200_000,
  times: { gatherMs: 1_500_000, settleMs: 120_000, measuredMs: 20_000 },
};
const quickFleet = {
  devices: 10_000,
  times: { gatherMs: 10_000, settleMs: 12_000, measuredMs: 5000 },
};
const POLL_INTERVAL_MS = 30_000;
const LARGEST_POLL_INTERVAL_MS = 60_000;
/** Polls of the fleet at that interval; one core of the server has to be sufficient for them. */
const POLLS_PER_SECOND = Math.round((fleet.devices * 1000) / POLL_INTERVAL_MS);
const CORE_PERCENT = 100;

/**
 * Measures the fleet and its server at the same time; a quick run has only the row of the server.
 */
export async function pollingFleetRows(context: BenchContext): Promise<BenchRow[]> {
  const { devices, times } = context.quick ? quickFleet : fleet;
  const countText = countTextOf(devices);
  const pollingDevices = heldFleet(devices, times, POLL_INTERVAL_MS);
  const fleetFigures = await measuredHeldFleet(context, pollingDevices);
  const perSecond = fleetFigures.exchanges / (fleetFigures.elapsedMs / 1000);
  const percent = (CORE_PERCENT * fleetFigures.serverCpuMs) / fleetFigures.elapsedMs;
  return [
    limitRow({
      title: `server for ${POLLS_PER_SECOND} polls/s, ${countText} devices known`,
      unit: '% of a core',
      subject: once('fleetbed', (percent * POLLS_PER_SECOND) / perSecond),
      limit: CORE_PERCENT,
      note: `from ${percent.toFixed(1)} % at ${Math.round(perSecond)} polls/s, measured once`,
    }),
    // With few devices, the fixed memory of the engine would count.
    ...(context.quick ? [] : heldRows(pollingDevices, fleetFigures)),
  ];
}

/**
 * Measures the largest fleet of one process; a quick run skips it. A fleet that does not settle is
 * reported as a row, so that the rows measured before are not lost.
 */
export async function largestFleetRows(context: BenchContext): Promise<BenchRow[]> {
  if (context.quick) return [];
  const fleet = heldFleet(largestFleet.devices, largestFleet.times, LARGEST_POLL_INTERVAL_MS);
  try {
    const fleetFigures = await measuredHeldFleet(context, fleet);
    return [settledRow(fleet, true, ''), ...heldRows(fleet, fleetFigures)];
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return [settledRow(fleet, false, error.message)];
  }
}

function settledRow({ devices }: PresentFleet, isSettled: boolean, note: string): BenchRow {
  return rowOf({
    title: `a fleet of ${countTextOf(devices)} polling devices that settles`,
    unit: 'of 1',
    better: 'higher',
    goal: 1,
    subject: once('fleetbed', isSettled ? 1 : 0),
    baseline: once('goal', 1),
    note,
  });
}

function heldFleet(
  devices: number,
  times: PresentFleet['times'],
  pollIntervalMs: number,
): PresentFleet {
  return { deviceKind: 'polling device', devices, times, connect: false, pollIntervalMs };
}

function countTextOf(devices: number): string {
  return devices.toLocaleString('en-US');
}
