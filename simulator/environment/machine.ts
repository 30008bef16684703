/**
 * Checks of this machine: how many connections it can hold open, and whether the server's ports are
 * free.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { type EnvironmentCheck, failedCheck, passedCheck, warningCheck } from './check.ts';

/** The size of the fleet to run. */
export interface PlannedFleet {
  readonly devices: number;
  /** True when each device opens a WebSocket. */
  readonly connect: boolean;
}

/** Number of files that a command opens itself: modules, event loop, standard streams, reports. */
const OWN_FILES = 64;
/** Number of connections that all devices share, to the API and to other hosts. */
const SHARED_CONNECTIONS = 2 * 256;
const COMMAND_LIMIT_MS = 2000;
const raise =
  'Raise it with `ulimit -n NUMBER` (as root for more than the hard limit), or run fewer devices.';

/**
 * Checks that the limit of open files allows all connections.
 * @param text the limit as the system reports it
 */
export function openFilesCheck(
  text: string | undefined,
  { devices, connect }: PlannedFleet,
): EnvironmentCheck {
  const name = 'open files';
  const limit = text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text);
  if (text === undefined || Number.isNaN(limit)) {
    return warningCheck(
      name,
      'This system does not report its limit of open files.',
      'Check it yourself.',
    );
  }
  const sharedConnections = Math.min(SHARED_CONNECTIONS, 2 * devices);
  const max = Math.max(0, limit - OWN_FILES - SHARED_CONNECTIONS);
  const neededFiles = OWN_FILES + sharedConnections + (connect ? devices : 0);
  const bound = Number.isFinite(limit) ? { connectedDevicesMax: max } : {};
  const reach = Number.isFinite(limit) ? `${max} devices with --connect` : 'any number of devices';
  const finding = `The limit of open files is ${text}: enough for ${reach}; without --connect, ${OWN_FILES + SHARED_CONNECTIONS} files are enough for any number.`;
  if (neededFiles > limit) {
    const lacking = `The limit of open files is ${text}, and ${devices} devices${connect ? ' with --connect' : ''} need ${neededFiles}: ${connect ? `only ${max} devices fit` : 'the run would fail at its first connections'}.`;
    return { ...failedCheck(name, lacking, raise), ...bound };
  }
  if (devices > max) return { ...warningCheck(name, finding, `For --connect: ${raise}`), ...bound };
  return { ...passedCheck(name, finding), ...bound };
}

/**
 * Returns the soft limit of open files of this process, as text. Node raises it to the hard limit.
 */
export async function openFilesLimit(): Promise<string | undefined> {
  try {
    const limits = await readFile('/proc/self/limits', 'utf8');
    return /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  } catch {
    return shellLimit();
  }
}

/** Returns the limit of open files from a shell, which inherits it, on systems without /proc. */
async function shellLimit(): Promise<string | undefined> {
  try {
    const limit = promisify(execFile)('sh', ['-c', 'ulimit -n'], { timeout: COMMAND_LIMIT_MS });
    return (await limit).stdout.trim();
  } catch {
    // A system without a shell, such as Windows, has no such limit.
    return undefined;
  }
}

/**
 * Checks that there are enough outgoing ports.
 * @param range the content of ip_local_port_range
 */
export function localPortsCheck(
  range: string | undefined,
  { devices, connect }: PlannedFleet,
): EnvironmentCheck {
  const name = 'outgoing ports';
  const [, first, last] = /^(\d+)\s+(\d+)\s*$/.exec(range ?? '') ?? [];
  if (first === undefined || last === undefined) {
    return passedCheck(name, 'This system does not report its range of outgoing ports.');
  }
  const ports = Math.max(0, Number(last) - Number(first) + 1);
  const max = Math.max(0, ports - SHARED_CONNECTIONS);
  const finding = `${ports} outgoing ports (${first} to ${last}) carry ${max} devices with --connect from one address to one server.`;
  const remedy =
    'Widen it with `sysctl net.ipv4.ip_local_port_range="1024 65535"`, or run from several addresses.';
  const isShort = devices > max;
  const row =
    isShort && connect ? failedCheck(name, finding, remedy) : warningCheck(name, finding, remedy);
  return { ...(isShort ? row : passedCheck(name, finding)), connectedDevicesMax: max };
}

/** Returns the range of outgoing ports; undefined when the system does not report it. */
export async function localPortRange(): Promise<string | undefined> {
  // The file exists on Linux only.
  return readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => undefined);
}

/** Checks that a server can listen on this host and port. */
export async function portCheck(host: string, port: number): Promise<EnvironmentCheck> {
  const name = `port ${port}`;
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
  const location = `${host}:${port}`;
  if (code === undefined) return passedCheck(name, `${location} is free.`);
  const remedy = 'choose another port with --port and --control-port, or 0 for any free one.';
  if (code === 'EADDRINUSE')
    return failedCheck(
      name,
      `${location} is in use.`,
      `Stop the program that listens there, or ${remedy}`,
    );
  if (code === 'EACCES')
    return failedCheck(
      name,
      `This user is not permitted to listen on ${location}.`,
      `Please ${remedy}`,
    );
  return failedCheck(name, `Nothing can listen on ${location} (${code}).`, 'Check --host.');
}
