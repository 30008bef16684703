/** A client that sends all of a request before it reads, as the one in C++ of this family does. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { systemClock } from '../../fixtures/clock.ts';
import { readReply } from './raw-http.ts';

/** How it sends. */
export interface Pace {
  readonly pieceBytes: number;
  /** Between two pieces, in real time; none by default. */
  readonly pauseMs?: number;
}

/** Returns the status of the answer, `lost` when the connection breaks before all of it is read. */
export async function writeFirst(
  url: string,
  request: Buffer,
  { pieceBytes, pauseMs = 0 }: Pace,
): Promise<number | 'lost'> {
  const socket = openUnread(url);
  let isBroken = false;
  socket.on('error', () => {
    isBroken = true;
  });
  for (let at = 0; at < request.length && !isBroken; at += pieceBytes) {
    const piece = request.subarray(at, at + pieceBytes);
    await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
    // The server, in this process, has its turn between two pieces.
    if (pauseMs > 0) await systemClock.sleep(pauseMs);
    else await new Promise((resolve) => setImmediate(resolve));
  }
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.resume();
  if (!isBroken) await once(socket, 'close').catch(() => undefined);
  socket.destroy();
  return isBroken ? 'lost' : readReply(Buffer.concat(chunks).toString()).status;
}

/** A connection of which nothing is read, not even by Node, unless it is encrypted. */
function openUnread(url: string): Socket {
  const { hostname: host, port, protocol } = new URL(url);
  const way = { host, port: Number(port) };
  if (protocol === 'https:') return connectSecurely({ ...way, rejectUnauthorized: false });
  return connect(way).pause();
}

/** Returns how many of the tries, so many at a time, ended with each status. */
export async function writeFirstOften(
  tries: number,
  once: () => Promise<number | 'lost'>,
  atOnce = 50,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  let left = tries;
  const lanes = Array.from({ length: Math.min(tries, atOnce) }, async () => {
    while (left > 0) {
      left -= 1;
      const status = await once();
      counts[status] = (counts[status] ?? 0) + 1;
    }
  });
  await Promise.all(lanes);
  return counts;
}
