import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConformanceResult } from '../conformance/conformance.ts';
import type { FleetResult } from '../simulator/engine/simulate-fleet.ts';
import type { ServerReady } from './ready.ts';
import { type Ended, startCommand } from './testing/built-command.ts';

const DEMO_MAX_MS = 120_000;

interface DemoResult {
  readonly fleet: FleetResult;
  readonly conformance: ConformanceResult;
  readonly server: ServerReady;
}

/** Holds a port of the loopback, unless somebody else already does. */
function holdPort(port: number): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(server));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

describe('fleetbed demo --exit --json while ports 8080 and 8081 are taken', () => {
  let ended: Ended;
  let result: DemoResult;
  let folder: string;
  const held: Server[] = [];

  beforeAll(async () => {
    held.push(await holdPort(8080), await holdPort(8081));
    folder = mkdtempSync(join(tmpdir(), 'fleetbed-demo-'));
    const reports = ['json', 'junit'].flatMap((form) => ['--report', `${form}=${folder}/${form}`]);
    ended = await startCommand(['demo', '--exit', '--json', ...reports]).ended;
    result = JSON.parse(ended.stdout);
  }, DEMO_MAX_MS);

  afterAll(() => {
    for (const server of held) server.close();
    rmSync(folder, { recursive: true });
  });

  it('ends with exit code 0, JSON alone on standard output and words on standard error', () => {
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout.trimEnd().split('\n')).toHaveLength(1);
    const { port } = new URL(result.server.baseUrl);
    expect(ended.stderr).toContain(`port 8080 is in use; using ${port}\n`);
    expect(ended.stderr).toMatch(/^port 8081 is in use; using \d+$/m);
    expect(ended.stderr).toMatch(/suite: (\d+) of \1 cases/);
  });

  it('takes other free ports', () => {
    const { baseUrl, controlUrl } = result.server;
    expect([new URL(baseUrl).port, new URL(controlUrl).port]).not.toContain('8080');
    expect([new URL(baseUrl).port, new URL(controlUrl).port]).not.toContain('8081');
  });

  it('lets ten devices of each key type live through their whole life', () => {
    const { devices, funnel, ended } = result.fleet;
    expect(ended).toBe('settled');
    for (const keyType of ['rsa', 'ecdsa', 'ed25519']) {
      const outcomes = devices.filter((device) => device.keyType === keyType);
      expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual([
        'aborted',
        'already-installed',
        'failure',
        ...Array.from({ length: 7 }, () => 'success'),
      ]);
    }
    expect(funnel).toMatchObject({ devices: 30, offered: 27, success: 21, failure: 3, aborted: 3 });
  });

  it("finds every device's outcome in the server's list", () => {
    expect(result.fleet.balance).toMatchObject({ checked: true, ok: true, differences: [] });
  });

  it('judges the server, and nothing fails or stays undecided', () => {
    const { outcome, totals, leftBehind } = result.conformance;
    expect(outcome).toBe('pass');
    expect(totals).toMatchObject({ fail: 0, error: 0, inconclusive: 0, skip: 0 });
    expect(totals.pass).toBeGreaterThan(150);
    expect(leftBehind).toEqual([]);
  });

  it('writes both reports', () => {
    const { fleet, conformance } = JSON.parse(readFileSync(join(folder, 'json'), 'utf8'));
    expect({ fleet, conformance }).toEqual({
      fleet: result.fleet,
      conformance: result.conformance,
    });
    expect(readFileSync(join(folder, 'junit'), 'utf8')).toMatch(/^<\?xml[\s\S]*<testcase /);
  });
});
