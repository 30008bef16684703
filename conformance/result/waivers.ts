/**
 * Waivers: known failures, each with an owner, that are tolerated until a day. A waiver that is
 * expired or no longer needed fails the run, so that obsolete waivers are removed.
 */
import * as v from 'valibot';
import { readYaml } from '../../fixtures/yaml-text.ts';
import { SetupError } from '../target/setup-error.ts';
import type { CaseVerdict, RunProblem, WaiverRow } from './result.ts';

const filled = v.pipe(v.string(), v.trim(), v.nonEmpty('must not be empty'));

const waiverShape = v.strictObject({
  /** The full id of a case. */
  check: filled,
  reason: filled,
  owner: filled,
  /** The last day on which the waiver is valid, in UTC. */
  expires: v.pipe(v.string(), v.isoDate('must be a day such as 2026-12-31')),
});
const waiversShape = v.strictObject({ waivers: v.array(waiverShape) });

/** One waiver of the file. */
export type Waiver = v.InferOutput<typeof waiverShape>;

/** The file of waivers is invalid. */
export class WaiverFileError extends SetupError {
  readonly code = 'waivers-unreadable';

  constructor(file: string, problems: readonly string[]) {
    super(
      `the waivers cannot be used: ${problems.map((problem) => `${file}:${problem}`).join('; ')}`,
    );
    this.name = 'WaiverFileError';
  }
}

/**
 * Parses waivers from YAML or JSON. Throws a WaiverFileError with line and column of each problem.
 * @param file the name of the file, for the messages
 */
export function readWaivers(text: string, file: string): readonly Waiver[] {
  const read = readYaml(text, waiversShape);
  if ('problems' in read) {
    const problems = read.problems.map(
      ({ line, column, message }) => `${line}:${column} ${message}`,
    );
    throw new WaiverFileError(file, problems);
  }
  const { waivers } = read.content;
  const repeated = waivers.findIndex(({ check }, index) =>
    waivers.slice(0, index).some((earlier) => earlier.check === check),
  );
  if (repeated === -1) return waivers;
  const { line, column } = read.placeOf(['waivers', repeated, 'check']);
  const problem = `${line}:${column} ${waivers[repeated]?.check} has a waiver already`;
  throw new WaiverFileError(file, [problem]);
}

/** The verdicts after waivers were applied, the state of each waiver, and the problems found. */
export interface Waived {
  readonly verdicts: readonly CaseVerdict[];
  readonly waivers: readonly WaiverRow[];
  readonly problems: readonly RunProblem[];
}

/**
 * Attaches waivers to failed cases. A waiver that is expired, needless or for an unknown case is a
 * problem.
 * @param known the current day in ISO 8601 and UTC, and the ids of all cases of the suite
 */
export function applyWaivers(
  verdicts: readonly CaseVerdict[],
  waivers: readonly Waiver[],
  known: { readonly today: string; readonly ids: ReadonlySet<string> },
): Waived {
  const rows = waivers.map(({ check, ...rest }): WaiverRow => {
    const verdict = verdicts.find(({ id }) => id === check)?.verdict;
    return { caseId: check, ...rest, state: stateOf({ check, ...rest }, verdict, known) };
  });
  const used = new Map(
    rows.filter(({ state }) => state === 'used').map((row) => [row.caseId, row]),
  );
  return {
    verdicts: verdicts.map((each) => {
      const row = used.get(each.id);
      if (!row) return each;
      const { reason, owner, expires } = row;
      return { ...each, waiver: { reason, owner, expires } };
    }),
    waivers: rows,
    problems: rows.flatMap(problemOf),
  };
}

function stateOf(
  { check, expires }: Waiver,
  verdict: CaseVerdict['verdict'] | undefined,
  { today, ids }: { readonly today: string; readonly ids: ReadonlySet<string> },
): WaiverRow['state'] {
  if (!ids.has(check)) return 'unknown-case';
  if (expires < today) return 'expired';
  if (verdict === 'fail') return 'used';
  return verdict === 'pass' || verdict === 'observed' ? 'needless' : 'idle';
}

function problemOf({ caseId, state, owner, expires }: WaiverRow): readonly RunProblem[] {
  const whose = `the waiver of ${owner} on ${caseId}`;
  switch (state) {
    case 'expired':
      return [
        {
          code: 'waiver-expired',
          text: `${whose} expired on ${expires}; fix the cause or renew it`,
        },
      ];
    case 'needless':
      return [
        {
          code: 'waiver-needless',
          text: `${whose} is no longer needed: the case passes; remove it`,
        },
      ];
    case 'unknown-case':
      return [
        { code: 'waiver-unknown-case', text: `${whose} matches no case; --list shows them all` },
      ];
    default:
      return [];
  }
}
