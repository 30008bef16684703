/** Measures the duration of a poll while other operations keep the server busy. */
import type { Request } from 'autocannon';
import type { AuthenticatedDevice } from '../authenticated-devices.ts';
import type { SteadyPolls } from '../children/poller.ts';
import { exchange, peerResponseLike } from '../exchange.ts';
import { CONNECTIONS, load } from '../load.ts';
import { authRequest } from '../parts/auth.ts';
import { bearer, idleExchanges, poll, pollRequest } from '../parts/exchanges.ts';
import { serverWithDevices, targetOf } from '../parts/server-with-devices.ts';
import { type BenchContext, measureInRounds } from '../rounds.ts';
import { type BenchRow, median, rowOf } from '../row.ts';

/** Least ratio: a poll may take 3 times as long as on `node:http`. */
const GOAL = 1 / 3;
const POLLS_PER_SECOND = 250;
/** Duration of the polls; the load lasts longer. */
const POLL_SECONDS = 5;
const QUICK_POLL_SECONDS = 1;
const LOAD_CPU_SECONDS = 6;
const QUICK_LOAD_CPU_SECONDS = 1.5;
/**
 * Number of devices that poll, each over its own connection; all other devices generate the load.
 */
const POLLING = 100;

interface PolledServer {
  readonly baseUrl: string;
  readonly pid: number;
  /** Expected status of every response to the load. */
  readonly status: number;
}

/** Measures the only row, on the reference server and on `node:http` with one fixed response. */
export async function pollUnderLoadRows(context: BenchContext): Promise<BenchRow[]> {
  const server = await serverWithDevices(context);
  const { devices } = server;
  const target = targetOf(server);
  const [device] = devices;
  if (!device) throw new Error('no device is known');
  const response = peerResponseLike(
    await exchange(target.baseUrl, pollRequest(device)),
    pollRequest(device),
  );
  const bare = await context.children.script(
    'subject',
    'peer',
    'node:http',
    JSON.stringify(response),
  );
  const bareUrl = `http://127.0.0.1:${bare.firstLine}`;
  const busy: number[] = [];
  const program = (name: string, loaded: PolledServer) => ({
    name,
    measure: async (): Promise<number> => {
      const [p99Ms, { serverBusy }] = await Promise.all([
        pollSteadily(context, loaded, devices.slice(0, POLLING)),
        loadOf(context, loaded, devices.slice(POLLING)),
      ]);
      if (loaded.pid === target.pid) busy.push(serverBusy);
      return p99Ms;
    },
  });
  const title = 'p99 of a poll under full load';
  const [subject, baseline] = await measureInRounds(context, {
    title,
    rounds: context.rounds,
    programs: [
      program('fleetbed', { ...target, status: 200 }),
      program('node:http', { baseUrl: bareUrl, pid: bare.pid, status: poll.status }),
    ],
  });
  await Promise.all([bare.end(), server.server.end()]);
  const note = `${POLLS_PER_SECOND} polls/s of ${POLLING} devices with a connection each, inventory and authentication requests over ${CONNECTIONS} more as fast as they are answered; the server is busy for ${Math.round(median(busy) * 100)} % of the time`;
  return [rowOf({ title, unit: 'ms', better: 'lower', goal: GOAL, subject, baseline, note })];
}

async function pollSteadily(
  { children, quick }: BenchContext,
  { baseUrl }: PolledServer,
  devices: readonly AuthenticatedDevice[],
): Promise<number> {
  const requests = devices.map(pollRequest);
  const input: SteadyPolls = {
    perSecond: POLLS_PER_SECOND,
    url: `${baseUrl}${requests[0]?.path}`,
    headers: devices.map(({ token }) => bearer(token)),
    seconds: quick ? QUICK_POLL_SECONDS : POLL_SECONDS,
    status: poll.status,
  };
  const child = await children.script('generator', 'poller', JSON.stringify(input));
  await child.end();
  return Number(child.firstLine);
}

/**
 * Sends the load: each connection alternates between an inventory update and an authentication
 * request.
 */
function loadOf(
  { quick }: BenchContext,
  loaded: PolledServer,
  devices: readonly AuthenticatedDevice[],
) {
  const inventory = idleExchanges.find(({ status }) => status === 200);
  const requestsOf = (device: AuthenticatedDevice): Request[] => [
    ...(inventory?.requests(device) ?? []),
    authRequest(device),
  ];
  const cpuSeconds = quick ? QUICK_LOAD_CPU_SECONDS : LOAD_CPU_SECONDS;
  return load({ ...loaded, requests: devices.map(requestsOf), cpuSeconds });
}
