/** The recorded result of the mutation run, a row for each file that is mutated, and its score. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const folders = ['server/api/device', 'server/rules'];
const resultFile = 'bin/testing/mutation/result.json';

/** What became of the mutants of one file: how many of each outcome. */
export interface Row {
  /** Of the file's source. */
  readonly sha256: string;
  /** A case fails, or cannot be decided any more. */
  readonly worse: number;
  /** What is observed of open points changes, and no verdict. */
  readonly observed: number;
  readonly survived: number;
  /** No request of the suite runs the code. */
  readonly unreached: number;
  /** Not made, as only words or a diagnosis would change (`left-open.mjs`). */
  readonly notMade: number;
  /** The survivors: the line where each begins, and what takes the place of its code. */
  readonly survivors: readonly string[];
}

/** Rows by file, named from the top of the clone. */
export type MutationResult = Readonly<Record<string, Row>>;

interface Score extends Omit<Row, 'sha256' | 'survivors'> {
  readonly judged: number;
  /** Mutants with a worse verdict, in percent of all that were made. */
  readonly percent: number;
}

/** The files that are mutated, named from the top of the clone. */
export function mutatedFiles(): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .sort()
      .map((name) => `${folder}/${name}`),
  );
}

export function sha256Of(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

export function readResult(): MutationResult {
  return JSON.parse(readFileSync(resultFile, 'utf8'));
}

/** Records rows in place of those of the same files; rows of files that are gone are left out. */
export function recordRows(rows: MutationResult): void {
  const all = { ...readResult(), ...rows };
  const kept = mutatedFiles().flatMap((file) => (all[file] ? [[file, all[file]]] : []));
  writeFileSync(resultFile, `${JSON.stringify(Object.fromEntries(kept), undefined, 2)}\n`);
}

export function scoreOf(result: MutationResult): Score {
  const sum = { worse: 0, observed: 0, survived: 0, unreached: 0, notMade: 0 };
  for (const row of Object.values(result)) {
    for (const outcome of ['worse', 'observed', 'survived', 'unreached', 'notMade'] as const) {
      sum[outcome] += row[outcome];
    }
  }
  const judged = sum.worse + sum.observed + sum.survived + sum.unreached;
  return { ...sum, judged, percent: (100 * sum.worse) / judged };
}
