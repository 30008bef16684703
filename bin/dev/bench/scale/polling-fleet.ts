/**
 * A fleet of one process that polls over shared connections, larger than sockets of its own would
 * let it be, and the server that knows it.
 */
import { CommandError } from '../../../output/command-error.ts';
import { type HeldFleet, heldRows, measuredHeldFleet } from '../parts/simulator.ts';
import type { BenchContext } from '../rounds.ts';
import { limitRow, type Row, rowOf } from '../row.ts';
import { once } from './observed.ts';

/**
 * They arrive no faster than one slow core of the server can answer the eight requests that each
 * begins with: 1,800 a second.
 */
const fleet = {
  devices: 100_000,
  times: { gatherMs: 450_000, settleMs: 60_000, measuredMs: 20_000 },
};
/** The most of one process; it polls half as often, and arrives more slowly, as it polls meanwhile. */
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
/** Of 100,000 devices in that interval: what one core of the server is to be enough for. */
const POLLS_PER_SECOND = 3333;
const CORE_PERCENT = 100;

/**
 * Measures the fleet and, at the same time, its server; a quick run has only the row of the server.
 */
export async function pollingFleetRows(context: BenchContext): Promise<Row[]> {
  const { devices, times } = context.quick ? quickFleet : fleet;
  const shown = shownCount(devices);
  const held = heldFleet(devices, times, POLL_INTERVAL_MS);
  const seen = await measuredHeldFleet(context, held);
  const perSecond = seen.exchanges / (seen.elapsedMs / 1000);
  const percent = (CORE_PERCENT * seen.serverCpuMs) / seen.elapsedMs;
  return [
    limitRow({
      what: `server for ${POLLS_PER_SECOND} polls/s, ${shown} devices known`,
      unit: '% of a core',
      subject: once('fleetbed', (percent * POLLS_PER_SECOND) / perSecond),
      limit: CORE_PERCENT,
      note: `from ${percent.toFixed(1)} % at ${Math.round(perSecond)} polls/s, measured once`,
    }),
    // With few devices, what the engine reserves for itself would count.
    ...(context.quick ? [] : heldRows(held, seen)),
  ];
}

/**
 * Measures the largest fleet of one process; nothing in a quick run. A fleet that does not settle is
 * a row too, so that the rows of the hour before are not lost.
 */
export async function largestFleetRows(context: BenchContext): Promise<Row[]> {
  if (context.quick) return [];
  const held = heldFleet(largestFleet.devices, largestFleet.times, LARGEST_POLL_INTERVAL_MS);
  try {
    const seen = await measuredHeldFleet(context, held);
    return [settledRow(held, true, ''), ...heldRows(held, seen)];
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return [settledRow(held, false, error.message)];
  }
}

function settledRow({ devices }: HeldFleet, isSettled: boolean, note: string): Row {
  return rowOf({
    what: `a fleet of ${shownCount(devices)} polling devices that settles`,
    unit: 'of 1',
    better: 'higher',
    goal: 1,
    subject: once('fleetbed', isSettled ? 1 : 0),
    baseline: once('goal', 1),
    note,
  });
}

function heldFleet(devices: number, times: HeldFleet['times'], pollIntervalMs: number): HeldFleet {
  const who = `polling device, one of ${shownCount(devices)}`;
  return { who, devices, times, connect: false, pollIntervalMs };
}

function shownCount(devices: number): string {
  return devices.toLocaleString('en-US');
}
