/**
 * Opens hostile connections: refused upgrades that stay open, more WebSockets than the server can
 * hold, and bodies that stall before their last byte. Each part has its own server.
 */
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { authenticateDevices } from '../bench/authenticated-devices.ts';
import { type ServerChildProcess, startClient, startLimitedServer } from './child-processes.ts';
import type { WebsocketOrder, WebsocketOutcomes } from './held-websockets.ts';

/** Number of connections in each part. */
interface ConnectionCounts {
  readonly refusedUpgrades: number;
  /** Limit of the server that the WebSockets connect to. */
  readonly openFiles: number;
  readonly websockets: number;
  readonly stalledBodies: number;
}

export const wholeConnections: ConnectionCounts = {
  refusedUpgrades: 20_000,
  openFiles: 20_000,
  websockets: 21_000,
  stalledBodies: 1500,
};

/** A hundredth of the connections, for a run of a minute. */
export const shortConnections: ConnectionCounts = {
  refusedUpgrades: 200,
  openFiles: 400,
  websockets: 320,
  stalledBodies: 200,
};

const CONCURRENT = 64;
const CLIENTS = 2;
const BODY_BYTES = 1_048_576;
/**
 * The server's memory budget, plus the memory for reading and refusing this many bodies at once.
 */
const GROWTH_MAX_MIB = 128 + 192;
/** Connections that a client keeps for its next request. */
const SLACK_FILES = 8;
const WAIT_MAX_MS = 30_000;
const PROBE_MS = 50;

/** Runs all parts and returns the problems found. @param say receives the figures */
export async function soakConnections(
  say: (line: string) => void,
  counts: ConnectionCounts,
): Promise<string[]> {
  const { refusedUpgrades, openFiles, websockets, stalledBodies } = counts;
  return [
    ...(await withServer(openFiles, (server) => refuseUpgrades(server, refusedUpgrades, say))),
    ...(await withServer(openFiles, (server) => openTooMany(server, websockets, say))),
    ...(await withServer(openFiles, (server) => stallBodies(server, stalledBodies, say))),
  ];
}

/** Runs a part on a new server. SIGTERM must end the server cleanly, even with open connections. */
async function withServer(
  openFiles: number,
  part: (server: ServerChildProcess) => Promise<string[]>,
): Promise<string[]> {
  const server = await startLimitedServer(openFiles);
  const problems: string[] = [];
  try {
    problems.push(...(await part(server)));
  } finally {
    const code = await server.end();
    if (code !== 0) problems.push(`SIGTERM ended the server with exit code ${code}`);
  }
  return problems;
}

async function refuseUpgrades(
  server: ServerChildProcess,
  count: number,
  say: (line: string) => void,
): Promise<string[]> {
  const { baseUrl, controlUrl } = server.ready;
  const filesBefore = server.openFiles();
  const startMs = systemClock.monotonicMs();
  let leftCount = count;
  const worker = async (): Promise<void> => {
    while (leftCount > 0) {
      leftCount -= 1;
      const url = leftCount % 4 === 0 ? controlUrl : baseUrl;
      await sendRefusedUpgrade(url, leftCount % 2 === 0 ? 'CONNECT' : 'GET');
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, worker));
  const tookMs = Math.round(systemClock.monotonicMs() - startMs);
  const filesAfter = await waitForCount(() => server.openFiles(), filesBefore + SLACK_FILES);
  say(
    `${count} refused upgrades in ${tookMs} ms: open files ${filesBefore} before, ${filesAfter} after`,
  );
  const problems =
    filesAfter > filesBefore + SLACK_FILES
      ? [`${filesAfter - filesBefore} files of refused upgrades stay open`]
      : [];
  return [...problems, ...(await healthProblems(server))];
}

/**
 * Sends a refused upgrade, and resolves when the server answers or closes the connection. After a
 * response it sends one more byte, then closes.
 */
async function sendRefusedUpgrade(url: string, method: string): Promise<void> {
  const socket = openSocket(url);
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket';
  socket.write(`${method} /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\n${upgrade}\r\n\r\n`);
  const close = once(socket, 'close');
  socket.once('data', () => socket.end('x'));
  await close;
}

async function openTooMany(
  server: ServerChildProcess,
  count: number,
  say: (line: string) => void,
): Promise<string[]> {
  const { ready } = server;
  const tokens = await authenticateDevices(ready, count);
  const filesBefore = server.openFiles();
  const control = watchControl(ready.controlUrl);
  const clients = Array.from({ length: CLIENTS }, () => startClient('held-websockets.js'));
  const port = Number(new URL(ready.baseUrl).port);
  const messages = await Promise.all(
    clients.map(async (client, index) => {
      const own = tokens.filter((_, position) => position % CLIENTS === index);
      const response = once(client, 'message');
      client.send({ port, tokens: own } satisfies WebsocketOrder);
      const [message] = (await response) as [WebsocketOutcomes];
      return message;
    }),
  );
  const peak = server.openFiles();
  const probes = await control.end();
  const ends = clients.map((client) => once(client, 'exit'));
  for (const client of clients) client.kill();
  await Promise.all(ends);
  const filesAfter = await waitForCount(() => server.openFiles(), filesBefore + SLACK_FILES);
  const sum = (name: 'granted' | 'refused') => messages.reduce((all, one) => all + one[name], 0);
  const otherProblems = messages.flatMap(({ problems }) => problems);
  say(
    `${count} websockets: ${sum('granted')} granted, ${sum('refused')} refused with 503, ` +
      `${otherProblems.length} otherwise; open files ${filesBefore} before, ${peak} then, ${filesAfter} after`,
  );
  say(
    `the control listener answered ${probes.responses} times, failed ${probes.problems.length} times; slowest ${probes.slowestMs} ms`,
  );
  const problems = [...new Set([...otherProblems, ...probes.problems])];
  if (sum('granted') === 0 || sum('refused') === 0) problems.push('no WebSocket, or no refusal');
  if (filesAfter > filesBefore + SLACK_FILES)
    problems.push(`${filesAfter - filesBefore} files of WebSockets stay open`);
  return [...problems, ...(await healthProblems(server))];
}

