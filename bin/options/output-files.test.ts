import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conformanceFormats } from '../commands/conform/report-formats.ts';
import { commands, programFor } from '../program.ts';
import { addOptionRows } from './option-rows.ts';
import { requireOwnFiles } from './output-files.ts';
import { reportOption } from './reports.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-output-files-'));
  mkdirSync(join(folder, 'real'));
  symlinkSync('real', join(folder, 'link'));
  writeFileSync(join(folder, 'one'), '');
  linkSync(join(folder, 'one'), join(folder, 'other'));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Returns what a command that writes reports and lines says about its options. */
function refusalOf(...args: readonly string[]): string {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  const report = { ...reportOption(conformanceFormats, (list) => list), group: 'Reports' };
  addOptionRows(command, { report }).option('--ndjson <file>').option('--ledger <file>');
  command.parse(['node', 'x', ...args]);
  try {
    requireOwnFiles(command);
    return '';
  } catch (error) {
    return String(error);
  }
}

describe('two outputs of one command', () => {
  it.each([
    [
      ['--report', 'json=F/a', '--report', 'junit=F/a'],
      '--report json=FILE and --report junit=FILE',
    ],
    [['--report', 'json=F/a', '--ndjson', 'F/./real/../a'], '--report json=FILE and --ndjson'],
    [['--ledger', 'F/real/a', '--ndjson', 'F/link/a'], '--ndjson and --ledger'],
    [['--ledger', 'F/one', '--report', 'html=F/other'], '--report html=FILE and --ledger'],
    [['--ledger', 'F/none/a', '--ndjson', 'F/none/a'], '--ndjson and --ledger'],
    [['--ledger', 'F/one/a', '--ndjson', 'F/one/a'], '--ndjson and --ledger'],
  ])('are refused when both go to one file: %j', (args, both) => {
    const refusal = refusalOf(...args.map((word) => word.replace('F/', `${folder}/`)));
    expect(refusal).toContain(`${both} both write to ${folder}/`);
    expect(refusal).toContain('give each a file of its own.');
  });

  it.each([
    [['--report', 'json=F/a', '--report', 'junit=F/b']],
    [['--report', 'json=/dev/null', '--ndjson', '/dev/null']],
    [['--ndjson', '-', '--ledger', '-']],
  ])('may go to two files, or to a device or standard output: %j', (args) => {
    expect(refusalOf(...args.map((word) => word.replace('F/', `${folder}/`)))).toBe('');
  });

  it('are refused by every command that has several, before anything else', async () => {
    const file = join(folder, 'a');
    const several = {
      conform: ['--report', `json=${file}`, '--ndjson', file],
      simulate: ['--report', `json=${file}`, '--events', file],
      demo: ['--report', `json=${file}`, '--report', `junit=${file}`],
      report: ['render', file, '--html', file, '--junit', file],
    };
    for (const [name, args] of Object.entries(several)) {
      expect(Object.keys(commands)).toContain(name);
      const program = await programFor([name, ...args]);
      const quiet = (command: Command): void => {
        command.exitOverride().configureOutput({ writeErr: () => undefined });
        command.commands.forEach(quiet);
      };
      quiet(program);
      await expect(program.parseAsync(['node', 'fleetbed', name, ...args])).rejects.toThrow(
        /both write to .*; give each a file of its own\.$/,
      );
    }
  });
});
