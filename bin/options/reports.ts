/** Report files: `--report json=FILE`, `--report junit=FILE`, and `--report html=FILE` of runs that have a page. */
import { printableJson } from '../../fixtures/printable.ts';
import { requireWritable, writeWhole } from '../output/files.ts';
import type { ReportFiles } from './option-values.ts';

/** The renderings of one run's result. */
export interface Renderings {
  /** The result object itself. */
  readonly json: unknown;
  /** The JUnit document; called only when it is wanted. */
  readonly junit: () => string;
  /** The page of a run that has one; called only when it is wanted. */
  readonly html?: () => string;
}

/** Makes sure, before the run begins, that every report can be written. @throws CommandFault */
export async function prepareReports(files: ReportFiles = {}): Promise<void> {
  for (const [form, path] of Object.entries(files)) {
    await requireWritable(`--report ${form}=FILE`, path);
  }
}

/** Writes the reports that were asked for. @throws CommandFault */
export async function writeReports(
  files: ReportFiles | undefined,
  { json, junit, html }: Renderings,
): Promise<void> {
  if (files?.json !== undefined)
    await writeWhole(files.json, `${printableJson(JSON.stringify(json, null, 2))}\n`);
  if (files?.junit !== undefined) await writeWhole(files.junit, junit());
  if (files?.html !== undefined && html) await writeWhole(files.html, html());
}
