/** Starts the reference server with its real store and with known devices. */
import { type AuthenticatedDevice, knownDevices } from '../authenticated-devices.ts';
import type { CommandArgs, ServerChild } from '../children.ts';
import type { BenchContext } from '../rounds.ts';

const DEVICES = 10_000;
const QUICK_DEVICES = 1000;
const ROUND_CPU_SECONDS = 1.5;
const QUICK_ROUND_CPU_SECONDS = 0.25;

/** A server with the devices that it knows. */
export interface ServerWithDevices {
  readonly server: ServerChild;
  readonly devices: readonly AuthenticatedDevice[];
}

/** Starts a server and authenticates its devices. @param options options of `fleetbed serve` */
export async function serverWithDevices(
  { children, output, quick }: BenchContext,
  ...options: CommandArgs
): Promise<ServerWithDevices> {
  const server = await children.serve('--auto-accept', ...options);
  const count = quick ? QUICK_DEVICES : DEVICES;
  output.progress(`authenticating ${count} devices`);
  return { server, devices: await knownDevices(server.ready, count) };
}

/** Returns the CPU time of the server in one round, in seconds. */
export function cpuSecondsOf({ quick }: BenchContext): number {
  return quick ? QUICK_ROUND_CPU_SECONDS : ROUND_CPU_SECONDS;
}

/** Returns the base URL and the process ID of the server, for a `BenchLoad`. */
export function targetOf({ server }: ServerWithDevices) {
  return { baseUrl: server.ready.baseUrl, pid: server.pid };
}
