/**
 * `npm run executed-files`: sends one signed auth request to a running server that has answered
 * others before, and prints the source files in which it ran a function, in the order in which it
 * reached them. They are the files to read for the life of a request.
 */
import { once } from 'node:events';
import type { Debugger } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { operations } from '../../fixtures/contract/operations.ts';
import { startServer } from '../../server/server.ts';
import { newDevice } from './bench/signed-in.ts';

/** Until every cache is filled and everything that is loaded late is there. */
const WARM_UP_REQUESTS = 20;

/** `build/` has a file for each source, under the same path. */
const buildRoot = new URL('../../', import.meta.url);

/** Where the inspector's conditions note what was reached; nothing else runs in them. */
const reached = new Set<string>();
Object.assign(globalThis, { reachedFiles: reached });

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
await answerTo(request);
for (let sent = 0; sent < WARM_UP_REQUESTS; sent += 1) await expectToken();

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
    // The function without a name that is the whole file runs when it is loaded.
    const isFile = functionName === '' && whole?.startOffset === 0;
    if (!whole || whole.count === 0 || isFile) continue;
    await noteWhenReached(file, { scriptId, ...placeOf(scriptSource, whole.startOffset) });
  }
}
await expectToken();
session.disconnect();
socket.destroy();
await server.close();
for (const [at, file] of [...reached].entries()) process.stdout.write(`${at + 1}. ${file}\n`);

/** The source of a file of the server; undefined for this script, Node and the packages. */
function sourceOf(url: string): string | undefined {
  if (!url.startsWith(buildRoot.href) || url === import.meta.url) return undefined;
  const file = fileURLToPath(url).slice(fileURLToPath(buildRoot).length);
  return /^(server|fixtures)\//.test(file) ? file.replace(/\.js$/, '.ts') : undefined;
}

/** The inspector counts lines and columns from 0. */
function placeOf(text: string, offset: number) {
  const before = text.slice(0, offset);
  const lineNumber = before.split('\n').length - 1;
  return { lineNumber, columnNumber: offset - (before.lastIndexOf('\n') + 1) };
}

/** Notes the file where the function begins; a condition that is false does not stop there. */
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

/** Sends it on the one connection; returns the whole answer, which is short. */
async function answerTo(text: string, on: Socket = socket): Promise<string> {
  on.write(text);
  const [piece] = await once(on, 'data');
  return String(piece);
}

async function expectToken(): Promise<void> {
  const answer = await answerTo(request);
  if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(answer);
}
