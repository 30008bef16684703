/** `fleetbed report render`: renders a saved result as text, HTML or JUnit. */
import type { Command } from 'commander';
import { fleetReport } from '../../../simulator/report/text.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import { fleetFormats } from '../../options/fleet-formats.ts';
import * as values from '../../options/option-values.ts';
import { writeReports } from '../../options/reports.ts';
import { requireWritable } from '../../output/files.ts';
import { createOutput } from '../../output/output.ts';
import { readResultFile } from './read-result-file.ts';

/** The report formats that have an option, by name. */
const formats = fleetFormats
  .filter(({ title }) => title !== undefined)
  .toSorted((one, other) => one.format.localeCompare(other.format));

interface RenderOptions {
  readonly text?: boolean;
}

/** Adds the options and the action of the subcommand. */
export function configure(command: Command): void {
  const setUp = 'the result cannot be read, or a file cannot be written';
  command.addHelpText('after', exitCodeHelp({ pass: 'done', setUp }));
  addExamples(
    command,
    'fleetbed report render run.json',
    'fleetbed report render run.json --html run.html --junit run.xml',
  );
  command.argument('<result>', 'JSON file of a run or a merge', values.nonEmptyText);
  for (const { format, title } of formats) {
    command.option(`--${format} <file>`, `write ${title}`, values.nonEmptyText);
  }
  command
    .option('--text', 'print the text (default: only if no file is written)')
    .action(async (path: string, { text, ...files }: RenderOptions) => {
      await renderReport(path, files, text);
    });
}

/** Renders the result. @param files output paths by format */
async function renderReport(
  path: string,
  files: Readonly<Record<string, string>>,
  text = Object.keys(files).length === 0,
): Promise<void> {
  for (const [format, file] of Object.entries(files)) await requireWritable(`--${format}`, file);
  const result = await readResultFile('RESULT', path);
  await writeReports(formats, files, result);
  if (text) createOutput(false).line(fleetReport(result));
}