async function stallBodies(
  server: ServerChildProcess,
  count: number,
  say: (line: string) => void,
): Promise<string[]> {
  const { baseUrl } = server.ready;
  const mibBefore = server.residentMib();
  const filesBefore = server.openFiles();
  const body = Buffer.alloc(BODY_BYTES - 1, ' ');
  const statuses = new Map<string, number>();
  const sockets = Array.from({ length: count }, () => openSocket(baseUrl));
  await Promise.all(
    sockets.map(async (socket) => {
      const { path } = operations['post-auth-request'];
      socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`);
      socket.once('data', (response: Buffer) => {
        const status = response.toString('latin1', 9, 12);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        socket.destroy();
      });
      await new Promise<void>((resolve) => {
        socket.once('close', () => resolve());
        socket.write(body, () => resolve());
      });
    }),
  );
  // Once the server has messages another client, it has also received all earlier data.
  const problems = await healthProblems(server);
  const growth = server.residentMib() - mibBefore;
  const refusedCount = statuses.get('503') ?? 0;
  say(
    `${count} bodies of 1 MiB stalled: ${refusedCount} refused with 503, memory grew by ${growth} MiB`,
  );
  for (const socket of sockets) socket.destroy();
  const filesAfter = await waitForCount(() => server.openFiles(), filesBefore + SLACK_FILES);
  if (statuses.size > 1)
    problems.push(`responses other than 503: ${[...statuses.keys()].join(', ')}`);
  if (refusedCount === 0) problems.push('no stalled body was refused');
  if (growth > GROWTH_MAX_MIB) problems.push(`stalled bodies took ${growth} MiB`);
  if (filesAfter > filesBefore + SLACK_FILES)
    problems.push(`${filesAfter - filesBefore} files stay open`);
  return problems;
}

/** Checks periodically, on a new connection each time, that the control listener responds. */
function watchControl(controlUrl: string) {
  const over = new AbortController();
  const probeFigures = { responses: 0, slowestMs: 0, problems: [] as string[] };
  const watching = (async () => {
    while (!over.signal.aborted) {
      const startMs = systemClock.monotonicMs();
      const status = await statusAt(`${controlUrl}/ready`);
      const tookMs = Math.round(systemClock.monotonicMs() - startMs);
      probeFigures.slowestMs = Math.max(probeFigures.slowestMs, tookMs);
      if (status === 200) probeFigures.responses += 1;
      else probeFigures.problems.push(`the control listener answered with ${status}`);
      await systemClock.sleep(PROBE_MS, over.signal);
    }
    return probeFigures;
  })();
  return {
    end: () => {
      over.abort();
      return watching;
    },
  };
}

/** Checks that the server still answers: users, new devices, and the control listener. */
async function healthProblems({ ready }: ServerChildProcess): Promise<string[]> {
  const { baseUrl, adminToken, controlUrl } = ready;
  const { path } = managementOperations['count-devices'];
  const authorization = { Authorization: `Bearer ${adminToken}` };
  const statuses = {
    user: await statusAt(baseUrl + path, authorization),
    unauthorized: await statusAt(baseUrl + operations['get-configuration'].path),
    control: await statusAt(`${controlUrl}/ready`),
  };
  const expected = { user: 200, unauthorized: 401, control: 200 };
  const actual = JSON.stringify(statuses);
  return actual === JSON.stringify(expected) ? [] : [`responses afterwards: ${actual}`];
}

/** Resolves with the status, or with the code of the error. */
function statusAt(url: string, headers: Record<string, string> = {}): Promise<number | string> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, headers, timeout: WAIT_MAX_MS }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('timeout', () => request.destroy(new Error('no response in time')));
    request.on('error', (error) => resolve(error.message));
  });
}

/** Returns the number once it has come down to `wanted`, or after a timeout. */
async function waitForCount(count: () => number, wanted: number): Promise<number> {
  const endMs = systemClock.monotonicMs() + WAIT_MAX_MS;
  while (count() > wanted && systemClock.monotonicMs() < endMs) await systemClock.sleep(PROBE_MS);
  return count();
}

function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  // The parts of this soak count closed connections, including failed ones.
  socket.on('error', () => undefined);
  return socket;
}
