import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { afterAll, describe, expect, it } from 'vitest';
import { CommandError } from '../output/command-error.ts';
import { applyConfigFile, argsFromFile, readConfigFile } from './config-file.ts';
import { addOptionRows } from './option-rows.ts';
import { repeatLine } from './repeat-line.ts';
import { SecretOption } from './secret-option.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetbed-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const rows = {
  port: {
    flag: '--port <port>',
    group: 'A',
    help: 'port',
    cli: { kind: 'port' },
    default: { value: 8080 },
  },
  keys: {
    flag: '--keys <names>',
    group: 'A',
    help: 'keys',
    cli: { kind: 'names', values: ['a', 'b'] },
  },
  report: {
    flag: '--report <format=file>',
    group: 'A',
    help: 'report',
    cli: { kind: 'report-files', formats: ['html', 'junit'] },
  },
  wait: { flag: '--wait <duration>', group: 'A', help: 'wait', cli: { kind: 'duration' } },
  open: { flag: '--open', group: 'A', help: 'open', cli: { kind: 'switch', off: 'not open' } },
} as const;

/** Returns a program with one command, `run`, that takes no action. */
function programWith(): { readonly program: Command; readonly run: Command } {
  const program = new Command('fleetbed').exitOverride();
  const run = program
    .command('run')
    .exitOverride()
    .action(() => undefined);
  addOptionRows(run, rows)
    .addOption(new Option('--url <url>').env('FLEETBED_TEST_URL'))
    .addOption(new SecretOption('--password <text>', 'password', 'FLEETBED_TEST'));
  return { program, run };
}

async function fileWith(text: string) {
  const path = join(folder, 'fleetbed.config.yaml');
  writeFileSync(path, text);
  const file = await readConfigFile({ FLEETBED_CONFIG: path });
  if (file === undefined) throw new Error('the file was not read');
  return file;
}

/** Returns the options of `run` after the file and these arguments. */
async function optionsOf(text: string, ...args: readonly string[]) {
  const { program, run } = programWith();
  applyConfigFile(await fileWith(text), run);
  program.parse(['run', ...args], { from: 'user' });
  return run.opts();
}

describe('a configuration file', () => {
  it('sets numbers, switches, lists, maps and texts as the command line does', async () => {
    const text = 'run: {port: 9000, open: true, keys: [a, b], report: {html: x.html}, wait: 10m}';
    expect(await optionsOf(text)).toMatchObject({
      port: 9000,
      open: true,
      keys: ['a', 'b'],
      report: { html: 'x.html' },
      wait: 600_000,
    });
  });

  it('is overridden by the environment, and both by the command line', async () => {
    const text = 'run: {url: "http://file", port: 9000}';
    expect(await optionsOf(text)).toMatchObject({ url: 'http://file', port: 9000 });
    process.env.FLEETBED_TEST_URL = 'http://environment';
    try {
      expect(await optionsOf(text)).toMatchObject({ url: 'http://environment' });
      expect(await optionsOf(text, '--url', 'http://line', '--port', '1')).toMatchObject({
        url: 'http://line',
        port: 1,
      });
    } finally {
      delete process.env.FLEETBED_TEST_URL;
    }
  });

  it('has a list replaced, not extended, by the same option on the command line', async () => {
    expect(await optionsOf('run: {keys: [a]}', '--keys', 'b')).toMatchObject({ keys: ['b'] });
  });

  it('turns a switch off in the section of a command that is on for all commands', async () => {
    expect(await optionsOf('run: {open: false}')).toMatchObject({ open: false });
    expect(await optionsOf('run: {no-open: true}')).toMatchObject({ open: false });
  });

  it('has a section for all commands, which the section of the command overrides', async () => {
    const text = 'common: {url: "http://all", email: a@b}\nrun: {url: "http://own"}';
    expect(await optionsOf(text)).toMatchObject({ url: 'http://own' });
  });

  it('may be JSON with a schema, or empty', async () => {
    expect(await optionsOf('{"$schema": "x.json", "run": {"port": 1}}')).toMatchObject({ port: 1 });
    expect(await optionsOf('')).toMatchObject({ port: 8080 });
  });

  it('appears as options in the line that repeats a run', async () => {
    const { program, run } = programWith();
    applyConfigFile(await fileWith('run: {report: {html: "a b"}, open: true, port: 1}'), run);
    program.parse(['run', '--port', '2'], { from: 'user' });
    expect(repeatLine(['--port', '2'], run, { ownArguments: [], replaced: [] })).toBe(
      "npx fleetbed run --port 2 --report 'html=a b' --open",
    );
    const [port] = run.options;
    expect(port && argsFromFile(run, port)).toBeUndefined();
  });
});

describe('an error in a configuration file', () => {
  const location = join(folder, 'fleetbed.config.yaml');

  it.each([
    ['run: {prot: 1}', '1:7: run: prot: unknown option; the nearest options are port,'],
    [
      'run: {port: 99999}',
      '1:7: run: port: 99999 is not accepted. Accepted: a whole number from 0',
    ],
    ['run: {port: true}', '1:7: run: port: must be a value for --port <port>'],
    ['run: {open: 1}', '1:7: run: open: must be true or false'],
    ['run:\n  port:', '2:3: run: port: must be a string, a number, true or false, or a list'],
    ['run: {report: {pdf: x}}', '1:7: run: report: pdf=x is not accepted.'],
    [
      'run: {password: x}',
      'run: password: a secret does not belong in this file; set FLEETBED_TEST',
    ],
    [
      'common: {port: 1}',
      '1:10: common: port: not an option for all commands; the nearest options',
    ],
    ['run: 5', '1:1: run: must have options, such as run: {quiet: true}'],
    ['- run', '1:1: the file must have a section for each command, such as serve:'],
    ['run: {', '1:7: '],
  ])('is one sentence with its place: %j', async (text, sentence) => {
    const refused = await optionsOf(text).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(CommandError);
    expect(refused).toMatchObject({ exitCode: 3 });
    expect(String(refused)).toContain(`${location}:`);
    expect(String(refused)).toContain(sentence);
  });

  it('is one sentence for a missing file that the environment names', async () => {
    const missing = join(folder, 'missing.yaml');
    await expect(readConfigFile({ FLEETBED_CONFIG: missing })).rejects.toThrow(
      `FLEETBED_CONFIG cannot read ${missing}: there is no such file or folder`,
    );
  });
});
