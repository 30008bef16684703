/**
 * Waivers: known failures, each with an owner, that are tolerated until a day. A waiver that is
 * expired or no longer needed fails the run, so that obsolete waivers are removed.
 */
import * as v from 'valibot';
import { readYaml } from '../../fixtures/base/yaml-text.ts';
import { presentId } from '../suite/former-ids.ts';
import { UnknownIdError, withNearest } from '../suite/selection.ts';
import { SetupError } from '../target/setup-error.ts';
import { causeOf, type TestedRequirements } from './causes.ts';
import { type CaseVerdict, endCodes, type RunProblem, type WaiverRow } from './result.ts';

const filled = v.pipe(v.string(), v.trim(), v.nonEmpty('must not be empty'));

const waiverShape = v.strictObject({
  /** The full ID of a case, or the ID of a duty. */
  id: filled,
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
 * Parses waivers from YAML or JSON. Throws a WaiverFileError with line and column of each problem,
 * and an UnknownIdError for waivers of an unknown ID.
 * @param file the name of the file, for the messages
 * @param ids the IDs that a waiver may name
 * @param what the kind of these IDs, for the messages: of cases, or of the duties of a client
 */
export function readWaivers(
  text: string,
  file: string,
  ids: readonly string[],
  what: 'case' | 'duty' = 'case',
): readonly Waiver[] {
  const document = readYaml(text, waiversShape);
  if ('problems' in document) {
    const problems = document.problems.map(
      ({ line, column, message }) => `${line}:${column} ${message}`,
    );
    throw new WaiverFileError(file, problems);
  }
  const waivers = document.content.waivers.map((each) => ({ ...each, id: presentId(each.id) }));
  const repeatedIndex = waivers.findIndex(({ id }, index) =>
    waivers.slice(0, index).some((earlierWaiver) => earlierWaiver.id === id),
  );
  const locationOf = (index: number): string => {
    const { line, column } = document.positionOf(['waivers', index, 'id']);
    return `${line}:${column}`;
  };
  if (repeatedIndex !== -1) {
    const problem = `${locationOf(repeatedIndex)} ${waivers[repeatedIndex]?.id} has a waiver already`;
    throw new WaiverFileError(file, [problem]);
  }
  const unknownIdLines = waivers.flatMap(({ id }, index) =>
    ids.includes(id) ? [] : [`${file}:${locationOf(index)} ${withNearest(id, ids)}`],
  );
  if (unknownIdLines.length === 0) return waivers;
  throw new UnknownIdError(`no ${what} has the ID of a waiver: ${unknownIdLines.join('; ')}`);
}

/** The verdicts after waivers were applied, the state of each waiver, and the problems found. */
export interface WaivedVerdicts {
  readonly verdicts: readonly CaseVerdict[];
  readonly waivers: readonly WaiverRow[];
  readonly problems: readonly RunProblem[];
}

/**
 * Attaches waivers to the cases that they name and to those that follow from them. A waiver that is
 * expired or obsolete is a problem.
 * @param facts the current day in ISO 8601 and UTC, and the requirements that each case tests
 */
export function applyWaivers(
  verdicts: readonly CaseVerdict[],
  waivers: readonly Waiver[],
  facts: { readonly today: string; readonly tested: TestedRequirements },
): WaivedVerdicts {
  const rows = waivers.map(({ id: caseId, ...rest }): WaiverRow => {
    const verdict = verdicts.find(({ id }) => id === caseId);
    return { caseId, ...rest, state: stateOf(rest, verdict, facts.today) };
  });
  const usedWaivers = new Map(
    rows.filter(({ state }) => state === 'used').map((row) => [row.caseId, row]),
  );
  const causes = verdicts.filter(({ id, verdict }) => verdict === 'fail' && usedWaivers.has(id));
  return {
    verdicts: verdicts.map((each) => {
      const follows = usedWaivers.has(each.id) ? undefined : causeOf(each, causes, facts.tested);
      const row = usedWaivers.get(follows ?? each.id);
      if (!row) return each;
      const { reason, owner, expires } = row;
      return { ...each, waiver: { reason, owner, expires, ...(follows && { follows }) } };
    }),
    waivers: rows,
    problems: rows.flatMap(problemOf),
  };
}

function stateOf(
  { expires }: Pick<Waiver, 'expires'>,
  caseVerdict: CaseVerdict | undefined,
  today: string,
): WaiverRow['state'] {
  if (expires < today) return 'expired';
  const { verdict, reason } = caseVerdict ?? {};
  const isInconclusive = verdict === 'inconclusive' && !endCodes.includes(reason?.code ?? '');
  if (verdict === 'fail' || isInconclusive) return 'used';
  return verdict === 'pass' || verdict === 'observed' ? 'obsolete' : 'not-decided';
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
    case 'obsolete':
      return [
        {
          code: 'waiver-obsolete',
          text: `${whose} is no longer needed: the case passes; remove it`,
        },
      ];
    default:
      return [];
  }
}
