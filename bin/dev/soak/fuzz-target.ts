/** Starts the server that the fuzzer attacks, and reads its state during and after the run. */
import { get } from 'node:http';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import { authenticateDevices } from '../bench/authenticated-devices.ts';
import { Children, type ServerChild } from '../bench/children.ts';
import { unpinned } from '../bench/pinning.ts';
import type { AuthorizedCaller } from './hostile-requests.ts';

const DEVICES = 100;
/** A value that is slow to match against patterns, reported by every tenth device. */
const blob = `${'a'.repeat(4000)}!`;

/** A server with devices, in a separate process. */
export interface FuzzTarget {
  readonly child: ServerChild;
  readonly ready: ServerReady;
  readonly insider: AuthorizedCaller;
  /** The tokens of all devices. */
  readonly deviceTokens: readonly string[];
}

/** Stalls of the event loop, as reported by the server. */
interface Stalls {
  readonly count: number;
  readonly worstMs: number;
  readonly worstIn: string;
}

/** Starts the server and authenticates its devices. */
export async function startFuzzTarget(): Promise<FuzzTarget> {
  // The log level `warn` makes the server name every stall.
  const child = await new Children(unpinned).serve('--auto-accept', '--log-level', 'warn');
  try {
    return await targetWithInventories(child);
  } catch (error) {
    await child.end();
    throw error;
  }
}

async function targetWithInventories(child: ServerChild): Promise<FuzzTarget> {
  const { ready } = child;
  const tokens = await authenticateDevices(ready, DEVICES);
  for (let index = 0; index < tokens.length; index += 10) {
    const headers = {
      Authorization: `Bearer ${tokens[index]}`,
      'Content-Type': 'application/json',
    };
    const row = operations['patch-attributes'];
    const body = JSON.stringify([{ name: 'blob', value: blob }]);
    const response = await fetch(ready.baseUrl + pathOf(row), {
      method: row.method,
      headers,
      body,
    });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`the inventory was answered with ${response.status}`);
  }
  const [deviceToken = ''] = tokens;
  const overview = await readControl(ready, '/overview');
  const { devices } = JSON.parse(overview) as { devices: { id: string }[] };
  const insider = {
    headerPrefix: ready.headerPrefix,
    deviceToken,
    userToken: ready.adminToken,
    ids: devices.slice(0, 5).map(({ id }) => id),
  };
  return { child, ready, insider, deviceTokens: tokens };
}

/** Returns the stalls so far. */
export async function stallsOf(ready: ServerReady): Promise<Stalls> {
  return (JSON.parse(await readControl(ready, '/overview')) as { stalls: Stalls }).stalls;
}

/** Reads the journal in every format repeatedly until `isOver` returns true. */
export async function readJournal(ready: ServerReady, isOver: () => boolean): Promise<number> {
  let reads = 0;
  while (!isOver()) {
    for (const path of [
      '/journal?limit=500&whole=true',
      '/journal?limit=500&text=eyJ-',
      '/journal?after=0&device=nobody',
      '/journal.har',
      '/await?after=0&count=500&timeoutSeconds=0.1&whole=true',
    ]) {
      if (isOver()) return reads;
      await readControl(ready, path);
      reads += 1;
    }
  }
  return reads;
}

/** Reads a whole response over a new connection. */
function readControl(ready: ServerReady, path: string): Promise<string> {
  const headers = { Authorization: `Bearer ${ready.controlToken}` };
  return new Promise((resolve, reject) => {
    get(ready.controlUrl + path, { headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => {
        // An archive is read but not kept.
        if (path === '/overview') chunks.push(chunk);
      });
      response.on('end', () => resolve(Buffer.concat(chunks).toString()));
      response.on('error', reject);
    }).on('error', reject);
  });
}
