import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCommand } from '../testing/built-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetbed-config-command-'));
afterAll(() => rmSync(folder, { recursive: true }));

const text = `
common: { url: "http://127.0.0.1:1", email: ci@example.com, quiet: true }
serve: { port: 0, control-port: 0, log-level: error }
conform: { rate: 20/s, report: { junit: report.xml }, dry-run: true }
conform judge: { header-prefix: X-MEN }
`;

function fileWith(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const run = (args: readonly string[], content = text, more: Record<string, string> = {}) =>
  runCommand(args, { FLEETBED_CONFIG: fileWith('settings.yaml', content), ...more });

describe('fleetbed config', { timeout: 60_000 }, () => {
  it('shows each setting of a command with its value and its source', async () => {
    const secret = { FLEETBED_PASSWORD: 'not-to-be-shown', FLEETBED_EMAIL: 'me@example.com' };
    const { code, stdout } = await run(['config', 'conform', '--json'], text, secret);
    expect(code).toBe(0);
    const { commands } = JSON.parse(stdout);
    const { settings } = commands[0];
    expect(settings).toContainEqual({ option: '--rate', value: '20/s', source: 'file' });
    expect(settings).toContainEqual({ option: '--jobs', value: '4', source: 'default' });
    expect(settings).toContainEqual({
      option: '--email',
      value: 'me@example.com',
      source: 'environment',
      variable: 'FLEETBED_EMAIL',
    });
    expect(settings).toContainEqual({ option: '--waivers', source: 'unset' });
    expect(stdout).not.toContain('not-to-be-shown');
  });

  it('shows the flags of a command line above variables, the file and defaults', async () => {
    const line = ['--rate', '5/s', '--email', 'flag@example.com', '--password', 'not-to-be-shown'];
    const args = ['config', 'conform', 'authentication/', ...line, '--no-probe', '--json'];
    const variables = { FLEETBED_EMAIL: 'me@example.com', FLEETBED_URL: 'http://127.0.0.1:2' };
    const { code, stdout } = await run(args, text, variables);
    expect(code).toBe(0);
    const [{ settings }] = JSON.parse(stdout).commands;
    const sourceOf = (option: string) =>
      settings.find((each: { readonly option: string }) => each.option === option);
    expect(sourceOf('--rate')).toEqual({ option: '--rate', value: '5/s', source: 'flag' });
    expect(sourceOf('--email')).toMatchObject({ value: 'flag@example.com', source: 'flag' });
    expect(sourceOf('--no-probe')).toMatchObject({ value: 'false', source: 'flag' });
    expect(sourceOf('--url')).toMatchObject({ source: 'environment', variable: 'FLEETBED_URL' });
    expect(sourceOf('--report')).toMatchObject({ source: 'file' });
    expect(sourceOf('--jobs')).toMatchObject({ source: 'default' });
    expect(sourceOf('--password')).toMatchObject({ value: '(not shown)', source: 'flag' });
    expect(stdout).not.toContain('not-to-be-shown');
  });

  it.each([
    [['serve', '--prot', '1'], "unknown option '--prot'\n(Did you mean --port?)"],
    [['--shema'], "unknown option '--shema'\n(Did you mean --schema?)"],
    [['serve', '--port', 'x'], "option '--port <port>' argument 'x' is invalid."],
    [['conform', 'jugde'], 'there is no command "conform jugde"; the nearest commands are conform'],
  ])('refuses a command line that the command does not accept: %j', async (args, sentence) => {
    const { code, stderr } = await run(['config', ...args], '{}');
    expect([code, stderr]).toEqual([2, expect.stringContaining(`fleetbed: ${sentence}`)]);
  });

  it('shows for all commands only what is not a default', async () => {
    const { code, stdout } = await run(['config']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^conform judge\n {2}--header-prefix +X-MEN +file$/m);
    expect(stdout).not.toContain('default');
  });

  it('shows a setting that many commands have in common once, with their names', async () => {
    const { stdout } = await run(['config'], '{}', { FLEETBED_URL: 'http://127.0.0.1:2' });
    expect(stdout.match(/127\.0\.0\.1:2/g)).toHaveLength(1);
    expect(stdout).toMatch(
      /^--url {2}http:\S+ {2}FLEETBED_URL {2}in \d+ commands:\n {2}simulate, /m,
    );
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(100);
  });

  it.each([
    [
      'an unknown command',
      'conform jugde: {json: true}',
      'conform jugde: unknown command; the nearest',
    ],
    ['an unknown option', 'journal: {folow: true}', 'journal: folow: unknown option; the nearest'],
  ])('finds %s in any section, with the nearest names', async (_, content, sentence) => {
    const { code, stderr } = await run(['config'], content);
    expect(code).toBe(3);
    expect(stderr).toContain(sentence);
    expect(stderr).toMatch(/^fleetbed: .*settings\.yaml:1:\d+: .*\n$/);
  });

  it('prints a JSON Schema that accepts the file and refuses wrong values', async () => {
    const { stdout } = await run(['config', '--schema']);
    const accepts = new Ajv2020({ strict: false }).compile(JSON.parse(stdout));
    expect(accepts(parse(text)), JSON.stringify(accepts.errors)).toBe(true);
    expect(accepts({ serve: { prot: 1 } })).toBe(false);
    expect(accepts({ serve: { port: 70_000 } })).toBe(false);
    expect(accepts({ conform: { report: { pdf: 'x' } } })).toBe(false);
    expect(accepts({ conform: { password: 'x' } })).toBe(false);
  });
});

describe('commands with a configuration file', { timeout: 60_000 }, () => {
  it('use its values, also those of a subcommand that is loaded late', async () => {
    const journal = fileWith('empty.ndjson', '');
    const judged = await run(['conform', 'judge', journal], 'conform judge: {url: nonsense}');
    expect(judged.code).toBe(3);
    expect(judged.stderr).toContain('conform judge: url: nonsense is not accepted.');
    const dry = await run(['conform', 'errors/'], text, { FLEETBED_PASSWORD: 'a-long-password' });
    expect(dry.stdout).toContain('no request was sent');
    expect(dry.stderr).toBe('');
  });

  it('still show their help when the file is wrong', async () => {
    const { code, stdout } = await run(['serve', '--help'], 'serve: {prot: 1}');
    expect(code).toBe(0);
    expect(stdout).toContain('--port');
  });
});
