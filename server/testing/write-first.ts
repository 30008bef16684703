/** A client that sends a whole request before it reads, like the field's client in C++. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { systemClock } from '../../fixtures/base/clock.ts';
import { readResponse } from './raw-http.ts';

/** The size and timing of the pieces that a client sends. */
export interface WritePace {
  readonly chunkBytes: number;
  /** The pause between two pieces in real time; there is none by default. */
  readonly pauseMs?: number;
}

/**
 * Returns the status of the response, or `lost` if the connection breaks before all of it is read.
 */
export async function writeFirst(
  url: string,
  request: Buffer,
  { chunkBytes, pauseMs = 0 }: WritePace,
): Promise<number | 'lost'> {
  const socket = openUnread(url);
  let isBroken = false;
  socket.on('error', () => {
    isBroken = true;
  });
  for (let at = 0; at < request.length && !isBroken; at += chunkBytes) {
    const piece = request.subarray(at, at + chunkBytes);
    await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
    // The server runs in this process and gets its turn between two pieces.
    if (pauseMs > 0) await systemClock.sleep(pauseMs);
    else await new Promise((resolve) => setImmediate(resolve));
  }
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.resume();
  if (!isBroken) await once(socket, 'close').catch(() => undefined);
  socket.destroy();
  return isBroken ? 'lost' : readResponse(Buffer.concat(chunks).toString()).status;
}

/** Opens a connection that nobody reads, not even Node, unless it is encrypted. */
function openUnread(url: string): Socket {
  const { hostname: host, port, protocol } = new URL(url);
  const connectionOptions = { host, port: Number(port) };
  if (protocol === 'https:')
    return connectSecurely({ ...connectionOptions, rejectUnauthorized: false });
  return connect(connectionOptions).pause();
}

/** Runs the tries with limited concurrency and counts how many ended with each status. */
export async function writeFirstOften(
  tries: number,
  once: () => Promise<number | 'lost'>,
  atOnce = 50,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  let triesLeft = tries;
  const lanes = Array.from({ length: Math.min(tries, atOnce) }, async () => {
    while (triesLeft > 0) {
      triesLeft -= 1;
      const status = await once();
      counts[status] = (counts[status] ?? 0) + 1;
    }
  });
  await Promise.all(lanes);
  return counts;
}
