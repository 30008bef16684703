/** `fleetbed conform client --watch`: the duties of the clients of a running server, live. */
import { createLogUpdate } from 'log-update';
import { systemClock } from '../../../../fixtures/base/clock.ts';
import { printable } from '../../../../fixtures/base/printable.ts';
import type { ResponseOf } from '../../../../fixtures/control/operations.ts';
import { clientLines } from '../../../client-test/duties-text.ts';
import { borderlessTable } from '../../../output/borderless-table.ts';
import { type ExitCode, exitCodes } from '../../../output/exit-codes.ts';
import { createOutput, type Output } from '../../../output/output.ts';
import { stopSignal } from '../../../output/stop-signal.ts';
import {
  type ControlAccess,
  callControl,
  callControlForTenant,
} from '../../../server-access/control-listener.ts';

export interface WatchOptions extends Partial<ControlAccess> {
  /** True for all clients; else the ID or an identity value of one. */
  readonly watch?: string | true;
  /** How long to watch, in milliseconds; until Ctrl-C without it. */
  readonly time?: number;
  readonly json?: boolean;
}

type Clients = ResponseOf<'GET /clients'>;
type Client = ResponseOf<'GET /clients/{device}'>;

/** A response of the server: all clients, and the one that is shown in full. */
interface Reading {
  readonly clients: Clients;
  readonly client: Client | undefined;
  /** The client that the user named, or the only one. */
  readonly named: string | undefined;
}

const PERIOD_MS = 1000;
/** Number of requests at the end for what still waits to be judged. */
const LAST_READS_MAX = 100;
const ROWS_DEFAULT = 24;
const CLIENTS_SHOWN_MAX = 20;

/** Shows the duties until the time is over or the user stops it. @throws CommandError */
export async function watchClients(
  options: WatchOptions & ControlAccess,
  stream: NodeJS.WriteStream = process.stdout,
): Promise<ExitCode> {
  const output = createOutput(options.json ?? false);
  const isTerminal = stream.isTTY === true && !output.json && process.env.TERM !== 'dumb';
  const draw = isTerminal ? createLogUpdate(stream) : undefined;
  const signal = stopSignal();
  const endMs = systemClock.monotonicMs() + (options.time ?? Number.POSITIVE_INFINITY);
  let printedState = '';
  for (;;) {
    let reading = await readClients(options);
    const isOver = signal.aborted || systemClock.monotonicMs() >= endMs;
    // Each request judges a part of what still waits, without which the verdict would be early.
    for (
      let readsLeft = LAST_READS_MAX;
      isOver && reading.clients.queuedEvents > 0 && readsLeft > 0;
      readsLeft -= 1
    )
      reading = await readClients(options);
    const lines = linesOf(reading);
    if (draw) draw(lines.slice(0, (stream.rows ?? ROWS_DEFAULT) - 1).join('\n'));
    if (isOver) draw?.clear();
    // Elsewhere than on a terminal, the duties are printed when one has changed, and at the end.
    const state = stateOf(reading);
    if (!draw && state !== printedState) printClients(output, reading, lines);
    else if (draw && isOver) printClients(output, reading, lines);
    printedState = state;
    if (isOver) return exitCodeOf(reading);
    await systemClock.sleep(Math.min(PERIOD_MS, endMs - systemClock.monotonicMs()), signal);
  }
}

function printClients(
  output: Output,
  { clients, client }: Reading,
  lines: readonly string[],
): void {
  output.data(client ?? clients);
  if (!output.json) output.line(lines.join('\n'));
}

async function readClients(options: WatchOptions & ControlAccess): Promise<Reading> {
  const { body } = await callControlForTenant(options, '/clients', { method: 'GET' });
  const clients = (await body.json()) as Clients;
  const [first, second] = clients.clients;
  const named = options.watch === true ? (second ? undefined : first?.client) : options.watch;
  if (named === undefined) return { clients, client: undefined, named };
  return { clients, client: await readClient(options, named), named };
}

/** Returns a client; undefined if nothing came from it yet. */
export async function readClient(
  options: ControlAccess,
  named: string,
): Promise<Client | undefined> {
  const query = options.tenant === undefined ? '' : `?tenant=${encodeURIComponent(options.tenant)}`;
  const path = `/clients/${encodeURIComponent(named)}${query}`;
  const { status, body } = await callControl(options, path, { expected: [200, 404] });
  return status === 200 ? ((await body.json()) as Client) : undefined;
}

/** Returns what a reader wants to know of: the states, without counts and times. */
function stateOf({ clients, client }: Reading): string {
  const states = (client ?? clients).duties.map(({ state }) => state);
  return JSON.stringify([clients.clients.map(({ client: name }) => name), states]);
}

function linesOf({ clients, client, named }: Reading): readonly string[] {
  if (client) return clientLines(client);
  if (named !== undefined) return [`${printable(named)} has sent no request yet.`];
  if (clients.clients.length === 0)
    return ['No device has sent anything yet. Point a client at the server.'];
  const lossLines = clients.dropped === 0 ? [] : [`${clients.dropped} events were lost.`];
  if (clients.queuedEvents > 0) lossLines.push(`${clients.queuedEvents} events wait to be judged.`);
  return [...devicesTable(clients).split('\n'), '', ...dutyLines(clients), ...lossLines];
}

function devicesTable({ clients }: Clients): string {
  return borderlessTable(
    ['DEVICE', 'REQUESTS', 'KEPT', 'BROKEN', 'OPEN', 'NOT EXERCISED'],
    clients
      .slice(0, CLIENTS_SHOWN_MAX)
      .map(({ client, identity = client, exchanges, counts }) => [
        printable(identity, 60),
        exchanges,
        counts.met ?? 0,
        counts.broken ?? 0,
        counts.open ?? 0,
        counts['not-tested'] ?? 0,
      ]),
  );
}

function dutyLines({ duties, clients }: Clients): readonly string[] {
  const brokenDuties = duties.filter(({ state }) => state === 'broken');
  const lines = brokenDuties.map(
    ({ duty, level, counts, sentence }) =>
      `  ${duty} (${level}), by ${counts.broken} of ${clients.length}: ${sentence}`,
  );
  const nextCommand = 'The evidence: npx fleetbed conform client --watch DEVICE';
  return brokenDuties.length === 0 ? ['No duty is broken.'] : ['Broken:', ...lines, nextCommand];
}

function exitCodeOf({ clients, client, named }: Reading): ExitCode {
  const duties = client?.duties ?? (named === undefined ? clients.duties : []);
  if (duties.some(({ level, state }) => level === 'must' && state === 'broken'))
    return exitCodes.failed;
  const hasRequests = named === undefined ? clients.clients.length > 0 : client !== undefined;
  return hasRequests ? exitCodes.pass : exitCodes.inconclusive;
}
