/**
 * Writes report files: `--report FORMAT=FILE`, for each format in which a command can write its
 * result. Option, help and files are derived from the command's table of formats.
 */
import { printableJson } from '../../fixtures/base/printable.ts';
import { requireWritable, writeWhole } from '../output/files.ts';
import { formatFiles } from './option-values.ts';

/** A format in which the result of a run can be written to a file. */
export interface ReportFormat<Run> {
  /** Name of the format in `--report FORMAT=FILE`. */
  readonly format: string;
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
  formats: readonly Pick<ReportFormat<never>, 'format'>[],
  help: (list: string) => string,
) {
  const names = formats.map(({ format }) => format);
  return {
    flag: '--report <format=file>',
    help: help(formatFiles(names, 'or')),
    cli: { kind: 'report-files', formats: names },
  } as const;
}

/** Checks before the run starts that every report can be written. @throws CommandError */
export async function prepareReports(files: ReportFiles = {}): Promise<void> {
  for (const [format, path] of Object.entries(files)) {
    if (path === STANDARD_OUTPUT) continue;
    await requireWritable(`--report ${format}=FILE`, path);
  }
}

/** Writes the requested reports. @throws CommandError */
export async function writeReports<Run>(
  formats: readonly ReportFormat<Run>[],
  files: ReportFiles = {},
  run: Run,
): Promise<void> {
  for (const { format, render } of formats) {
    const path = files[format];
    if (path === STANDARD_OUTPUT) process.stdout.write(render(run));
    else if (path !== undefined) await writeWhole(path, render(run));
  }
}

/** Returns a run in a format. @throws RangeError for an unknown format */
export function renderRun<Run>(
  formats: readonly ReportFormat<Run>[],
  wanted: string,
  run: Run,
): string {
  const wantedFormat = formats.find(({ format }) => format === wanted);
  if (wantedFormat) return wantedFormat.render(run);
  const formatNames = formats.map(({ format }) => format).join(', ');
  throw new RangeError(`there is no format ${JSON.stringify(wanted)}; use one of ${formatNames}`);
}

/** Returns a value as the content of a JSON file. */
export function jsonFile(value: unknown): string {
  return `${printableJson(JSON.stringify(value, null, 2))}\n`;
}
