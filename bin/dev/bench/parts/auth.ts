/** Measures the authentication of a known device against the cost of its cryptography alone. */
import type { Request } from 'autocannon';
import { pathOf } from '../../../../fixtures/contract/operation.ts';
import { operations } from '../../../../fixtures/contract/operations.ts';
import { vendorNames } from '../../../../fixtures/contract/vendor-names.ts';
import type { AuthenticatedDevice, NewDevice } from '../authenticated-devices.ts';
import type { AuthCost } from '../children/auth-cost.ts';
import { type BenchContext, measureInRounds } from '../rounds.ts';
import { type BenchRow, rowOf } from '../row.ts';
import { loadServer, unit, warmUp } from './exchange-row.ts';
import { cpuSecondsOf, type ServerWithDevices, targetOf } from './server-with-devices.ts';

const title = 'authentication request of a known device';
/** Least ratio: an authentication request may take 1.3 times as long as its cryptography. */
const GOAL = 0.77;
const COST_TIMES = 20_000;
const QUICK_COST_TIMES = 3000;

/** Measures authentication requests of known devices with Ed25519 keys. */
export async function authRow(
  context: BenchContext,
  benchServer: ServerWithDevices,
): Promise<BenchRow> {
  const { devices } = benchServer;
  const { headerPrefix } = benchServer.server.ready;
  const requests = devices.map((device) => [authRequest(device)]);
  const cpuSeconds = cpuSecondsOf(context);
  const server = loadServer('fleetbed', {
    ...targetOf(benchServer),
    requests,
    status: 200,
    cpuSeconds,
  });
  await warmUp(context, [server]);
  const alone = () => cryptoAlone(context, devices, headerPrefix);
  const [subject, baseline] = await measureInRounds(context, {
    title,
    rounds: context.rounds,
    programs: [server, { name: 'node:crypto', measure: alone }],
  });
  const note = 'Ed25519 on both sides; the baseline holds the key, verifies, and signs the token';
  return rowOf({ title, unit, better: 'higher', goal: GOAL, subject, baseline, note });
}

/** Returns the authentication request of a device. */
export function authRequest({ authRequest: { headers, body } }: NewDevice): Request {
  const { method, path } = operations['post-auth-request'];
  return { method, path: pathOf({ path }), headers, body };
}

async function cryptoAlone(
  { children, quick }: BenchContext,
  [device]: readonly AuthenticatedDevice[],
  headerPrefix: string,
): Promise<number> {
  if (!device) throw new Error('no device is known');
  const { publicKeyPem, token, authRequest } = device;
  const cost: AuthCost = {
    publicKeyPem,
    token,
    body: authRequest.body,
    signature: authRequest.headers[vendorNames(headerPrefix).signature] ?? '',
    times: quick ? QUICK_COST_TIMES : COST_TIMES,
  };
  const child = await children.script('subject', 'auth-cost', JSON.stringify(cost));
  await child.end();
  return Number(child.firstLine);
}
