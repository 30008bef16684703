import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleSource, expectKeptDuties } from '../testing/example-client.ts';
import { headerFolders } from '../testing/test-tools.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetbed-example-c-'));
const program = join(folder, 'client');
let warnings = '';

beforeAll(() => {
  const checks = [
    '-std=c99',
    '-Wall',
    '-Wextra',
    '-pedantic',
    '-O2',
    '-fsanitize=address,undefined',
  ];
  const folders = headerFolders.flatMap((each) => ['-isystem', each]);
  const libraries = ['-l:libcurl.so.4', '-lcrypto', '-lz'];
  const args = [...checks, ...folders, '-o', program, exampleSource('client.c'), ...libraries];
  warnings = spawnSync('cc', args, { encoding: 'utf8' }).stderr;
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the example client in C', { timeout: 900_000 }, () => {
  it('compiles as C99 without a warning of the compiler', () => {
    expect(warnings).toBe('');
  });

  it('breaks no MUST in the quick client test, nor after it was killed at any moment', () =>
    expectKeptDuties([program]));
});
