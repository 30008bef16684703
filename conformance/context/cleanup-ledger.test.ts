import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { cleanUp } from '../cleanup/cleanup.ts';
import { readLedger } from '../cleanup/ledger-reading.ts';
import { contextOn } from '../testing/context-on.ts';
import { runAgainst } from '../testing/run-against.ts';
import { serve } from '../testing/stub-server.ts';
import { CleanupLedgerFile, LedgerError } from './cleanup-ledger.ts';
import { CreatedResources } from './created-resources.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetbed-ledger-'));
let files = 0;
const newPath = (): string => join(folder, `${++files}.ledger`);
const head = { runId: 'cafe', baseUrl: 'http://host', startedAt: '2026-01-31T12:00:00.000Z' };
const device = (serial: string) => ({ kind: 'device', identity: { run: 'cafe', serial } }) as const;
const deployment = { kind: 'deployment', name: 'conformance-cafe-1' } as const;

afterAll(() => rmSync(folder, { recursive: true }));

async function written(write: (ledger: CleanupLedgerFile) => Promise<void>): Promise<string> {
  const path = newPath();
  const ledger = CleanupLedgerFile.open(path, head);
  await write(ledger);
  ledger.close();
  return path;
}

describe('a cleanup ledger', () => {
  it('is readable by its owner only, even if the file existed before', async () => {
    const path = newPath();
    writeFileSync(path, '', { mode: 0o644 });
    CleanupLedgerFile.open(path, head).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(await written(async () => undefined)).mode & 0o777).toBe(0o600);
  });

  it('lists the remaining resources in reverse order, with the known IDs', async () => {
    const path = await written(async (ledger) => {
      await ledger.announce(device('1'), 'a/one');
      const gone = await ledger.announce(device('2'), 'a/one');
      (await ledger.announce(deployment, 'a/two')).made('d7');
      gone.removeWithRetries();
    });
    const { remainders, announced, baseUrls } = readLedger(path);
    expect(remainders.map(({ resource, id }) => [resource, id])).toEqual([
      [deployment, 'd7'],
      [device('1'), undefined],
    ]);
    expect([announced, baseUrls]).toEqual([3, ['http://host']]);
  });

  it('contains several runs, and is readable beyond a truncated line', async () => {
    const path = await written(async (ledger) => {
      await ledger.announce(device('1'), 'a/one');
    });
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"run":"cafe","entry":2,"int`);
    const laterLedger = CleanupLedgerFile.open(path, {
      ...head,
      runId: 'beef',
      baseUrl: 'http://other',
    });
    await laterLedger.announce(device('1'), 'a/one');
    laterLedger.close();
    const { remainders, baseUrls } = readLedger(path);
    expect(remainders.map(({ run, entry }) => `${run}/${entry}`)).toEqual(['beef/1', 'cafe/1']);
    expect(baseUrls).toEqual(['http://host', 'http://other']);
  });

  it.each(['', 'not a ledger\n', '{"run":"cafe","entry":1,"made":"x"}\n', '<html>'])(
    'is not accepted when the file begins with %j',
    (text) => {
      const path = newPath();
      writeFileSync(path, text);
      expect(() => readLedger(path)).toThrow(LedgerError);
      expect(() => readLedger(path)).toThrow('does not start with the first line of a ledger');
    },
  );

  it('is locked for one run or cleanup, until the process ends', async () => {
    const path = newPath();
    const ledger = CleanupLedgerFile.open(path, head);
    const open = () => CleanupLedgerFile.open(path, { ...head, runId: 'beef' });
    const sentence = `process ${process.pid} is using the ledger ${path}; stop it first`;
    expect(open).toThrow(sentence);
    await expect(
      cleanUp({
        ledgerFile: path,
        credentials: { token: 'x' },
        clock: systemClock,
        requestTimeLimitMs: 1000,
      }),
    ).rejects.toThrow(sentence);
    ledger.close();
    writeFileSync(`${path}.lock`, JSON.stringify({ pid: 2 ** 22 + 1, host: hostname() }));
    expect(open).not.toThrow();
  });

  it('ends the run before the first resource when the file cannot be written', async () => {
    const methods: (string | undefined)[] = [];
    const baseUrl = await serve(({ method }, response) => {
      methods.push(method);
      response.end();
    });
    const ledgerFile = join(folder, 'no', 'such', 'folder');
    await expect(runAgainst(baseUrl, { ledgerFile, probe: false })).rejects.toThrow(LedgerError);
    expect(methods).not.toContain('POST');
  });
});

describe('a resource that a case creates', () => {
  it('is in the ledger from before its request until its removal', async () => {
    const path = newPath();
    const ledger = CleanupLedgerFile.open(path, head);
    const leftAtRequest: number[] = [];
    const baseUrl = await serve((request, response) => {
      leftAtRequest.push(readLedger(path).remainders.length);
      if (request.method === 'POST') response.writeHead(201, { location: './d7' }).end();
      else response.writeHead(204).end();
    });
    const { admin } = contextOn(baseUrl);
    const created = new CreatedResources(ledger, 'a/one');
    const owned = await created.announce(deployment);
    owned.made(await admin.deploy({ name: deployment.name, artifact_name: 'a', devices: [] }));
    expect(readLedger(path).remainders[0]?.id).toBe('d7');
    expect(await created.release(admin)).toEqual([]);
    ledger.close();
    expect(leftAtRequest).toEqual([1, 1]);
    expect(readLedger(path).remainders).toEqual([]);
  });

  it('is found by name and removed when the creating request got no response', async () => {
    const requests: string[] = [];
    const baseUrl = await serve((request, response) => {
      requests.push(`${request.method} ${request.url?.split('/').at(-1)}`);
      if (request.method === 'POST') request.socket.destroy();
      else if (request.method === 'GET') {
        response.end(JSON.stringify([{ id: 'd8', name: deployment.name }]));
      } else response.writeHead(204).end();
    });
    const { admin } = contextOn(baseUrl);
    const created = new CreatedResources();
    await created.announce(deployment);
    const making = admin.deploy({ name: deployment.name, artifact_name: 'a', devices: [] });
    await expect(making).rejects.toThrow();
    expect(await created.release(admin)).toEqual([]);
    expect(requests[1]).toBe(`GET deployments?name=${deployment.name}`);
    expect(requests[2]).toBe('PUT status');
  });

  it('cannot be created after its case has ended', async () => {
    const created = new CreatedResources();
    await created.release(undefined);
    await expect(created.announce(deployment)).rejects.toThrow(
      'the case was over before it created',
    );
  });

  it('stays in the ledger when the removal fails', async () => {
    const path = newPath();
    const ledger = CleanupLedgerFile.open(path, head);
    const created = new CreatedResources(ledger, 'a/one');
    await created.announce(device('1'));
    expect(await created.release(undefined)).toEqual([
      'device 1: without a user, the suite cannot remove it',
    ]);
    ledger.close();
    expect(readLedger(path).remainders).toHaveLength(1);
  });
});
