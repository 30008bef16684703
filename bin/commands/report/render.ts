/** `fleetbed report render`: the renderings of a result that was written before. */

import type { Command } from 'commander';
import { fleetHtml } from '../../../simulator/report/html.ts';
import { fleetJunit } from '../../../simulator/report/junit.ts';
import { fleetReport } from '../../../simulator/report/text.ts';
import { addExamples } from '../../options/examples.ts';
import * as values from '../../options/option-values.ts';
import { requireWritable, writeWhole } from '../../output/files.ts';
import { createOutput } from '../../output/output.ts';
import { readResultFile } from './read-result-file.ts';

interface RenderOptions {
  readonly html?: string;
  readonly junit?: string;
  readonly text?: boolean;
}

/** Adds the options of the subcommand and what it does. */
export function configure(command: Command): void {
  addExamples(
    command,
    'fleetbed report render run.json',
    'fleetbed report render run.json --html run.html --junit run.xml',
  );
  command
    .argument('<result>', 'JSON file of a run or a merge', values.filled)
    .option('--html <file>', 'write the HTML report', values.filled)
    .option('--junit <file>', 'write JUnit XML', values.filled)
    .option('--text', 'print the text (default: only if no file is written)')
    .action(async (path: string, options: RenderOptions) => {
      await render(path, options);
    });
}

async function render(path: string, { html, junit, text }: RenderOptions): Promise<void> {
  if (html !== undefined) await requireWritable('--html', html);
  if (junit !== undefined) await requireWritable('--junit', junit);
  const result = await readResultFile('RESULT', path);
  if (html !== undefined) await writeWhole(html, fleetHtml(result));
  if (junit !== undefined) await writeWhole(junit, fleetJunit(result));
  const isTextWanted = text ?? (html === undefined && junit === undefined);
  if (isTextWanted) createOutput(false).line(fleetReport(result));
}
