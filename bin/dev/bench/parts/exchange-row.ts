/**
 * Measures one kind of exchange on the reference server, on bare `node:http` that sends the same
 * bytes, and on frameworks.
 */
import type { Request } from 'autocannon';
import type { PeerKind } from '../children/peer.ts';
import type { Child } from '../children.ts';
import { exchange, peerResponseLike, requireSameBytes } from '../exchange.ts';
import { type BenchLoad, CONNECTIONS, type LoadFigures, load } from '../load.ts';
import { type BenchContext, type MeasuredProgram, measureInRounds } from '../rounds.ts';
import { type BenchRow, median, rowOf } from '../row.ts';
import type { BenchExchange } from './exchanges.ts';
import { cpuSecondsOf, type ServerWithDevices, targetOf } from './server-with-devices.ts';

/**
 * The unit of every figure. CPU time of the server does not depend on the speed of the load
 * generator.
 */
export const unit = 'responses/CPU s';

/** Number of warm-up rounds of a quick run; its rounds are short, so it needs more of them. */
const QUICK_WARM_UP_ROUNDS = 3;

/** A server under load, with the figures of its rounds. */
interface LoadedServer extends MeasuredProgram {
  /** Figures of each measured round. */
  readonly loads: LoadFigures[];
}

interface PeerServer extends Child {
  readonly kind: PeerKind;
  readonly baseUrl: string;
}

/** Measures the row of an exchange; a quick run leaves the frameworks out. */
export async function exchangeRow(
  context: BenchContext,
  server: ServerWithDevices,
  { title, goal, status, requests: requestsOf }: BenchExchange,
): Promise<BenchRow> {
  const requests = server.devices.map(requestsOf);
  const [first] = requests.flat();
  if (!first) throw new Error('no device is known');
  const peers = await startPeers(context, targetOf(server).baseUrl, first);
  const commonFields = { requests, status, cpuSeconds: cpuSecondsOf(context) };
  const programs = [
    loadServer('fleetbed', { ...targetOf(server), ...commonFields }),
    ...peers.map(({ kind, baseUrl, pid }) => loadServer(kind, { baseUrl, pid, ...commonFields })),
  ];
  await warmUp(context, programs);
  const figures = await measureInRounds(context, { title, rounds: context.rounds, programs });
  await Promise.all(peers.map((peer) => peer.end()));
  const [subject, baseline, ...otherFigures] = figures;
  if (!subject || !baseline) throw new Error('nothing was measured');
  const note = noteOf(programs);
  return rowOf({
    title,
    unit,
    better: 'higher',
    goal,
    subject,
    baseline,
    others: otherFigures,
    note,
  });
}

/** Returns a program that is measured under this load. */
export function loadServer(name: string, benchLoad: BenchLoad): LoadedServer {
  const loads: LoadFigures[] = [];
  const measure = async (): Promise<number> => {
    const figures = await load(benchLoad);
    loads.push(figures);
    return figures.perServerCpuSecond;
  };
  return { name, measure, loads };
}

/** Runs rounds that are not counted, until V8 has compiled the hot code. */
export async function warmUp(
  { quick }: BenchContext,
  programs: readonly LoadedServer[],
): Promise<void> {
  const rounds = quick ? QUICK_WARM_UP_ROUNDS : 1;
  for (const { measure, loads } of programs) {
    for (let round = 0; round < rounds; round++) await measure();
    loads.length = 0;
  }
}

async function startPeers(
  { children, quick }: BenchContext,
  subject: string,
  request: Request,
): Promise<readonly PeerServer[]> {
  const example = await exchange(subject, request);
  const response = JSON.stringify(peerResponseLike(example, request));
  const kinds: readonly PeerKind[] = [
    'node:http',
    ...(quick ? [] : (['fastify', 'express'] as const)),
  ];
  const peers: PeerServer[] = [];
  for (const kind of kinds) {
    const child = await children.script('subject', 'peer', kind, response);
    const baseUrl = `http://127.0.0.1:${child.firstLine}`;
    requireSameBytes(example, await exchange(baseUrl, request));
    peers.push({ ...child, kind, baseUrl });
  }
  return peers;
}

/**
 * Returns the wall-clock rates as a sentence. They are only a note, because a saturated generator
 * hides how fast the faster server is.
 */
function noteOf(programs: readonly LoadedServer[]): string {
  const [subject, baseline] = programs.map(({ loads }) => ({
    rate: median(loads.map(({ perSecond }) => perSecond)),
    busy: Math.round(median(loads.map(({ generatorBusy }) => generatorBusy)) * 100),
  }));
  if (!subject || !baseline) return '';
  const [rate, baselineRate] = [subject, baseline].map((each) =>
    Math.round(each.rate).toLocaleString('en'),
  );
  const share = (subject.rate / baseline.rate).toFixed(2);
  return `by the clock ${rate} of ${baselineRate} responses/s, ${share}; ${CONNECTIONS} connections, generator ${subject.busy} % and ${baseline.busy} % of its core`;
}
