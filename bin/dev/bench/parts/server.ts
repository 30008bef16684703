/**
 * Part `server`: measures exchanges of known devices on the reference server with its real store,
 * each against the cost of a server without its logic.
 */
import type { ResponseOf } from '../../../../fixtures/control/operations.ts';
import { load } from '../load.ts';
import { type BenchContext, measureInRounds } from '../rounds.ts';
import { type BenchRow, rowOf } from '../row.ts';
import { authRow } from './auth.ts';
import { downloadRow } from './download.ts';
import { exchangeRow, loadServer, unit, warmUp } from './exchange-row.ts';
import { idleExchanges, poll, pollRequest, updateExchanges } from './exchanges.ts';
import { deployRelease } from './release.ts';
import {
  cpuSecondsOf,
  type ServerWithDevices,
  serverWithDevices,
  targetOf,
} from './server-with-devices.ts';

/** Least ratio of polls with the journal to polls without: the journal may cost 15 percent. */
const JOURNAL_GOAL = 0.85;
/** Least ratio of polls with the client judge to polls without. */
const JUDGE_GOAL = 0.95;

/** Number of short rounds in the time of one, for parts whose cost is small. */
const SHORT_ROUNDS = 8;

/** Least ratio of polls to bare `node:http` while another process keeps the machine busy. */
const NEIGHBOUR_GOAL = 0.65;

/** Measures all rows of the part; a quick run leaves out the row with a busy neighbour. */
export async function serverRows(context: BenchContext): Promise<BenchRow[]> {
  const server = await serverWithDevices(context);
  const rows: BenchRow[] = context.quick ? [] : [await besideNeighbourRow(context, server)];
  for (const each of idleExchanges) rows.push(await exchangeRow(context, server, each));
  rows.push(await withoutRow(context, server, journal), await withoutRow(context, server, judge));
  rows.push(await authRow(context, server));
  const release = await deployRelease(context, server.server.ready);
  try {
    await offerToAll(server);
    for (const each of updateExchanges(release.deploymentId)) {
      rows.push(await exchangeRow(context, server, each));
    }
    rows.push(await downloadRow(context, server, release));
  } finally {
    await release.remove();
  }
  await server.server.end();
  return rows;
}

/** Measures the poll while another process keeps the generator's core and the memory bus busy. */
async function besideNeighbourRow(
  context: BenchContext,
  server: ServerWithDevices,
): Promise<BenchRow> {
  const cpuLoad = await context.children.script('generator', 'cpu-load');
  const title = `${poll.title}, busy neighbour`;
  const row = await exchangeRow(context, server, { ...poll, title, goal: NEIGHBOUR_GOAL });
  await cpuLoad.end();
  return row;
}

/** A part of the server that can be switched off. */
interface SwitchedPart {
  readonly name: string;
  readonly goal: number;
  /** The options that switch it off. */
  readonly off: readonly string[];
  /** Resolves once the part has done what is not part of the measurement. */
  readonly waitUntilIdle?: (known: ServerWithDevices) => Promise<void>;
}

const journal: SwitchedPart = {
  name: 'journal',
  goal: JOURNAL_GOAL,
  off: ['--journal-entries', '0'],
};
const judge: SwitchedPart = {
  name: 'judge',
  goal: JUDGE_GOAL,
  off: ['--no-judge'],
  waitUntilIdle: untilJudged,
};

/**
 * Waits until the server has judged the authentication requests and the first polls of its devices.
 */
async function untilJudged({ server: { ready } }: ServerWithDevices): Promise<void> {
  const headers = { Authorization: `Bearer ${ready.controlToken}` };
  for (let queuedEvents = 1; queuedEvents > 0; ) {
    const response = await fetch(`${ready.controlUrl}/clients`, { headers });
    if (!response.ok) throw new Error(`/clients was answered with ${response.status}`);
    ({ queuedEvents } = (await response.json()) as ResponseOf<'GET /clients'>);
  }
}

/**
 * Measures the poll on two servers, one of them without a part. The difference is small, so that
 * the rounds are short and many: both servers then meet the same noise.
 */
async function withoutRow(
  context: BenchContext,
  server: ServerWithDevices,
  { name: part, goal, off, waitUntilIdle }: SwitchedPart,
): Promise<BenchRow> {
  const without = await serverWithDevices(context, ...off);
  const measurePolls = (name: string, each: ServerWithDevices) =>
    loadServer(name, {
      ...targetOf(each),
      requests: each.devices.map(poll.requests),
      status: poll.status,
      cpuSeconds: cpuSecondsOf(context) / SHORT_ROUNDS,
    });
  const programs = [
    measurePolls(`${part} on`, server),
    measurePolls(`${part} off`, without),
  ] as const;
  await warmUp(context, programs);
  await waitUntilIdle?.(server);
  const title = `${poll.title}, ${part} on`;
  const [subject, baseline] = await measureInRounds(context, {
    title,
    programs,
    rounds: context.rounds * SHORT_ROUNDS,
  });
  await without.server.end();
  return rowOf({ title, unit, better: 'higher', goal, subject, baseline });
}

/** Polls once as every device, so that the deployment is offered to each. */
async function offerToAll(known: ServerWithDevices): Promise<void> {
  const requests = known.devices.map((device) => [pollRequest(device)]);
  await load({ ...targetOf(known), requests, status: 200, cpuSeconds: 'once' });
}
