/** The recorded result of the mutation run, a row for each file that is mutated, and its score. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beyondTheContract, reasonOf } from './survivor-reasons.ts';

const folders = ['server/api/device', 'server/rules'];
const resultFile = 'bin/testing/mutation/result.json';

/** The number of mutants of one file by outcome. */
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
  /** Mutants that change more than what is observed of open points, or nothing at all. */
  readonly judged: number;
  /** Those with a worse verdict, in percent of those judged. */
  readonly percent: number;
}

/**
 * What only the management API or a dialect of our server needs: the contract says little of it, and
 * the suite asks little.
 */
const managementFiles: ReadonlySet<string> = new Set([
  'server/api/device/delta-job.ts',
  ...[
    'access',
    'artifact-conflict',
    'auth-set-status',
    'deployment-change',
    'deployment-completion',
    'deployment-status',
    'device-limit',
    'inventory-query',
    'inventory-search',
    'password',
    'pattern',
    'phases',
    'preconditions',
    'provisioning',
    'role-forms',
    'text-search',
  ].map((name) => `server/rules/${name}.ts`),
]);

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

/** The score of all files, or of those on one side. */
export function scoreOf(result: MutationResult, side?: 'device' | 'management'): Score {
  const sum = { worse: 0, observed: 0, survived: 0, unreached: 0, notMade: 0 };
  for (const [file, row] of Object.entries(result)) {
    if (side !== undefined && managementFiles.has(file) !== (side === 'management')) continue;
    for (const outcome of ['worse', 'observed', 'survived', 'unreached', 'notMade'] as const) {
      sum[outcome] += row[outcome];
    }
  }
  const judged = sum.worse + sum.survived + sum.unreached;
  return { ...sum, judged, percent: (100 * sum.worse) / judged };
}

/** The score as the guide says it. */
export function scoreText(result: MutationResult): string {
  const [all, device, management] = [
    scoreOf(result),
    scoreOf(result, 'device'),
    scoreOf(result, 'management'),
  ].map(({ worse, judged, percent }) => `${worse} of ${judged} (${percent.toFixed(1)} percent)`);
  return `${all}: ${device} in what answers devices, ${management} in what only the management API needs`;
}

/** The score of what answers devices, without survivors that are beyond the contract. */
export function contractScoreText(result: MutationResult): string {
  const { worse, judged } = scoreOf(result, 'device');
  const beyond = Object.entries(result)
    .filter(([file]) => !managementFiles.has(file))
    .flatMap(([file, { survivors }]) =>
      survivors.filter((survivor) => reasonOf(file, survivor)?.startsWith(beyondTheContract)),
    ).length;
  const left = judged - beyond;
  return `${worse} of ${left} (${((100 * worse) / left).toFixed(1)} percent)`;
}
