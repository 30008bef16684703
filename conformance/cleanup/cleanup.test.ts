import { mkdtempSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { CleanupLedgerFile } from '../context/cleanup-ledger.ts';
import type { ResourceIdentity } from '../context/resource.ts';
import {
  AdminUnusableError,
  ControlRefusedError,
  LoginRefusedError,
} from '../target/setup-error.ts';
import { closedPortUrl, serve } from '../testing/stub-server.ts';
import { type CleanupOptions, cleanUp, LedgerUrlError } from './cleanup.ts';
import { readLedger } from './ledger-reading.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetbed-cleanup-'));
const ledgerFile = join(folder, 'run.ledger');
const resources = [
  { kind: 'artifact', name: 'release', deviceType: 'board' },
  { kind: 'device', identity: { serial: '1' } },
  { kind: 'deployment', name: 'rollout' },
] as const;

/** Adds a run that left these resources behind to the ledger. */
async function leave(
  runId: string,
  baseUrl: string,
  left: readonly ResourceIdentity[] = resources,
) {
  const head = { runId, baseUrl, startedAt: '2026-01-31T12:00:00Z' };
  const ledger = CleanupLedgerFile.open(ledgerFile, head);
  for (const [index, resource] of left.entries()) {
    (await ledger.announce(resource, 'a/one')).made(`id-${index}`);
  }
  ledger.close();
}

beforeEach(async () => {
  rmSync(ledgerFile, { force: true });
  await leave('cafe', 'http://127.0.0.1:9');
});

afterAll(() => rmSync(folder, { recursive: true }));

function clean(baseUrl: string, more: Partial<CleanupOptions> = {}) {
  return cleanUp({
    ledgerFile,
    baseUrl,
    credentials: { token: 'user-token' },
    clock: systemClock,
    requestTimeLimitMs: 2000,
    // The ledger names a server that no test starts.
    isForced: true,
    ...more,
  });
}

/**
 * Starts a target that removes only resources with certain IDs, and records the change requests.
 */
async function target(takes: (url: string) => boolean) {
  const requests: string[] = [];
  const listener: RequestListener = ({ method, url = '' }, response) => {
    if (method === 'GET') return response.end('[{"id":"id-2","name":"rollout"}]');
    requests.push(`${method} ${url.split('/').slice(-2).join('/')}`);
    return response.writeHead(takes(url) ? 204 : 409).end();
  };
  return { baseUrl: await serve(listener), requests };
}

describe('a cleanup without --force', () => {
  /** Starts a target that knows only the resources with these IDs. */
  async function serverWithDevices(...ids: readonly string[]) {
    const baseUrl = await serve(({ method, url = '' }, response) => {
      if (method === 'GET') return response.end('[]');
      return response.writeHead(ids.some((id) => url.includes(id)) ? 204 : 404).end();
    });
    return baseUrl;
  }

  it('refuses a URL that is not in the ledger and sends no request', async () => {
    const { baseUrl, requests } = await target(() => true);
    const cleaning = clean(baseUrl, { isForced: false });
    await expect(cleaning).rejects.toThrow(LedgerUrlError);
    await expect(cleaning).rejects.toThrow(
      `belongs to http://127.0.0.1:9, not to ${baseUrl}; leave --url out, or add --force`,
    );
    expect(requests).toEqual([]);
    expect(readLedger(ledgerFile).remainders).toHaveLength(3);
  });

  it('keeps the ledger when the server knows none of its resources', async () => {
    const baseUrl = await serverWithDevices();
    rmSync(ledgerFile);
    await leave('cafe', baseUrl);
    const firstCleanup = await clean(baseUrl, { isForced: false });
    expect(firstCleanup).toMatchObject({ removed: [], stayed: [], isDoubtful: true });
    expect(firstCleanup.absent).toHaveLength(3);
    expect(readLedger(ledgerFile).remainders).toHaveLength(3);
    const forced = await clean(baseUrl);
    expect(forced).toMatchObject({ removed: [], isDoubtful: false, isLedgerDeleted: true });
  });

  it('deletes the ledger when its only resource was announced and never created', async () => {
    const baseUrl = await serverWithDevices();
    rmSync(ledgerFile);
    const head = { runId: 'cafe', baseUrl, startedAt: '2026-01-31T12:00:00Z' };
    const ledger = CleanupLedgerFile.open(ledgerFile, head);
    await ledger.announce(resources[1], 'a/one');
    ledger.close();
    expect(await clean(baseUrl, { isForced: false })).toMatchObject({
      absent: ['device 1'],
      isDoubtful: false,
      isLedgerDeleted: true,
    });
  });

  it('drops absent resources from the ledger when the server knows some of them', async () => {
    const baseUrl = await serverWithDevices('id-1');
    rmSync(ledgerFile);
    await leave('cafe', baseUrl);
    expect(await clean(baseUrl, { isForced: false })).toMatchObject({
      removed: ['device 1'],
      absent: ['deployment rollout', 'artifact release'],
      isDoubtful: false,
      isLedgerDeleted: true,
    });
  });

  it('removes the resources of one server and keeps those of others in the ledger', async () => {
    const baseUrl = await serverWithDevices('id-');
    await leave('beef', baseUrl);
    await expect(clean(undefined as never, { isForced: false })).rejects.toThrow(
      `has resources on ${baseUrl} and on http://127.0.0.1:9; name one of them with --url`,
    );
    const { removed, isLedgerDeleted } = await clean(baseUrl, { isForced: false });
    expect(removed).toEqual(['device 1', 'artifact release']);
    expect(isLedgerDeleted).toBe(false);
    const left = readLedger(ledgerFile).remainders;
    expect(left.map((each) => each.baseUrl)).toEqual(Array(3).fill('http://127.0.0.1:9'));
  });
});

