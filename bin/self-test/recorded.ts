/** The committed result of the last whole self-test, and what it was made from. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KillMatrix, MatrixRow, MatrixTotals } from '../../conformance/self-test/matrix.ts';
import { FOR_ALL, writeWhole } from '../files.ts';

/** What decides the result, beside the machinery: cases, model, defects, requirements. */
const decidingFolders = [
  'conformance/cases',
  'conformance/model',
  'conformance/self-test/defects',
  'fixtures/contract/requirements',
];

/** One defect, with what it takes to doubt its verdict. */
type RecordedRow = Pick<
  MatrixRow,
  'id' | 'outcome' | 'killedBy' | 'proves' | 'stumbles' | 'played' | 'untouched'
> & {
  readonly falseCatches: readonly string[];
};

/** The committed file. */
interface RecordedMatrix {
  readonly cases: number;
  readonly totals: MatrixTotals;
  /** Over the source text of cases, model, defects and requirements. */
  readonly sourceHash: string;
  readonly defects: readonly RecordedRow[];
}

/** The folder of the package, whether this runs from the sources or from the built folder. */
function packageFolder(): string {
  const places = ['../../', '../../../'].map((place) => new URL(place, import.meta.url));
  const found = places.find((place) => existsSync(new URL('package.json', place)));
  if (!found) throw new Error('package.json is missing beside the built folder');
  return fileURLToPath(found);
}

/** Where the result is committed. */
function recordPath(): string {
  return join(packageFolder(), 'conformance', 'self-test', 'result.json');
}

/** SHA-256 over all that decides the result, tests apart. */
export function sourceHash(): string {
  const root = packageFolder();
  const files = decidingFolders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /(?<!\.test)\.ts$/.test(entry.name))
        .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/')),
    )
    .sort();
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

/** The committed result. */
export function readRecord(): RecordedMatrix {
  return JSON.parse(readFileSync(recordPath(), 'utf8'));
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

/** Writes the result for committing, a line for each defect so that changes can be read. */
export async function record(matrix: KillMatrix): Promise<void> {
  const { cases, totals } = matrix;
  const { defects, ...facts }: RecordedMatrix = {
    cases,
    totals,
    sourceHash: sourceHash(),
    defects: matrix.rows.map(recordedRow),
  };
  const head = JSON.stringify(facts, null, 2);
  const lines = defects.map((row) => `    ${JSON.stringify(row)}`);
  const text = `${head.slice(0, -2)},\n  "defects": [\n${lines.join(',\n')}\n  ]\n}\n`;
  await writeWhole(recordPath(), text, FOR_ALL);
}

function recordedRow(row: MatrixRow): RecordedRow {
  const { id, outcome, killedBy, proves, stumbles, played, untouched } = row;
  const falseCatches = row.falseCatches.map(({ caseId }) => caseId);
  return { id, outcome, killedBy, proves, falseCatches, stumbles, played, untouched };
}
