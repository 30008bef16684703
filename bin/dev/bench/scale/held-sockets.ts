/** Measures the server's memory per open WebSocket, in excess of the memory that `ws` needs. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../../fixtures/base/clock.ts';
import { limits } from '../../../../fixtures/contract/limits.ts';
import { pathOf } from '../../../../fixtures/contract/operation.ts';
import { operations } from '../../../../fixtures/contract/operations.ts';
import { openFilesLimit } from '../../../../server/http/open-files.ts';
import { authenticateDevices } from '../authenticated-devices.ts';
import type { ProcessMemory } from '../memory.ts';
import type { BenchContext } from '../rounds.ts';
import { type BenchRow, rowOf } from '../row.ts';
import {
  kilobytesEach,
  type ObservedProcess,
  observedServer,
  observeProcess,
  once,
} from './observed.ts';

const SOCKETS = 15_000;
const FEWER_SOCKETS = 10_000;
const QUICK_SOCKETS = 1500;
/** Number of open files that are reserved for everything but sockets. */
const RESERVE = 2000;
/** Limit on the memory per socket in excess of bare `ws`. */
const MORE_MAX_KB = 10;
/** Time after which each socket has answered a ping. */
const HELD_MS = (limits.websocketPingSeconds + 5) * 1000;
const QUICK_HELD_MS = 2000;

/** A server, and the WebSockets to be held open on it. */
interface SocketsToHold {
  readonly server: ObservedProcess;
  readonly url: string;
  /** Path of the file of device tokens, one per line. */
  readonly file: string;
  readonly count: number;
}

/** Measures memory per held socket in KB, with the same client on fleetbed and on bare ws. */
export async function heldSocketRows(context: BenchContext): Promise<BenchRow[]> {
  const { children, output, quick } = context;
  const possible = openFilesLimit() >= SOCKETS + RESERVE ? SOCKETS : FEWER_SOCKETS;
  const count = quick ? QUICK_SOCKETS : possible;
  const folder = await mkdtemp(join(tmpdir(), 'fleetbed-bench-'));
  const file = join(folder, 'tokens');
  try {
    const ours = await observedServer(children, { autoAccept: true });
    output.progress(`authenticating ${count} devices that hold a socket`);
    await writeFile(file, (await authenticateDevices(ours.ready, count)).join('\n'));
    const url = `${ours.ready.baseUrl}${pathOf(operations.connect)}`;
    const inOurs = await heldKilobytes(context, { server: ours, url, file, count });
    const child = await children.script('subject', 'socket-server');
    const bare = { server: observeProcess(child), url: String(JSON.parse(child.firstLine).url) };
    const inBare = await heldKilobytes(context, { ...bare, file, count });
    return [
      rowOf({
        title: `memory of a socket in the server, one of ${count.toLocaleString('en-US')}`,
        unit: 'KB',
        better: 'lower',
        goal: 1,
        subject: once('fleetbed', inOurs.used),
        baseline: once(`ws and ${MORE_MAX_KB} KB`, inBare.used + MORE_MAX_KB),
        note: `${quick ? '' : 'each has answered a ping, '}measured once; in use, without what the kernel holds; ws alone takes ${inBare.used.toFixed(1)} KB; resident ${inOurs.resident.toFixed(1)} and ${inBare.resident.toFixed(1)} KB`,
      }),
    ];
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Measures one server and stops it. @throws Error when fewer sockets are open than requested */
async function heldKilobytes(
  { children, output, quick }: BenchContext,
  { server, url, file, count }: SocketsToHold,
): Promise<ProcessMemory> {
  output.progress(`holding ${count} sockets`);
  await server.begin();
  const holder = await children.script('generator', 'socket-holder', url, file);
  await systemClock.sleep(quick ? QUICK_HELD_MS : HELD_MS);
  const observation = await server.endObservation();
  await holder.end();
  await server.end();
  if (observation.connections < count)
    throw new Error(`only ${observation.connections} sockets are held`);
  return kilobytesEach(observation, count);
}
