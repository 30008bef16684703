/**
 * `npm run check`: checks types, format and lint, unused code, import directions, and words. Two
 * checks run at a time; each prints its output when it has ended.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const AT_A_TIME = 2;
const root = fileURLToPath(new URL('../..', import.meta.url));
const tool = (path) => join(root, 'node_modules', path);

const checks = [
  ['types', join(root, 'bin/dev/setup.mjs'), '--types'],
  ['format and lint', tool('@biomejs/biome/bin/biome'), 'ci', '--error-on-warnings', '.'],
  ['unused code', tool('knip/bin/knip.js')],
  ['imports', join(root, 'bin/dev/check-imports.mjs')],
  ['words', join(root, 'bin/dev/words.mjs')],
];

/** Runs a check, and prints its output in one piece. */
async function run([name, ...words]) {
  const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
  }
  const code = await new Promise((resolve) => child.once('close', resolve));
  process.stdout.write(`${name}: ${code === 0 ? 'passed' : 'FAILED'}\n${said}`);
  if (code !== 0) process.exitCode = 1;
}

const waiting = [...checks];
const worker = async () => {
  for (let next = waiting.shift(); next; next = waiting.shift()) await run(next);
};
await Promise.all(Array.from({ length: AT_A_TIME }, worker));
