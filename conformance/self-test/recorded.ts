/** The committed result of the last self-test, and what of it still holds. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CodeHashes,
  codeHashes,
  invariantJudge,
  modulesById,
  packageFolder,
} from './deciding-code.ts';
import type { Defect } from './defect.ts';
import type { KillMatrix, MatrixRow, MatrixTotals } from './matrix.ts';

/** One defect, with what it takes to doubt its verdict. */
type RecordedRow = Pick<
  MatrixRow,
  | 'id'
  | 'outcome'
  | 'killedBy'
  | 'proves'
  | 'falseCatches'
  | 'alsoBreaks'
  | 'suiteErrors'
  | 'casesRun'
  | 'changes'
>;

/** The committed file: its first line without the defects, then a line for each of them. */
interface RecordedMatrix {
  readonly cases: number;
  readonly totals: MatrixTotals;
  readonly code: CodeHashes;
  readonly defects: readonly RecordedRow[];
}

/** Reads the committed result of the last self-test. */
export function readRecord(): RecordedMatrix {
  const [head = '{}', ...rows] = readFileSync(recordPath(), 'utf8').trimEnd().split('\n');
  return { ...JSON.parse(head), defects: rows.map((row): RecordedRow => JSON.parse(row)) };
}

/** The figures as README says them. */
export function figuresOf({ cases, totals }: RecordedMatrix): string {
  const { defects, killed, equivalent, falseCatches } = totals;
  return (
    `${cases} cases against ${defects} planted defects: ${killed} killed, ` +
    `${equivalent} equivalent, ${falseCatches} false catches`
  );
}

/** The text of README, every white space a blank. */
export function readmeText(): string {
  return readFileSync(join(packageFolder(), 'README.md'), 'utf8').replace(/\s+/g, ' ');
}

/** Finds the recorded result of a defect, where running it on these cases could change nothing. */
export type FindRecorded = (
  defect: Defect,
  touched: ReadonlySet<string>,
) => RecordedRow | undefined;

/** What can be taken from the committed result as the code is now. */
export async function recordedResults(record = readRecord()): Promise<FindRecorded> {
  const now = await codeHashes();
  const modules = await modulesById();
  const rows = new Map(record.defects.map((row) => [row.id, row]));
  const isSame = (path: string): boolean => now[path] === record.code[path];
  if (!isSame(invariantJudge)) return () => undefined;
  const isUnchanged = (id: string): boolean => {
    const path = modules.get(id);
    return path !== undefined && isSame(path);
  };
  return ({ id }, touched) => {
    const row = rows.get(id);
    // The same number of cases, each in an unchanged module, are the same cases.
    if (row?.casesRun !== touched.size) return undefined;
    return [id, ...touched].every(isUnchanged) ? row : undefined;
  };
}

/** The text of the committed file for this result. */
export async function recordText({ cases, totals, rows }: KillMatrix): Promise<string> {
  const head = { cases, totals, code: await codeHashes() };
  const lines = [head, ...rows.map(recordedRow)].map((line) => JSON.stringify(line));
  return `${lines.join('\n')}\n`;
}

/** The path of the committed result, in NDJSON. */
export function recordPath(): string {
  return join(packageFolder(), 'conformance', 'self-test', 'result.ndjson');
}

function recordedRow(row: RecordedRow): RecordedRow {
  const { id, outcome, killedBy, proves, falseCatches, alsoBreaks } = row;
  const { suiteErrors, casesRun, changes } = row;
  return {
    id,
    outcome,
    killedBy,
    proves,
    falseCatches,
    alsoBreaks,
    suiteErrors,
    casesRun,
    changes,
  };
}
