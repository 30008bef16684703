/** Raw connections to any listener, plain or encrypted, and a count of this process's open ones. */
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

/** Opens a connection to the listener of a URL, whose certificate is not verified. */
export async function reach(url: string): Promise<Socket> {
  const { hostname: host, port, protocol } = new URL(url);
  const connectionOptions = { host, port: Number(port), allowHalfOpen: true };
  const isSecure = protocol === 'https:';
  const socket = isSecure
    ? connectSecurely({ ...connectionOptions, rejectUnauthorized: false })
    : connect(connectionOptions);
  await once(socket, isSecure ? 'secureConnect' : 'connect');
  return socket;
}

/** Returns the number of sockets that this process has open; it works only on Linux. */
export function openSockets(): number {
  return readdirSync('/proc/self/fd').filter(isSocket).length;
}

function isSocket(descriptor: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith('socket:');
  } catch {
    // This descriptor was closed after it was listed, like the one that listed the folder.
    return false;
  }
}
