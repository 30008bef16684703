import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newRows } from './new-rows.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const CHECK_MAX_MS = 120_000;

let copy: string;

beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), 'fleetbed-new-case-'));
  for (const name of ['fixtures', 'conformance', 'tsconfig.json', 'package.json']) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});

afterEach(() => rmSync(copy, { recursive: true }));

/** The compiler's errors in these files and in all that they import. */
async function errorsIn(files: readonly string[]): Promise<string> {
  const own = { extends: './tsconfig.json', compilerOptions: { composite: false }, files };
  writeFileSync(join(copy, 'tsconfig.new.json'), JSON.stringify({ ...own, include: [] }));
  const compiler = join(root, 'node_modules/typescript-native/bin/tsc');
  const args = [compiler, '-p', 'tsconfig.new.json', '--noEmit'];
  const told = promisify(execFile)(process.execPath, args, { cwd: copy });
  return told.then(
    () => '',
    (error: { readonly stdout: string }) => error.stdout,
  );
}

describe('a new case with a new requirement', () => {
  it(
    'compiles in the tables of its area, where its requirement is known',
    async () => {
      const rows = newRows(copy, {
        id: 'monitor/alerts-keep-their-order',
        requirement: 'alerts.keep-their-order',
        after: 'alerts.are-shown',
        sentence: 'Alerts of one request are shown in the order in which they were sent.',
      });
      const [requirement, ...others] = rows;
      for (const { path, text } of others) writeFileSync(join(copy, path), text);
      const paths = others.map(({ path }) => path);
      expect(await errorsIn(paths)).toMatch(
        /cases\/monitor\.ts.*alerts\.keep-their-order.*\n.*defects\/monitor\.ts.*alerts\.keep-their-order/s,
      );
      if (requirement) writeFileSync(join(copy, requirement.path), requirement.text);
      expect(await errorsIn(paths)).toBe('');
    },
    CHECK_MAX_MS,
  );
});
