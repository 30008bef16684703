import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { deviceKey } from '../identity/device-key.ts';
import { identityData } from '../identity/identity.ts';
import { noonMs, token } from '../testing/client-fixture.ts';
import {
  closedPortUrl,
  type Responses,
  type StubResponse,
  StubServer,
} from '../testing/stub-server.ts';
import { cleanUpFleet, type FleetCleanupOptions } from './cleanup.ts';
import { keyFingerprint } from './cleanup-ledger.ts';

let folder: string;
let ledger: string;
const closers: (() => Promise<void>)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-cleanup-'));
  ledger = join(folder, 'ledger');
});

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  rmSync(folder, { recursive: true });
});

const random = seededRandom('x');
const when = '2026-01-31T12:00:00Z';

function pemOf(index: number): string {
  return deviceKey(random, index, 'ed25519').publicKeyPem;
}

function announced(index: number) {
  const identity = identityData(random, index, 'FB');
  return { device: index, identity, key: keyFingerprint(pemOf(index)) };
}

/** A device as a server lists it. */
function deviceListing(id: string, index: number, pubkey: string) {
  const identity_data = identityData(random, index, 'FB');
  const set = { id: `set-${id}`, identity_data, pubkey, status: 'pending', ts: when };
  const times = { created_ts: when, updated_ts: when };
  return { id, identity_data, status: 'pending', ...times, auth_sets: [set] };
}

/** A server with these devices and deployments that removes them on request. */
async function serverWith(known: readonly string[], responses: Responses = {}) {
  const left = new Set(known);
  const removal = (id = ''): StubResponse => ({ status: left.delete(id) ? 204 : 404 });
  const server = await StubServer.start({
    login: () => ({ status: 200, body: token }),
    'list-devices': () => ({ status: 200, body: [] }),
    'decommission-device': ({ parameters }) => removal(parameters.id),
    'abort-deployment': ({ parameters }) => removal(parameters.id),
    ...responses,
  });
  closers.push(() => server.close());
  return { server, left };
}

