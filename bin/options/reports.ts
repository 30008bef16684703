/**
 * Writes report files: `--report FORM=FILE`, for each format in which a command can write its
 * result. Option, help and files are derived from the command's table of formats.
 */
import { printableJson } from '../../fixtures/base/printable.ts';
import { requireWritable, writeWhole } from '../output/files.ts';
import { fileForms } from './option-values.ts';

/** A format in which the result of a run can be written to a file. */
export interface ReportForm<Run> {
  /** Name of the format in `--report FORM=FILE`. */
  readonly form: string;
  /** Returns the content of the file. It is called only for requested formats. */
  readonly render: (run: Run) => string;
}

/** The path that stands for standard output. */
const STANDARD_OUTPUT = '-';

/** Paths of report files by format. */
export type ReportFiles = Readonly<Record<string, string>>;

/**
 * Returns the row of the option `--report`.
 * @param help returns the help text for the list of formats
 */
export function reportOption(
  forms: readonly Pick<ReportForm<never>, 'form'>[],
  help: (list: string) => string,
) {
  const names = forms.map(({ form }) => form);
  return {
    flag: '--report <form=file>',
    help: help(fileForms(names, 'or')),
    cli: { kind: 'report-files', forms: names },
  } as const;
}

/** Checks before the run starts that every report can be written. @throws CommandError */
export async function prepareReports(files: ReportFiles = {}): Promise<void> {
  for (const [form, path] of Object.entries(files)) {
    if (path === STANDARD_OUTPUT) continue;
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
    if (path === STANDARD_OUTPUT) process.stdout.write(render(run));
    else if (path !== undefined) await writeWhole(path, render(run));
  }
}

/** Returns a run in a form. @throws RangeError for an unknown form */
export function rendered<Run>(forms: readonly ReportForm<Run>[], wanted: string, run: Run): string {
  const found = forms.find(({ form }) => form === wanted);
  if (found) return found.render(run);
  const known = forms.map(({ form }) => form).join(', ');
  throw new RangeError(`there is no form ${JSON.stringify(wanted)}; use one of ${known}`);
}

/** Returns a value as the content of a JSON file. */
export function jsonFile(value: unknown): string {
  return `${printableJson(JSON.stringify(value, null, 2))}\n`;
}
