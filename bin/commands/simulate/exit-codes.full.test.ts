import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../testing/built-command.ts';
import { releaseName, type ServedRelease, serveRelease } from '../../testing/served-release.ts';

let release: ServedRelease;
let folder: string;

beforeAll(async () => {
  release = await serveRelease();
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-exit-codes-'));
});

afterAll(async () => {
  await release.running.end();
  rmSync(folder, { recursive: true });
});

describe('a fleet run as a process', { timeout: 60_000 }, () => {
  it.each([
    ['that meets its thresholds', '--accept --threshold errors=0', 0, 'PASSED'],
    ['that misses a threshold', '--accept --threshold max(poll)<0.001ms', 1, 'FAILED'],
    ['that measured nothing', '--accept --threshold p99(download)<1s', 4, 'INCONCLUSIVE'],
    [
      'whose deployment nobody installed',
      `--accept --deploy ${releaseName} --behaviour failing-install=1`,
      4,
      'INCONCLUSIVE, no device was updated',
    ],
    ['that accepted no device', '', 6, 'NOT ACCEPTED'],
  ])(
    'has an exit code of its own, and writes its CSV report: one %s',
    async (title, args, code, verdict) => {
      const { baseUrl, adminToken } = release.ready;
      const csv = join(folder, `${code}.csv`);
      const user = args.includes('--accept') ? ['--token', adminToken] : [];
      const load = '--devices 2 --poll 200ms --ramp 0 --duration 3s'.split(' ');
      const more = args.split(' ').filter(Boolean);
      const reports = ['--report', `csv=${csv}`, '--seed', title];
      const ended = await runCommand([
        ...['simulate', '--url', baseUrl, ...load, ...user, ...more, ...reports],
      ]);
      expect([ended.code, ended.stdout]).toEqual([code, expect.stringContaining(verdict)]);
      const [head = '', ...rows] = readFileSync(csv, 'utf8').trimEnd().split('\r\n');
      expect(head).toMatch(/^stage,operation,seconds,requests,/);
      expect(rows[0]).toMatch(/^,\w[\w-]*,\d+\.\d{3},\d+,/);
      const columns = rows.map((row) => row.split(',').length);
      expect(new Set(columns)).toEqual(new Set([head.split(',').length]));
    },
  );
});