function keep(file: string, baseUrl: string, ...lines: readonly object[]): void {
  const all = [{ ledger: 'fleetbed-fleet-ledger/1', baseUrl }, ...lines];
  writeFileSync(file, all.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

function cleanUp(change: Partial<FleetCleanupOptions> = {}) {
  return cleanUpFleet({
    locations: [ledger],
    credentials: { email: 'admin@example.com', password: 'secret' },
    clock: new ManualClock(noonMs),
    requestTimeLimitMs: 5000,
    signal: new AbortController().signal,
    ...change,
  });
}

const threeMade = [0, 1, 2].flatMap((index) => [
  announced(index),
  { device: index, id: `id-${index}` },
]);

describe('a cleanup of the server', () => {
  it('removes only the devices and deployments of the ledger', async () => {
    const { server, left } = await serverWith(['id-0', 'id-1', 'id-2', 'd-1', 'foreign']);
    keep(ledger, server.baseUrl, ...threeMade, { deployment: 'd-1' });
    expect(await cleanUp()).toEqual({
      baseUrl: server.baseUrl,
      devices: 3,
      decommissioned: 3,
      notThere: 0,
      deploymentsClosed: 1,
      stayed: [],
      isDoubtful: false,
      deletedLedgers: [ledger],
    });
    expect([...left]).toEqual(['foreign']);
  });

  it('finds no ledger the second time, because the first time deleted it', async () => {
    const { server } = await serverWith(['id-0', 'id-1', 'id-2']);
    keep(ledger, server.baseUrl, ...threeMade);
    await cleanUp();
    const requestCount = server.requestsFor('decommission-device').length;
    await expect(cleanUp()).rejects.toThrow('there is no ledger at');
    expect(server.requestsFor('decommission-device')).toHaveLength(requestCount);
  });

  it('keeps the ledger when the server knows none of its entries, unless forced', async () => {
    const { server } = await serverWith([]);
    keep(ledger, server.baseUrl, ...threeMade, { deployment: 'd-1' }, announced(3));
    const ledgerBefore = readFileSync(ledger, 'utf8');
    const first = await cleanUp();
    expect(first).toMatchObject({ decommissioned: 0, notThere: 4, isDoubtful: true });
    expect(readFileSync(ledger, 'utf8')).toBe(ledgerBefore);
    const forced = await cleanUp({ isForced: true });
    expect(forced).toMatchObject({ notThere: 4, isDoubtful: false, deletedLedgers: [ledger] });
  });

  it('refuses a URL other than that of the ledger, unless forced', async () => {
    const { server, left } = await serverWith(['id-0', 'id-1', 'id-2']);
    keep(ledger, 'http://127.0.0.1:9', ...threeMade);
    await expect(cleanUp({ baseUrl: server.baseUrl })).rejects.toThrow(
      `the ledger ${ledger} belongs to http://127.0.0.1:9, not to ${server.baseUrl}; leave --url out`,
    );
    expect(left.size).toBe(3);
    expect(await cleanUp({ baseUrl: server.baseUrl, isForced: true })).toMatchObject({
      decommissioned: 3,
      deletedLedgers: [ledger],
    });
  });

  it('counts a device as removed when the server no longer has it', async () => {
    const { server } = await serverWith(['id-1']);
    keep(ledger, server.baseUrl, ...threeMade);
    expect(await cleanUp()).toMatchObject({ decommissioned: 1, notThere: 2, stayed: [] });
  });

  it('finds a device that was killed before it received its ID, by identity and key', async () => {
    const mine = deviceListing('id-7', 0, pemOf(0));
    const borrowed = deviceListing('id-8', 1, pemOf(9));
    const { server, left } = await serverWith(['id-7', 'id-8'], {
      'list-devices': ({ query }) => ({
        status: 200,
        body: query.get('status') === 'pending' ? [mine, borrowed] : [],
      }),
    });
    keep(ledger, server.baseUrl, announced(0), announced(1), announced(2));
    expect(await cleanUp()).toMatchObject({ devices: 3, decommissioned: 1, notThere: 2 });
    expect([...left]).toEqual(['id-8']);
  });

  it('lists what it could not remove and why, and removes it the next time', async () => {
    let isBroken = true;
    const { server, left } = await serverWith(['id-0', 'id-1', 'id-2'], {
      'decommission-device': ({ parameters: { id = '' } }) => {
        if (isBroken && id === 'id-1') return { status: 503, body: { error: 'try later' } };
        return { status: left.delete(id) ? 204 : 404 };
      },
    });
    keep(ledger, server.baseUrl, ...threeMade);
    const { stayed, decommissioned } = await cleanUp();
    expect(decommissioned).toBe(2);
    expect(stayed).toEqual([
      'device 1 (id-1): decommission-device: the server answered with 503: try later',
    ]);
    isBroken = false;
    expect(await cleanUp()).toMatchObject({ devices: 1, decommissioned: 1, stayed: [] });
    expect(left.size).toBe(0);
  });

  it('leaves the rest to the next cleanup when it is interrupted', async () => {
    const stop = new AbortController();
    const ids = Array.from({ length: 40 }, (_, index) => `id-${index}`);
    const { server, left } = await serverWith(ids, {
      'decommission-device': ({ parameters: { id = '' } }) => {
        if (left.size < 25) stop.abort();
        return { status: left.delete(id) ? 204 : 404 };
      },
    });
    const lines = ids.flatMap((id, index) => [announced(index), { device: index, id }]);
    keep(ledger, server.baseUrl, ...lines);
    const first = await cleanUp({ signal: stop.signal });
    expect(first.stayed.length).toBeGreaterThan(0);
    expect(first.stayed[0]).toMatch(/^device \d+ \(id-\d+\): the cleanup was interrupted$/);
    const second = await cleanUp();
    expect(second.devices).toBe(first.stayed.length);
    expect(second.stayed).toEqual([]);
    expect(left.size).toBe(0);
  });

  it('finds the ledgers of shards, next to the file and in a state folder', async () => {
    const { server, left } = await serverWith(['id-0', 'id-1', 'id-2']);
    const [first, firstId, second, secondId, third, thirdId] = threeMade;
    keep(`${ledger}.0-of-2`, server.baseUrl, { ...first }, { ...firstId });
    keep(`${ledger}.1-of-2`, server.baseUrl, { ...second }, { ...secondId });
    mkdirSync(join(folder, 'state', 'shard-0-of-1'), { recursive: true });
    const inState = join(folder, 'state', 'shard-0-of-1', 'ledger.ndjson');
    keep(inState, server.baseUrl, { ...third }, { ...thirdId });
    await cleanUp({ locations: [ledger, join(folder, 'state')] });
    expect(left.size).toBe(0);
  });
});

describe('a cleanup that cannot begin', () => {
  it.each([
    ['absent', () => undefined, /^there is no ledger at \S+ledger; give a ledger or a folder/],
    ['empty', () => writeFileSync(ledger, ''), /^there is no ledger at/],
    ['something else', () => writeFileSync(ledger, 'hello\n'), /is not the ledger of a fleet/],
    ['a folder without one', () => mkdirSync(ledger), /^there is no ledger at/],
  ])('fails with a reason when the ledger is %s', async (_, make, sentence) => {
    make();
    await expect(cleanUp()).rejects.toThrow(sentence);
  });

  it('refuses a ledger that a simulator is writing', async () => {
    keep(ledger, 'http://127.0.0.1:1', ...threeMade);
    const holder = { pid: process.pid, host: hostname() };
    writeFileSync(`${ledger}.lock`, JSON.stringify(holder));
    await expect(cleanUp()).rejects.toThrow(`process ${process.pid} is using the ledger ${ledger}`);
  });

  it('refuses ledgers of two servers at once', async () => {
    keep(ledger, 'http://a', ...threeMade);
    keep(`${ledger}.0-of-1`, 'http://b', ...threeMade);
    await expect(cleanUp()).rejects.toThrow(
      'the ledgers belong to http://a and http://b; clean up',
    );
  });

  it('keeps the ledger when nothing listens or the login is refused, and says so', async () => {
    keep(ledger, await closedPortUrl(), ...threeMade);
    await expect(cleanUp()).rejects.toThrow('nothing listens');
    const { server } = await serverWith([], { login: () => ({ status: 401 }) });
    const refused = cleanUp({ baseUrl: server.baseUrl, isForced: true });
    await expect(refused).rejects.toThrow('401');
    expect(server.requestsFor('decommission-device')).toEqual([]);
  });
});
