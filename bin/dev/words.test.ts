import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('words.mjs', import.meta.url));

/** Checks a repository of these files, and returns what is wrong, a line for each error. */
function check(files: Readonly<Record<string, string>>): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'fleetbed-words-'));
  spawnSync('git', ['init', '--quiet'], { cwd: folder });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: folder });
  const lines = String(stderr).split('\n').slice(0, -1);
  expect(status).toBe(lines.length === 0 ? 0 : 1);
  return lines;
}

const names = ['dropTransfer', 'LintFinding', 'Lint', 'ANSWER_MAX_BYTES', 'openLane', 'lackIn'];

describe('the check of words', () => {
  it('finds identifiers in comments that no code has, and accepts those that code has', () => {
    const [drop, finding, lint, max, lane, lack] = names;
    const commented = `/** Uses \`${drop}\`,\n * \`${finding}[]\` and \`${lint}\`. */
const x = 1; // Up to \`${max}\`.
// Calls \`this.#${lane}\` and \`rights.${lack}(x, y)\`, not \`X-Request-Id\`, \`auth.first\` or \`GET\`.\n`;
    const lines = [1, 2, 2, 3, 4, 4];
    expect(check({ 'a.ts': commented })).toEqual(
      names.map(
        (name, at) =>
          `a.ts:${lines[at]}: no code has the name \`${name}\`: write the present name, or plain words`,
      ),
    );
    expect(check({ 'a.ts': commented, 'b.mjs': `const all = [${names}];\n` })).toEqual([]);
  });

  it('finds the description of a parameter that the function does not have', () => {
    const docstring = '/**\n * Moves a file.\n * @param place where it is\n */\n';
    const files = {
      'a.ts': `${docstring}export function move(location: string): void {}\n`,
      'b.ts': `${docstring}export function move(place: string): void {}\n`,
    };
    expect(check(files)).toEqual([
      'a.ts:3: the function has no parameter place: name a present one, or use a sentence',
    ]);
  });

  it('finds a test title that is the name of a function', () => {
    const files = {
      'a.test.ts': "describe('lanesOf', () => {});\n",
      'b.test.ts': "describe('the lanes of a run', () => {});\n",
    };
    expect(check(files)).toEqual([
      'a.test.ts:1: "lanesOf" is an identifier: write it in backquotes, or in plain words',
    ]);
  });
});
