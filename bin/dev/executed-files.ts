/**
 * `npm run executed-files`: sends a signed authentication request to a running, warmed-up server,
 * and prints the source files whose functions handled it, in the order of execution. These are the
 * files to read for the life of a request.
 */
import { once } from 'node:events';
import type { Debugger } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { operations } from '../../fixtures/contract/operations.ts';
import { startServer } from '../../server/server.ts';
import { newDevice } from './bench/authenticated-devices.ts';

/** Requests before the measured one, which fill the caches and load the lazy modules. */
const WARM_UP_REQUESTS = 20;

/** `build/`, which has one file for each source, under the same path. */
const buildRoot = new URL('../../', import.meta.url);

/** The files reached so far. The conditions of the inspector's breakpoints add to this set. */
const reachedFiles = new Set<string>();
Object.assign(globalThis, { reachedFiles });

const server = await startServer({
  port: 0,
  controlPort: 0,
  logLevel: 'silent',
  autoAccept: true,
});
const { hostname, port } = new URL(server.baseUrl);
const socket = connect(Number(port), hostname);
await once(socket, 'connect');
const request = authRequest();
await responseTo(request);
for (let sentCount = 0; sentCount < WARM_UP_REQUESTS; sentCount += 1) await expectToken();

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
await session.post('Profiler.takePreciseCoverage');
await expectToken();
const { result } = await session.post('Profiler.takePreciseCoverage');
await session.post('Profiler.stopPreciseCoverage');
await session.post('Debugger.enable');
for (const { scriptId, url, functions } of result) {
  const file = sourceOf(url);
  if (file === undefined) continue;
  const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
  for (const { functionName, ranges } of functions) {
    const [whole] = ranges;
    // The unnamed function of a whole file runs when the file is loaded.
    const isFile = functionName === '' && whole?.startOffset === 0;
    if (!whole || whole.count === 0 || isFile) continue;
    await noteWhenReached(file, { scriptId, ...locationOf(scriptSource, whole.startOffset) });
  }
}
await expectToken();
session.disconnect();
socket.destroy();
await server.close();
for (const [at, file] of [...reachedFiles].entries()) process.stdout.write(`${at + 1}. ${file}\n`);

/** Returns the source of a server file; undefined for this script, Node and packages. */
function sourceOf(url: string): string | undefined {
  if (!url.startsWith(buildRoot.href) || url === import.meta.url) return undefined;
  const file = fileURLToPath(url).slice(fileURLToPath(buildRoot).length);
  return /^(server|fixtures)\//.test(file) ? file.replace(/\.js$/, '.ts') : undefined;
}

/** Returns the location for the inspector, which counts lines and columns from 0. */
function locationOf(text: string, offset: number) {
  const textBefore = text.slice(0, offset);
  const lineNumber = textBefore.split('\n').length - 1;
  return { lineNumber, columnNumber: offset - (textBefore.lastIndexOf('\n') + 1) };
}

/**
 * Sets a breakpoint at the function whose condition adds the file. The condition is false, so
 * execution does not stop.
 */
async function noteWhenReached(file: string, start: Debugger.Location): Promise<void> {
  const { locations } = await session.post('Debugger.getPossibleBreakpoints', {
    start,
    restrictToFunction: true,
  });
  const [location] = locations;
  if (!location)
    throw new Error(`${file}: no place to note a function in line ${start.lineNumber}`);
  const condition = `reachedFiles.add(${JSON.stringify(file)}), false`;
  await session.post('Debugger.setBreakpoint', { location, condition });
}

function authRequest(): string {
  const { headers, body } = newDevice(server.headerPrefix, 0).authRequest;
  const { method, path } = operations['post-auth-request'];
  const fields = Object.entries({ Host: hostname, 'Content-Length': body.length, ...headers });
  const lines = fields.map(([name, value]) => `${name}: ${value}`);
  return `${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body}`;
}

/** Sends a request on the open connection, and returns the response, which fits into one chunk. */
async function responseTo(text: string, connection: Socket = socket): Promise<string> {
  connection.write(text);
  const [chunk] = await once(connection, 'data');
  return String(chunk);
}

async function expectToken(): Promise<void> {
  const response = await responseTo(request);
  if (!response.startsWith('HTTP/1.1 200 ')) throw new Error(response);
}
