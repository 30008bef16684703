import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeReadsTypeScript } from '../../../simulator/behaviours/behaviour-file.ts';
import { behaviours } from '../../../simulator/behaviours/catalogue.ts';
import { runCommand } from '../../testing/built-command.ts';

const example = (ending: string) =>
  fileURLToPath(new URL(`../../../simulator/behaviours/example.${ending}`, import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-behaviours-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

interface Row {
  readonly name: string;
  readonly description: string;
  readonly expectedServerBehaviour: string;
  readonly parameters: readonly { name: string; value: number; unit: string }[];
  readonly hooks: readonly string[];
}

describe('fleetbed simulate behaviours', () => {
  it('describes each behaviour, its treatment by a good server, and its parameters', async () => {
    const { code, stdout } = await runCommand(['simulate', 'behaviours']);
    expect(code).toBe(0);
    for (const { name, description, expectedServerBehaviour } of behaviours.values()) {
      expect(stdout).toContain(`${name}\n  ${description}\n`);
      expect(stdout).toContain(`  server:      ${expectedServerBehaviour}\n`);
    }
    expect(stdout).toContain('installMs 20000 ms, rebootMs 40000 ms');
    expect(stdout).toContain("nightFromHour 22 o'clock UTC");
  });

  it('prints the behaviours as JSON, including those of a behaviour file', async () => {
    const args = ['simulate', 'behaviours', '--json', '--behaviour-file', example('mjs')];
    const { code, stdout } = await runCommand(args);
    expect(code).toBe(0);
    const rows = JSON.parse(stdout) as Row[];
    expect(rows.map(({ name }) => name)).toEqual([...behaviours.keys(), 'doubtful-battery']);
    expect(rows.find(({ name }) => name === 'floods')).toMatchObject({
      parameters: expect.arrayContaining([{ name: 'pollMs', value: 20, unit: 'ms' }]),
      hooks: ['nextCycleMs'],
    });
  });

  it('reads a TypeScript file if Node can, and otherwise names the required version', async () => {
    const args = ['simulate', 'behaviours', '--behaviour-file', example('ts')];
    const { code, stdout, stderr } = await runCommand(args);
    expect(code).toBe(nodeReadsTypeScript ? 0 : 2);
    if (nodeReadsTypeScript) expect(stdout).toContain('doubtful-battery');
    else
      expect(stderr).toMatch(
        /^[^\n]*does not read TypeScript; use Node 22\.18 or newer, or Java.*\n$/,
      );
  });

  it.each([
    [['behaviours', '--behaviour-file', 'none.mjs'], /none\.mjs: cannot be read: Cannot find/],
    [['--behaviour-file', 'none.mjs'], /none\.mjs: cannot be read: Cannot find/],
    [['--behaviour-parameter', 'slow'], /Accepted: BEHAVIOUR\.NUMBER=VALUE, such as slow/],
    [
      ['--behaviour-parameter', 'slow.speed=3'],
      /slow has no parameter speed; its parameters are installMs, rebootMs/,
    ],
    [['--behaviour-parameter', 'slow.installMs=-3'], /slow installMs must be a whole number/],
    [['--behaviour-parameter', 'snail.installMs=3'], /snail is not a known behaviour/],
  ])('refuses the arguments %j with one sentence', async (args, sentence) => {
    const { code, stdout, stderr } = await runCommand(['simulate', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('refuses a faulty behaviour file with one sentence, without a stack', async () => {
    const path = join(folder, 'wrong.mjs');
    writeFileSync(path, "export default { name: 'mine', hooks: {} };");
    const { code, stderr } = await runCommand(['simulate', '--behaviour-file', path]);
    expect(code).toBe(2);
    expect(stderr.trimEnd()).toMatch(/wrong\.mjs: description is missing$/);
  });
});
