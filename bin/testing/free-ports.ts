/** Finds free ports for programs that cannot listen on port 0. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { systemRandom } from '../../fixtures/base/random.ts';

/**
 * Port range below 32,768, where systems start to assign ports to listeners on port 0 and to
 * connections.
 */
const [MIN, MAX] = [20_000, 32_000];
const ATTEMPTS_MAX = 100;

/** Returns a free port outside of the range from which the system assigns ports by itself. */
export async function freePort(): Promise<number> {
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts += 1) {
    const port = systemRandom.integer(MIN, MAX);
    if (await isFree(port)) return port;
  }
  throw new Error(`${ATTEMPTS_MAX} ports from ${MIN} to ${MAX} are in use`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
