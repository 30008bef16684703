import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../output/exit-codes.ts';
import { readResult } from './result.ts';

/** Time limit of a run of about one minute, which takes much longer on a busy machine. */
const RUN_MAX_MS = 600_000;
const script = fileURLToPath(new URL('../../../build/bin/dev/bench/bench.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fleetbed-bench-'));
afterAll(() => rmSync(folder, { recursive: true }));

function bench(...args: readonly string[]) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [script, ...args], (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr });
    });
  });
}

describe('npm run bench', () => {
  it('measures one part, and writes the result as JSON', { timeout: RUN_MAX_MS }, async () => {
    const json = join(folder, 'result.json');
    const { code, stdout } = await bench('start', '--quick', '--json', json);
    // The figures depend on the machine, so a goal may be missed by far.
    expect([exitCodes.pass, exitCodes.failed]).toContain(code);
    const { environment, parts } = await readResult('--compare', json);
    expect(Object.keys(environment)).toEqual([
      ...['date', 'machine', 'memory', 'node', 'fleetbed', 'packages', 'cores', 'rates', 'form'],
    ]);
    expect(parts.map(({ name, rows }) => [name, rows.map(({ title }) => title)])).toEqual([
      [
        'start',
        [
          ...['fleetbed --help', 'serve --help', 'serve until its first response'],
          ...['size of dist', 'size of runtime dependencies'],
        ],
      ],
    ]);
    expect(stdout).toMatch(/^\d of 4 goals met/m);
  });

  it('measures for the simulator at least half of its goal', { timeout: RUN_MAX_MS }, async () => {
    const { code, stderr } = await bench('simulator', '--quick');
    // On a machine that is too busy, the figures do not describe the simulator.
    expect([exitCodes.pass, exitCodes.generatorLimited], stderr).toContain(code);
  });

  it.each([
    [['all'], "command-argument value 'all' is invalid"],
    [['--fast'], "unknown option '--fast'"],
  ])('refuses %s with one sentence', async (args, sentence) => {
    const { code, stderr } = await bench(...args);
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('refuses an unwritable result file before it measures', async () => {
    const { code, stderr } = await bench('--json', join(folder, 'none', 'result.json'));
    expect(code).toBe(exitCodes.setUp);
    expect(stderr).toMatch(/^--json cannot write /);
  });
});