describe('a cleanup', () => {
  it('removes the remaining resources in reverse order, then deletes the ledger', async () => {
    const { baseUrl, requests } = await target(() => true);
    const firstCleanup = await clean(baseUrl);
    expect(firstCleanup).toMatchObject({ announced: 3, stayed: [] });
    expect(firstCleanup.removed).toEqual(['deployment rollout', 'device 1', 'artifact release']);
    expect(requests).toEqual(['PUT id-2/status', 'DELETE devices/id-1', 'DELETE artifacts/id-0']);
    expect(firstCleanup.isLedgerDeleted).toBe(true);
    await expect(clean(baseUrl)).rejects.toThrow('cannot be used');
    expect(requests).toHaveLength(3);
  });

  it('continues after a resource that cannot be removed, and later retries only that one', async () => {
    let isBusy = true;
    const { baseUrl, requests } = await target((url) => !(isBusy && url.endsWith('id-1')));
    const { stayed, removed } = await clean(baseUrl);
    expect(removed).toEqual(['deployment rollout', 'artifact release']);
    expect(stayed).toEqual([expect.stringMatching(/^device 1: .*decommission a device.*409/)]);
    isBusy = false;
    expect(await clean(baseUrl)).toMatchObject({ removed: ['device 1'], stayed: [] });
    expect(requests).toHaveLength(4);
  });

  it('continues after an interruption with the remaining resources', async () => {
    const ender = new AbortController();
    const { baseUrl, requests } = await target(() => true);
    const onRemoved = () => ender.abort();
    const { removed, stayed } = await clean(baseUrl, { signal: ender.signal, onRemoved });
    expect(removed).toEqual(['deployment rollout']);
    expect(stayed).toEqual([
      'device 1: the cleanup was interrupted',
      'artifact release: the cleanup was interrupted',
    ]);
    const secondCleanup = await clean(baseUrl);
    expect(secondCleanup.removed).toEqual(['device 1', 'artifact release']);
    expect(requests).toHaveLength(3);
  });

  it('reports the remaining resources when the target closes connections', async () => {
    const baseUrl = await serve((request, response) => {
      if (request.method === 'DELETE') request.socket.destroy();
      else if (request.method === 'GET') response.end('[{"id":"id-2","name":"rollout"}]');
      else response.writeHead(204).end();
    });
    const { removed, stayed } = await clean(baseUrl);
    expect([removed, stayed.length]).toEqual([['deployment rollout'], 2]);
  });

  it('removes tenants through the control listener, and reports them without one', async () => {
    const head = { runId: 'beef', baseUrl: 'http://127.0.0.1:9', startedAt: '2026-01-31' };
    const ledger = CleanupLedgerFile.open(ledgerFile, head);
    (await ledger.announce({ kind: 'tenant', name: 'of an ID' }, 'a/one')).made('t-1');
    await ledger.announce({ kind: 'tenant', name: 'of a response lost' }, 'a/one');
    await ledger.announce({ kind: 'tenant', name: 'never made' }, 'a/one');
    ledger.close();
    const { baseUrl } = await target(() => true);
    const alone = await clean(baseUrl);
    expect(alone.stayed).toHaveLength(3);
    expect(alone.stayed[0]).toBe(
      'tenant never made: only the control listener can remove a tenant; give --control-url and --control-token',
    );
    const requests: string[] = [];
    const url = await serve(({ method, url: path, headers }, response) => {
      requests.push(`${method} ${path} ${headers.authorization}`);
      const tenants = [
        { id: 't-1', name: 'of an ID' },
        { id: 't-2', name: 'of a response lost' },
        { id: 't-3', name: 'of another' },
      ];
      if (method === 'GET') response.end(JSON.stringify(tenants));
      else response.writeHead(200).end();
    });
    const control = { url, token: 'control' };
    const tenantCleanup = await clean(baseUrl, { control, credentials: 'none' });
    expect(tenantCleanup.stayed).toEqual([]);
    expect(tenantCleanup.removed).toEqual(['tenant of a response lost', 'tenant of an ID']);
    expect(tenantCleanup.absent).toEqual(['tenant never made']);
    const removals = requests.filter((line) => line.startsWith('DELETE'));
    expect(removals).toEqual([
      'DELETE /tenants/t-2 Bearer control',
      'DELETE /tenants/t-1 Bearer control',
    ]);
  });

  it('does not start when the control listener refuses the token', async () => {
    const { baseUrl, requests } = await target(() => true);
    const url = await serve((_, response) => response.writeHead(401).end());
    const control = { url, token: 'wrong' };
    await expect(clean(baseUrl, { control })).rejects.toThrow(ControlRefusedError);
    expect(requests).toEqual([]);
  });

  it('does not start when the target refuses the user', async () => {
    const baseUrl = await serve((_, response) => response.writeHead(401).end());
    await expect(clean(baseUrl)).rejects.toThrow(LoginRefusedError);
  });

  it('does not start when the login returns no token', async () => {
    const baseUrl = await serve((_, response) => response.end('<html>no token'));
    const credentials = { email: 'a@b', password: 'secret' };
    await expect(clean(baseUrl, { credentials })).rejects.toThrow(AdminUnusableError);
  });

  it('does not start when nothing answers at the base URL of the run', async () => {
    const nowhere = await closedPortUrl();
    await expect(clean(nowhere)).rejects.toThrow(`nothing answers at ${nowhere}`);
    await expect(clean(undefined as never)).rejects.toThrow('http://127.0.0.1:9');
  });
});
