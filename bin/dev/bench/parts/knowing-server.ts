/** Our server with its real store and devices that it knows. */
import type { ServerChild, Words } from '../children.ts';
import type { BenchContext } from '../rounds.ts';
import { type KnownDevice, knownDevices } from '../signed-in.ts';

const DEVICES = 10_000;
const QUICK_DEVICES = 1000;
const ROUND_CPU_SECONDS = 1.5;
const QUICK_ROUND_CPU_SECONDS = 0.25;

/** A server with the devices that it knows. */
export interface KnowingServer {
  readonly server: ServerChild;
  readonly devices: readonly KnownDevice[];
}

/** Starts one. @param options of `fleetbed serve` */
export async function knowingServer(
  { children, output, quick }: BenchContext,
  ...options: Words
): Promise<KnowingServer> {
  const server = await children.serve('--auto-accept', ...options);
  const count = quick ? QUICK_DEVICES : DEVICES;
  output.progress(`signing in ${count} devices`);
  return { server, devices: await knownDevices(server.ready, count) };
}

/** How much a server works in a round, in seconds of its CPU time. */
export function cpuSecondsOf({ quick }: BenchContext): number {
  return quick ? QUICK_ROUND_CPU_SECONDS : ROUND_CPU_SECONDS;
}

/** The base URL and the process ID of the server, for a `Load`. */
export function placeOf({ server }: KnowingServer) {
  return { baseUrl: server.ready.baseUrl, pid: server.pid };
}
