import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deviceOf, sessionOf } from '../testing/client-fixture.ts';
import { CleanupLedger, readLedger } from './cleanup-ledger.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-ledger-'));
  path = join(folder, 'ledger');
});

afterEach(() => rmSync(folder, { recursive: true }));

const baseUrl = 'http://127.0.0.1:8080';

/** Writes a ledger with these steps, as a killed simulator leaves it. */
async function noted(...steps: readonly ('known' | 'accepted' | 'deployed' | 'removed')[]) {
  const ledger = CleanupLedger.open(path, baseUrl);
  const device = deviceOf();
  for (const step of steps) {
    if (step === 'known') device.session ??= await sessionOf();
    if (step === 'accepted') device.id = 'id-0';
    if (step === 'known' || step === 'accepted') ledger.record(device);
    if (step === 'deployed')
      ledger.recordDeployment({ deploymentId: 'd-1', artifactName: 'release-2' });
    if (step === 'removed') ledger.append({ removed: 'id-0' });
  }
  ledger.close();
  return readLedger(path);
}

describe('the cleanup ledger of a fleet', () => {
  it('records a device before its first request, and its ID once assigned', async () => {
    const announced = (await noted('known'))?.devices.get(0);
    expect(announced).toMatchObject({ identity: deviceOf().idData, isSought: true });
    expect(announced?.key).toMatch(/^[0-9a-f]{64}$/);
    const made = (await noted('known', 'accepted'))?.devices.get(0);
    expect(made).toMatchObject({ isSought: false, ids: new Set(['id-0']) });
  });

  it('records each fact once, even over several runs', async () => {
    await noted('known', 'accepted', 'known', 'accepted');
    await noted('known', 'accepted');
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(3);
  });

  it('records a device again when it returns after its removal', async () => {
    await noted('known', 'accepted', 'removed');
    expect((await noted('known'))?.devices.get(0)).toMatchObject({ isSought: true });
  });

  it('consists of JSON lines, private to its owner and without tokens', async () => {
    await noted('known', 'accepted', 'deployed');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const lines = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => Object.keys(line).join())).toEqual([
      'ledger,baseUrl',
      'device,identity,key',
      'device,id',
      'deployment',
    ]);
  });

  it('continues after a kill in the middle of a line', async () => {
    await noted('known', 'accepted');
    truncateSync(path, statSync(path).size - 5);
    expect((await noted('deployed'))?.deployments).toEqual(new Set(['d-1']));
    expect(readLedger(path)?.devices.get(0)?.isSought).toBe(true);
  });

  it('is undefined when there is no file', () => {
    expect(readLedger(path)).toBeUndefined();
  });

  it('is refused for another server, and when the file is not a ledger', async () => {
    await noted('known');
    expect(() => CleanupLedger.open(path, 'http://b')).toThrow(
      `the ledger ${path} belongs to ${baseUrl}, not to http://b; use another file.`,
    );
    writeFileSync(path, 'hello\n');
    expect(() => readLedger(path)).toThrow(`${path} is not the ledger of a fleet`);
    appendFileSync(path, '{"ledger":"fleetbed-fleet-ledger/1","baseUrl":"http://b"}\n');
    expect(() => readLedger(path)).toThrow(`${path} is not the ledger of a fleet`);
  });

  it('is refused where it cannot be written', () => {
    expect(() => CleanupLedger.open(join(folder, 'absent', 'ledger'), baseUrl)).toThrow(
      /^cannot write the ledger \S+: there is no such file or folder; use another path\.$/,
    );
  });
});
