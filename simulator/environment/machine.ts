/** Checks of this machine: how many connections it can hold open, and whether its ports are free. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { type Check, failed, passed, warned } from './check.ts';

/** The fleet that is to run. */
export interface PlannedFleet {
  readonly devices: number;
  /** True when each device holds a websocket. */
  readonly connect: boolean;
}

/** Files that a command itself has open: modules, event loop, standard streams, reports. */
const OWN_FILES = 64;
/** Connections that the simulator shares among all devices, to the API and to files elsewhere. */
const SHARED_CONNECTIONS = 2 * 256;
const COMMAND_LIMIT_MS = 2000;
const raise =
  'Raise it with `ulimit -n NUMBER` (as root for more than the hard limit), or run fewer devices.';

/**
 * Checks that the process may open a file for every connection. @param text the limit as reported
 * by the system
 */
export function openFilesCheck(
  text: string | undefined,
  { devices, connect }: PlannedFleet,
): Check {
  const name = 'open files';
  const limit = text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text);
  if (text === undefined || Number.isNaN(limit)) {
    return warned(
      name,
      'This system does not report its limit of open files.',
      'Check it yourself.',
    );
  }
  const shared = Math.min(SHARED_CONNECTIONS, 2 * devices);
  const max = Math.max(0, limit - OWN_FILES - SHARED_CONNECTIONS);
  const needed = OWN_FILES + shared + (connect ? devices : 0);
  const bound = Number.isFinite(limit) ? { connectedDevicesMax: max } : {};
  const reach = Number.isFinite(limit) ? `${max} devices with --connect` : 'any number of devices';
  const found = `The limit of open files is ${text}: enough for ${reach}; without --connect, ${OWN_FILES + SHARED_CONNECTIONS} files are enough for any number.`;
  if (needed > limit) {
    const lacking = `The limit of open files is ${text}, and ${devices} devices${connect ? ' with --connect' : ''} need ${needed}: ${connect ? `only ${max} devices fit` : 'the run would fail at its first connections'}.`;
    return { ...failed(name, lacking, raise), ...bound };
  }
  if (devices > max) return { ...warned(name, found, `For --connect: ${raise}`), ...bound };
  return { ...passed(name, found), ...bound };
}

/** The soft limit of this process, as text; Node has raised it to the hard one. */
export async function openFilesLimit(): Promise<string | undefined> {
  try {
    const limits = await readFile('/proc/self/limits', 'utf8');
    return /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  } catch {
    return shellLimit();
  }
}

/** Asks a shell, which inherits the limit, on systems without /proc. */
async function shellLimit(): Promise<string | undefined> {
  try {
    const asked = promisify(execFile)('sh', ['-c', 'ulimit -n'], { timeout: COMMAND_LIMIT_MS });
    return (await asked).stdout.trim();
  } catch {
    // No shell, as on Windows, and so no such limit.
    return undefined;
  }
}

/** Checks that there are enough outgoing ports. @param range the text of ip_local_port_range */
export function localPortsCheck(
  range: string | undefined,
  { devices, connect }: PlannedFleet,
): Check {
  const name = 'outgoing ports';
  const [, first, last] = /^(\d+)\s+(\d+)\s*$/.exec(range ?? '') ?? [];
  if (first === undefined || last === undefined) {
    return passed(name, 'This system does not report its range of outgoing ports.');
  }
  const ports = Math.max(0, Number(last) - Number(first) + 1);
  const max = Math.max(0, ports - SHARED_CONNECTIONS);
  const found = `${ports} outgoing ports (${first} to ${last}) carry ${max} devices with --connect from one address to one server.`;
  const wayOut =
    'Widen it with `sysctl net.ipv4.ip_local_port_range="1024 65535"`, or run from several addresses.';
  const isShort = devices > max;
  const row = isShort && connect ? failed(name, found, wayOut) : warned(name, found, wayOut);
  return { ...(isShort ? row : passed(name, found)), connectedDevicesMax: max };
}

/** Returns the range of outgoing ports, on systems that report it. */
export async function localPortRange(): Promise<string | undefined> {
  // Only Linux has the file.
  return readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => undefined);
}

/** Checks that a server can listen here. */
export async function portCheck(host: string, port: number): Promise<Check> {
  const name = `port ${port}`;
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
  const place = `${host}:${port}`;
  if (code === undefined) return passed(name, `${place} is free.`);
  const other = 'choose another port with --port and --control-port, or 0 for any free one.';
  if (code === 'EADDRINUSE')
    return failed(name, `${place} is in use.`, `Stop the program that listens there, or ${other}`);
  if (code === 'EACCES')
    return failed(name, `This user is not permitted to listen on ${place}.`, `Please ${other}`);
  return failed(name, `Nothing can listen on ${place} (${code}).`, 'Check --host.');
}
