/** Free ports for a program that cannot choose one itself. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { systemRandom } from '../../fixtures/random.ts';

/** Systems give listeners on port 0, and connections, ports from 32,768 on. */
const [MIN, MAX] = [20_000, 32_000];
const ATTEMPTS_MAX = 100;

/** Finds a free port that no listener on port 0 and no connection is given before it is used. */
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
