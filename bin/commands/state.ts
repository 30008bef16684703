/** `fleetbed state`: exports a data folder to a plain SQLite file, and imports such a file. */
import type { Command } from 'commander';
import { systemRandom } from '../../fixtures/base/random.ts';
import { StateError } from '../../server/store/engine/state-error.ts';
import { exportState } from '../../server/store/folder/export.ts';
import { importState } from '../../server/store/folder/import.ts';
import { addExamples } from '../options/examples.ts';
import { exitCodeHelp } from '../options/exit-code-help.ts';
import * as values from '../options/option-values.ts';
import { jsonOption } from '../options/shared-options.ts';
import { CommandError } from '../output/command-error.ts';
import { type ExitCode, exitCodes } from '../output/exit-codes.ts';
import { requireWritable } from '../output/files.ts';
import { createOutput } from '../output/output.ts';

const TOKEN_BYTES = 32;

const folderUnusable =
  'the folder or file cannot be used: a server uses it, it has another version, the target folder is not empty, or it contains no state';
const exportCodes = exitCodeHelp({
  pass: 'everything was saved',
  failed: 'saved in part: the folder is damaged; standard error lists what is lost',
  setUp: folderUnusable,
});
const importCodes = exitCodeHelp({ pass: 'everything was imported', setUp: folderUnusable });

const help = `
The file is a plain SQLite database: tables as the server keeps them, with the ID of the
tenant first, and artifact files in parts of 1 MiB (artifact_files). It has password hashes, tokens
of tenants and the keys that sign tokens and links. Keep it private: whoever reads it can act as any
user or device. In a string with a NUL, each NUL is stored as SUB 0, and each SUB as SUB SUB.
`;

interface StateExportOptions {
  readonly data: string;
  readonly out: string;
  readonly json?: boolean;
}

interface ImportOptions {
  readonly data: string;
  readonly json?: boolean;
}

/** Adds the subcommands of `fleetbed state` with their actions. */
export function configure(command: Command): void {
  command.addHelpText('after', help);
  addExamples(
    command,
    'fleetbed state export --data state --out state.sqlite',
    'fleetbed state import state.sqlite --data copy',
  );
  addExamples(command.command('export'), 'fleetbed state export --data state --out state.sqlite')
    .addHelpText('after', exportCodes)
    .description(
      'save a data folder to one SQLite file; from a damaged folder, everything that is readable',
    )
    .requiredOption(
      '--data <folder>',
      'data folder of a server that is not running',
      values.nonEmptyText,
    )
    .requiredOption('--out <file>', 'file to write', values.nonEmptyText)
    .addOption(jsonOption())
    .action(async (options: StateExportOptions) => {
      process.exitCode = await exportFolder(options);
    });
  addExamples(command.command('import'), 'fleetbed state import state.sqlite --data copy')
    .addHelpText('after', importCodes)
    .description('create a data folder from an exported file')
    .argument('<file>', 'file written by fleetbed state export', values.nonEmptyText)
    .requiredOption('--data <folder>', 'new or empty folder', values.nonEmptyText)
    .addOption(jsonOption())
    .action(async (file: string, options: ImportOptions) => {
      process.exitCode = await importFolder(file, options);
    });
}

async function exportFolder({ data, out, json = false }: StateExportOptions): Promise<ExitCode> {
  await requireWritable('--out', out);
  const newToken = () => systemRandom.bytes(TOKEN_BYTES).toString('base64url');
  const exportedState = await exportState({ folder: data, out, newToken }).catch(throwCommandError);
  const output = createOutput(json);
  for (const sentence of exportedState.lost) output.warn(`lost: ${sentence}`);
  const { tenants, rows, artifactFiles } = exportedState;
  if (json) output.data(exportedState);
  else output.line(`${out}: tenants ${tenants}, rows ${rows}, artifact files ${artifactFiles}`);
  return exportedState.lost.length === 0 ? exitCodes.pass : exitCodes.failed;
}

async function importFolder(
  file: string,
  { data, json = false }: ImportOptions,
): Promise<ExitCode> {
  const result = await importState(file, data).catch(throwCommandError);
  const output = createOutput(json);
  const { tenants, rows, artifactFiles, rowsLeftOut } = result;
  if (rowsLeftOut > 0)
    output.warn(`left out: ${rowsLeftOut} rows that break a constraint of the tables`);
  if (json) output.data(result);
  else output.line(`${data}: tenants ${tenants}, rows ${rows}, artifact files ${artifactFiles}`);
  return exitCodes.pass;
}

function throwCommandError(error: unknown): never {
  if (!(error instanceof StateError)) throw error;
  throw new CommandError(error.message, exitCodes.setUp, error);
}
