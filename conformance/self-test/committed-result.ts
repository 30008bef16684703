/** The committed result of the last self-test, and the rows of it that are still valid. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Defect } from './defect.ts';
import { needsNoFix } from './judgement.ts';
import type { KillMatrix, MatrixRow, MatrixTotals } from './matrix.ts';
import {
  type CodeHashes,
  codeHashes,
  modulesById,
  packageFolder,
  suiteTrafficJudge,
} from './source-hashes.ts';

/** The outcome of one defect as committed, with the facts needed to verify it. */
type CommittedRow = Pick<
  MatrixRow,
  | 'id'
  | 'outcome'
  | 'killedBy'
  | 'proves'
  | 'falseFailures'
  | 'alsoViolates'
  | 'suiteErrors'
  | 'casesRun'
  | 'changes'
>;

/** The committed file. Its first line has everything but the defects, which follow one a line. */
interface CommittedMatrix {
  readonly cases: number;
  readonly totals: MatrixTotals;
  readonly code: CodeHashes;
  readonly defects: readonly CommittedRow[];
}

/** Reads the committed result of the last self-test. */
export function readCommittedResult(): CommittedMatrix {
  const [head = '{}', ...rows] = readFileSync(committedResultPath(), 'utf8').trimEnd().split('\n');
  return { ...JSON.parse(head), defects: rows.map((row): CommittedRow => JSON.parse(row)) };
}

/** Returns the sentence with the totals that README must contain. */
export function figuresOf({ cases, totals }: CommittedMatrix): string {
  const { defects, killed, equivalent, falseFailures, casesRun } = totals;
  return (
    `${cases} cases against ${defects} planted defects: ${killed} killed, ` +
    `${equivalent} equivalent, ${falseFailures} false failures in ${casesRun} case runs`
  );
}

/** Returns the text of README with each run of white space replaced by one space. */
export function readmeText(): string {
  return readFileSync(join(packageFolder(), 'README.md'), 'utf8').replace(/\s+/g, ' ');
}

/**
 * Returns the committed row of a defect if the code that determines its outcome is unchanged;
 * otherwise undefined.
 */
export type FindCommittedRow = (
  defect: Defect,
  touched: ReadonlySet<string>,
) => CommittedRow | undefined;

/** Returns the function that finds the committed rows that are valid for the current code. */
export async function loadCommittedRows(result = readCommittedResult()): Promise<FindCommittedRow> {
  const currentHashes = await codeHashes();
  const modules = await modulesById();
  const rows = new Map(result.defects.map((row) => [row.id, row]));
  const isSame = (path: string): boolean => currentHashes[path] === result.code[path];
  if (!isSame(suiteTrafficJudge)) return () => undefined;
  const isUnchanged = (id: string): boolean => {
    const path = modules.get(id);
    return path !== undefined && isSame(path);
  };
  return ({ id }, touched) => {
    const row = rows.get(id);
    // If their number is equal and all their modules are unchanged, the cases are the same. A row
    // that is to be corrected is made again, since a case that it names may no longer be touched.
    if (row?.casesRun !== touched.size || !needsNoFix(row)) return undefined;
    return [id, ...touched].every(isUnchanged) ? row : undefined;
  };
}

/** Formats a result as the text of the committed file. */
export async function formatCommittedResult({ cases, totals, rows }: KillMatrix): Promise<string> {
  const head = { cases, totals, code: await codeHashes() };
  const lines = [head, ...rows.map(committedRow)].map((line) => JSON.stringify(line));
  return `${lines.join('\n')}\n`;
}

/** Returns the path of the committed result, which is NDJSON. */
export function committedResultPath(): string {
  return join(packageFolder(), 'conformance', 'self-test', 'result.ndjson');
}

function committedRow(row: CommittedRow): CommittedRow {
  const { id, outcome, killedBy, proves, falseFailures, alsoViolates } = row;
  const { suiteErrors, casesRun, changes } = row;
  return {
    id,
    outcome,
    killedBy,
    proves,
    falseFailures,
    alsoViolates,
    suiteErrors,
    casesRun,
    changes,
  };
}
