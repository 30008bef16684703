import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const EXAMPLE_MAX_MS = 60_000;
const root = fileURLToPath(new URL('../..', import.meta.url));
const guide = readFileSync(join(root, 'server', 'guide.md'), 'utf8');
const blocks = [...guide.matchAll(/```ts\n(.*?)```/gs)].map(([, block = '']) => block);
const example = blocks.find((block) => block.includes("from 'fleetbed'")) ?? '';

/** The strictest compiler settings that a user may choose. */
const compilerOptions = {
  target: 'es2023',
  module: 'nodenext',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  noEmit: true,
};

let folder: string;

beforeAll(() => {
  // The folder is inside the package, so that the example can import the package by its name.
  mkdirSync(join(root, 'dist'), { recursive: true });
  folder = mkdtempSync(join(root, 'dist', 'embedding-'));
  writeFileSync(join(folder, 'vitest.config.mjs'), 'export default {};');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Writes the text as the test of a user, and runs a program of an installed package on it. */
async function run(text: string, program: string, ...args: readonly string[]) {
  writeFileSync(join(folder, 'client.test.ts'), text);
  const options = { cwd: folder, timeout: EXAMPLE_MAX_MS, env: { PATH: process.env.PATH } };
  return promisify(execFile)(
    process.execPath,
    [join(root, 'node_modules', program), ...args],
    options,
  ).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  );
}

const vitest = (text: string) =>
  run(text, 'vitest/vitest.mjs', 'run', '--root', folder, '--reporter', 'json');

describe('the embedding example of the guide', () => {
  it(
    'passes as a test',
    async () => {
      const { code, stdout } = await vitest(example);
      const report = JSON.parse(stdout);
      expect([code, report.numPassedTests, report.numTotalTests]).toEqual([0, 2, 2]);
    },
    EXAMPLE_MAX_MS,
  );

  it(
    'fails when its client misbehaves',
    async () => {
      const withoutRetry = example.replace(
        '=== 401) await authenticate()',
        '=== 403) await authenticate()',
      );
      expect(withoutRetry).not.toBe(example);
      const { code, stdout } = await vitest(withoutRetry.replace('while', 'if'));
      expect([code, JSON.parse(stdout).numFailedTests]).toEqual([1, 2]);
    },
    EXAMPLE_MAX_MS,
  );

  it(
    'is fully typed, including responses',
    async () => {
      const tsc = (text: string) => run(text, 'typescript/lib/tsc.js', '-p', folder);
      const wrong = example
        .replace('body.count', 'body.counts')
        .replace("'count-devices'", "'count-all'")
        .replace('clock.advance(', 'clock.advance(`7`, ');
      const [right, broken] = [await tsc(example), await tsc(wrong)];
      expect([right.code, right.stdout]).toEqual([0, '']);
      expect(broken.stdout).toContain('count-all');
      expect(broken.stdout).toContain('Expected 1 arguments');
    },
    EXAMPLE_MAX_MS,
  );
});
