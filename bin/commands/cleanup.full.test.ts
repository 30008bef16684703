import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../server/testing/test-server.ts';
import { runCommand } from '../testing/built-command.ts';

const adminPassword = 'a-long-password';
const time = '2026-01-31T12:00:00Z';

let server: TestServer;
let folder: string;

beforeAll(async () => {
  server = await startTestServer({ adminPassword });
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-cleanup-'));
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

function ledgerOf(name: string, head: object): string {
  const file = join(folder, name);
  writeFileSync(file, `${JSON.stringify(head)}\n`, { mode: 0o600 });
  return file;
}

const fleetLedger = () =>
  ledgerOf('fleet', { ledger: 'fleetbed-fleet-ledger/1', baseUrl: server.baseUrl });
const runLedger = () =>
  ledgerOf('run', {
    run: 'cafe',
    ledger: 'fleetbed-ledger/1',
    baseUrl: server.baseUrl,
    startedAt: time,
  });
const cleanup = (...args: readonly string[]) =>
  runCommand(['cleanup', ...args, '--password', adminPassword]);

describe('fleetbed cleanup', () => {
  it('accepts ledgers of fleets and of conform runs, and deletes each emptied ledger', async () => {
    const ledgers = [fleetLedger(), runLedger()];
    const { code, stdout, stderr } = await cleanup(...ledgers);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('0 devices in the ledger: 0 decommissioned');
    expect(stdout).toContain('0 resources in the ledger, 0 removed now, 0 left');
    for (const ledger of ledgers)
      expect(stdout).toContain(`deleted ${ledger}: everything in it was removed`);
    expect(ledgers.map((ledger) => existsSync(ledger))).toEqual([false, false]);
  });

  it.each<[string, () => readonly string[], number, string]>([
    ['a file that is not there', () => [join(folder, 'gone')], 3, 'there is no such file'],
    ['a ledger of nobody', () => [ledgerOf('other', { other: 1 })], 3, 'other'],
    [
      'a client certificate for a ledger of conform',
      () => [runLedger(), '--cert', 'a.pem', '--key', 'a.key'],
      2,
      '--cert applies only to ledgers of simulate',
    ],
  ])('refuses %s with one line of error message', async (_, args, exitCode, sentence) => {
    const { code, stderr } = await cleanup(...args());
    expect(code).toBe(exitCode);
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
