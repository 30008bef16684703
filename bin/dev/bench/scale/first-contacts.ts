/** Measures how long the first contacts of many new devices stall the server. */
import { newDevice } from '../authenticated-devices.ts';
import { load } from '../load.ts';
import { authRequest } from '../parts/auth.ts';
import type { BenchContext } from '../rounds.ts';
import { type BenchRow, limitRow } from '../row.ts';
import { observedServer, once } from './observed.ts';

const WARM_UP = 500;
const CONTACTS = 10_000;
const QUICK_CONTACTS = 1000;
const STALL_MAX_MS = 50;

/** Measures the longest stall of the event loop during many first contacts, in milliseconds. */
export async function firstContactRows({
  children,
  output,
  quick,
}: BenchContext): Promise<BenchRow[]> {
  const count = quick ? QUICK_CONTACTS : CONTACTS;
  const countText = count.toLocaleString('en-US');
  output.progress(`sending ${countText} first contacts`);
  const server = await observedServer(children, {});
  const { baseUrl, headerPrefix } = server.ready;
  const devices = Array.from({ length: WARM_UP + count }, (_, at) => newDevice(headerPrefix, at));
  const requests = devices.map((device) => [authRequest(device)]);
  const target = { baseUrl, pid: server.pid, status: 401, cpuSeconds: 'once' } as const;
  await load({ ...target, requests: requests.slice(0, WARM_UP) });
  await server.begin();
  const { perServerCpuSecond } = await load({ ...target, requests: requests.slice(WARM_UP) });
  const figures = await server.endObservation();
  await server.end();
  return [
    limitRow({
      title: `longest stall of the server, ${countText} first contacts`,
      unit: 'ms',
      subject: once('fleetbed', figures.longestStallMs),
      limit: STALL_MAX_MS,
      note: `Ed25519, ${Math.round(perServerCpuSecond).toLocaleString('en-US')} first contacts/CPU s, measured once; by the clock, in which other processes run too, ${Math.round(figures.longestDelayMs)} ms`,
    }),
  ];
}
