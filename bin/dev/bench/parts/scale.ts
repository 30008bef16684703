/**
 * Part `scale`: measures very many devices, audit log entries, sockets and bytes. It takes more
 * than an hour, so it runs only when it is named.
 */
import type { BenchContext } from '../rounds.ts';
import type { BenchRow } from '../row.ts';
import { auditLogRows } from '../scale/audit-log.ts';
import { downloadRows } from '../scale/downloads.ts';
import { firstContactRows } from '../scale/first-contacts.ts';
import { fleetKeyRows } from '../scale/fleet-keys.ts';
import { heldSocketRows } from '../scale/held-sockets.ts';
import { knownDeviceRows } from '../scale/known-devices.ts';
import { pollUnderLoadRows } from '../scale/poll-under-load.ts';
import { largestFleetRows, pollingFleetRows } from '../scale/polling-fleet.ts';
import { twoProcessRows } from '../scale/two-processes.ts';
import { virtualTimeRows } from '../scale/virtual-time.ts';
import { costRow } from './simulator.ts';

const subjects: readonly ((context: BenchContext) => Promise<readonly BenchRow[]>)[] = [
  // These rows come first, because they notice early when the machine is too busy.
  pollingFleetRows,
  pollUnderLoadRows,
  knownDeviceRows,
  firstContactRows,
  heldSocketRows,
  auditLogRows,
  downloadRows,
  fleetKeyRows,
  twoProcessRows,
  tlsPollRows,
  largestFleetRows,
  virtualTimeRows,
];

/** Number of rounds; each starts a server and a fleet. */
const TLS_ROUNDS = 3;
const QUICK_TLS_ROUNDS = 1;
const tlsPolls = { title: 'poll over TLS, beside one without', goal: 0.35, options: ['--tls'] };

/** Measures all rows of the part. */
export async function scaleRows(context: BenchContext): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const rowsOf of subjects) rows.push(...(await rowsOf(context)));
  return rows;
}

async function tlsPollRows(context: BenchContext): Promise<BenchRow[]> {
  const rounds = context.quick ? QUICK_TLS_ROUNDS : TLS_ROUNDS;
  return [await costRow({ ...context, rounds }, tlsPolls)];
}
