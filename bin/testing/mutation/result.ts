/** The recorded result of the mutation run, with one row per mutated file, and the score. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beyondTheContract, reasonOf } from './survivor-reasons.ts';

const folders = ['server/api/device', 'server/rules'];
const resultFile = 'bin/testing/mutation/result.json';

/** The number of mutants of one file by outcome. */
export interface MutantCounts {
  /** Digest of the file's source, in hex. */
  readonly sha256: string;
  /** Number of mutants for which a case fails or becomes inconclusive. */
  readonly worse: number;
  /** Number of mutants that change observations of open points, but no verdict. */
  readonly observed: number;
  readonly survived: number;
  /** Number of mutants in code that no request of the suite executes. */
  readonly unreached: number;
  /** Number of ignored mutants, which change only messages or diagnostics (`left-open.mjs`). */
  readonly notMade: number;
  /** The survivors: for each, the source line where it starts, and the replacing code. */
  readonly survivors: readonly string[];
}

/** Rows by file, as a path from the root of the clone. */
export type MutationResult = Readonly<Record<string, MutantCounts>>;

interface MutationScore extends Omit<MutantCounts, 'sha256' | 'survivors'> {
  /**
   * Number of mutants that count: those with a worse verdict, survivors, and mutants in code that
   * is not executed.
   */
  readonly judged: number;
  /** Percentage of the judged mutants that have a worse verdict. */
  readonly percent: number;
}

/**
 * Files that only the management API or a dialect of the reference server needs. The contract says
 * little about them, so the suite has few cases for them.
 */
const managementFiles: ReadonlySet<string> = new Set([
  'server/api/device/delta-job.ts',
  ...[
    'access',
    'artifact-conflict',
    'auth-set-status',
    'deployment-change',
    'deployment-completion',
    'deployment-progress',
    'device-limit',
    'inventory-query',
    'inventory-search',
    'password',
    'pattern',
    'phases',
    'preconditions',
    'provisioning',
    'role-formats',
    'text-search',
  ].map((name) => `server/rules/${name}.ts`),
]);

/** Returns the mutated files, as paths from the root of the clone. */
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

/** Replaces the rows of these files, and drops the rows of files that no longer exist. */
export function recordRows(rows: MutationResult): void {
  const all = { ...readResult(), ...rows };
  const presentRows = mutatedFiles().flatMap((file) => (all[file] ? [[file, all[file]]] : []));
  writeFileSync(resultFile, `${JSON.stringify(Object.fromEntries(presentRows), undefined, 2)}\n`);
}

/** Returns the score of all files, or of the files for devices or for management. */
export function scoreOf(result: MutationResult, side?: 'device' | 'management'): MutationScore {
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

/** Returns the score as text for the guide. */
export function scoreText(result: MutationResult): string {
  const [all, device, management] = [
    scoreOf(result),
    scoreOf(result, 'device'),
    scoreOf(result, 'management'),
  ].map(({ worse, judged, percent }) => `${worse} of ${judged} (${percent.toFixed(1)} percent)`);
  return `${all}: ${device} in what answers devices, ${management} in what only the management API needs`;
}

/** Returns the score of the files for devices, without survivors that are beyond the contract. */
export function contractScoreText(result: MutationResult): string {
  const { worse, judged } = scoreOf(result, 'device');
  const beyond = Object.entries(result)
    .filter(([file]) => !managementFiles.has(file))
    .flatMap(([file, { survivors }]) =>
      survivors.filter((survivor) => reasonOf(file, survivor)?.startsWith(beyondTheContract)),
    ).length;
  const reachable = judged - beyond;
  return `${worse} of ${reachable} (${((100 * worse) / reachable).toFixed(1)} percent)`;
}
