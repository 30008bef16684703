/**
 * Measures downloads of artifacts that are larger than memory should hold, and by many devices at
 * once.
 */
import { Agent } from 'node:http';
import { knownDevices } from '../authenticated-devices.ts';
import { spentMs } from '../cpu-time.ts';
import { download, headersOf, offeredLink } from '../parts/download.ts';
import { type DeployedRelease, deployRelease } from '../parts/release.ts';
import { type BenchContext, measureInRounds } from '../rounds.ts';
import { type BenchRow, limitRow, rowOf } from '../row.ts';
import { grownMegabytes, type ObservedReference, observedServer, once } from './observed.ts';

const LARGE_MB = 1000;
const QUICK_LARGE_MB = 100;
const GROWTH_MAX_MB = 64;
const SHARED_MB = 20;
const QUICK_SHARED_MB = 2;
const AT_ONCE = 200;
const AT_ONCE_GOAL = 0.8;
const BYTES_PER_MB = 1_000_000;

/** A server with a deployed release, and the download link that a device received. */
interface OfferedDownload {
  readonly server: ObservedReference;
  readonly release: DeployedRelease;
  readonly link: string;
}

/** Measures both kinds of download. */
export async function downloadRows(context: BenchContext): Promise<BenchRow[]> {
  const { quick } = context;
  return [
    await withOffer(context, quick ? QUICK_LARGE_MB : LARGE_MB, growthRow),
    await withOffer(context, quick ? QUICK_SHARED_MB : SHARED_MB, (offered) =>
      concurrentRow(context, offered),
    ),
  ];
}

async function withOffer(
  context: BenchContext,
  megabytes: number,
  run: (offered: OfferedDownload) => Promise<BenchRow>,
): Promise<BenchRow> {
  const server = await observedServer(context.children, { autoAccept: true });
  const devices = await knownDevices(server.ready, 1);
  const release = await deployRelease(context, server.ready, megabytes);
  try {
    return await run({ server, release, link: await offeredLink(server.ready.baseUrl, devices) });
  } finally {
    await release.remove();
    await server.end();
  }
}

async function growthRow({ server, release: { bytes }, link }: OfferedDownload): Promise<BenchRow> {
  const agent = new Agent({ keepAlive: true });
  await server.begin();
  await download(agent, link, bytes);
  const figures = await server.endObservation();
  agent.destroy();
  return limitRow({
    title: `growth of memory, download of ${Math.round(bytes / BYTES_PER_MB)} MB`,
    unit: 'MB',
    subject: once('fleetbed', grownMegabytes(figures)),
    limit: GROWTH_MAX_MB,
    note: `peak resident memory during the first download, measured once; longest stall ${Math.round(figures.longestStallMs)} ms`,
  });
}

async function concurrentRow(
  context: BenchContext,
  { server, release, link }: OfferedDownload,
): Promise<BenchRow> {
  const { bytes, file } = release;
  const agent = new Agent({ keepAlive: true });
  const bare = await context.children.script(
    'subject',
    'file-server',
    file,
    await headersOf(agent, link),
  );
  const all = async (url: string): Promise<void> => {
    await Promise.all(Array.from({ length: AT_ONCE }, () => download(agent, url, bytes)));
  };
  const measure = (url: string, pid: number) => async (): Promise<number> => {
    const beforeMs = spentMs(pid);
    await all(url);
    return (AT_ONCE * bytes) / BYTES_PER_MB / ((spentMs(pid) - beforeMs) / 1000);
  };
  const programs = [
    { name: 'fleetbed', measure: measure(link, server.pid) },
    { name: 'node:http', measure: measure(`http://127.0.0.1:${bare.firstLine}`, bare.pid) },
  ] as const;
  for (const { measure: warmUp } of programs) await warmUp();
  const title = `${AT_ONCE} downloads of ${Math.round(bytes / BYTES_PER_MB)} MB at once`;
  const [subject, baseline] = await measureInRounds(context, {
    title,
    rounds: context.rounds,
    programs,
  });
  await server.begin();
  await all(link);
  const figures = await server.endObservation();
  agent.destroy();
  await bare.end();
  const note = `a connection each; resident memory of the server grew by ${Math.round(grownMegabytes(figures))} MB`;
  const unit = 'MB/CPU s';
  return rowOf({
    title,
    unit,
    better: 'higher',
    goal: AT_ONCE_GOAL,
    subject,
    baseline,
    note,
  });
}
