/** Measures the download of a large artifact against `node:http` streaming the same file. */
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import type { AuthenticatedDevice } from '../authenticated-devices.ts';
import { spentMs } from '../cpu-time.ts';
import { exchange, peerResponseLike } from '../exchange.ts';
import { type BenchContext, measureInRounds } from '../rounds.ts';
import { type BenchRow, rowOf } from '../row.ts';
import { pollRequest } from './exchanges.ts';
import type { DeployedRelease } from './release.ts';
import type { ServerWithDevices } from './server-with-devices.ts';

const GOAL = 0.8;
/** Consecutive downloads in each round. */
const DOWNLOADS = 4;
const BYTES_PER_MB = 1_000_000;

/** Measures consecutive downloads through the link of an update. */
export async function downloadRow(
  context: BenchContext,
  { server, devices }: ServerWithDevices,
  { file, bytes }: DeployedRelease,
): Promise<BenchRow> {
  const link = await offeredLink(server.ready.baseUrl, devices);
  const agent = new Agent({ keepAlive: true });
  const headers = await headersOf(agent, link);
  const bare = await context.children.script('subject', 'file-server', file, headers);
  const target = `http://127.0.0.1:${bare.firstLine}`;
  const measure = (url: string, pid: number) => async (): Promise<number> => {
    const beforeMs = spentMs(pid);
    for (let time = 0; time < DOWNLOADS; time++) await download(agent, url, bytes);
    return (DOWNLOADS * bytes) / BYTES_PER_MB / ((spentMs(pid) - beforeMs) / 1000);
  };
  const programs = [
    { name: 'fleetbed', measure: measure(link, server.pid) },
    { name: 'node:http', measure: measure(target, bare.pid) },
  ] as const;
  for (const { measure: warmUp } of programs) await warmUp();
  const title = `download of ${Math.round(bytes / BYTES_PER_MB)} MB`;
  const [subject, baseline] = await measureInRounds(context, {
    title,
    rounds: context.rounds,
    programs,
  });
  agent.destroy();
  await bare.end();
  return rowOf({ title, unit: 'MB/CPU s', better: 'higher', goal: GOAL, subject, baseline });
}

/** Returns the download link of the update that the first device is offered. */
export async function offeredLink(
  baseUrl: string,
  [device]: readonly AuthenticatedDevice[],
): Promise<string> {
  if (!device) throw new Error('no device is known');
  const { body } = await exchange(baseUrl, pollRequest(device));
  return String(JSON.parse(body).artifact.source.uri);
}

/** Returns the headers of a download from the reference server as JSON, for the baseline server. */
export async function headersOf(agent: Agent, link: string): Promise<string> {
  const response = await openDownload(agent, link);
  response.destroy();
  const { statusCode: status = 0, rawHeaders } = response;
  return JSON.stringify(peerResponseLike({ status, rawHeaders, body: '' }, {}).headers);
}

/** Downloads the whole file. @throws Error when its size differs from `bytes` */
export async function download(agent: Agent, url: string, bytes: number): Promise<void> {
  const response = await openDownload(agent, url);
  let receivedBytes = 0;
  response.on('data', (chunk: Buffer) => {
    receivedBytes += chunk.length;
  });
  await once(response, 'end');
  if (response.statusCode === 200 && receivedBytes === bytes) return;
  throw new Error(
    `the download was answered with ${response.statusCode} with ${receivedBytes} bytes`,
  );
}

function openDownload(agent: Agent, url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, resolve).on('error', reject);
  });
}
