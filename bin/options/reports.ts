/**
 * Report files: `--report FORM=FILE`, for each form in which a command can write its result. Option,
 * help and files are derived from the command's table of forms.
 */
import { printableJson } from '../../fixtures/printable.ts';
import { requireWritable, writeWhole } from '../output/files.ts';
import { fileForms } from './option-values.ts';

/** A form in which a run is written to a file. */
export interface ReportForm<Run> {
  /** The name of the form in `--report FORM=FILE`. */
  readonly form: string;
  /** Returns the content of the file; called only for requested forms. */
  readonly render: (run: Run) => string;
}

/** Paths of files by form. */
export type ReportFiles = Readonly<Record<string, string>>;

/** The row of the option `--report`. @param help makes its help of the list of forms */
export function reportOption<Run>(
  forms: readonly ReportForm<Run>[],
  help: (list: string) => string,
) {
  const names = forms.map(({ form }) => form);
  return {
    flag: '--report <form=file>',
    help: help(fileForms(names, 'or')),
    cli: { kind: 'report-files', forms: names },
  } as const;
}

/** Checks, before the run begins, that every report can be written. @throws CommandError */
export async function prepareReports(files: ReportFiles = {}): Promise<void> {
  for (const [form, path] of Object.entries(files)) {
    await requireWritable(`--report ${form}=FILE`, path);
  }
}

/** Writes the requested reports. @throws CommandError */
export async function writeReports<Run>(
  forms: readonly ReportForm<Run>[],
  files: ReportFiles = {},
  run: Run,
): Promise<void> {
  for (const { form, render } of forms) {
    const path = files[form];
    if (path !== undefined) await writeWhole(path, render(run));
  }
}

/** A value as the text of a JSON file. */
export function jsonFile(value: unknown): string {
  return `${printableJson(JSON.stringify(value, null, 2))}\n`;
}
