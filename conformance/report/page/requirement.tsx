/** One requirement of the contract: its sentence, the cases that test it, and their verdicts. */
import { countText } from '../../../fixtures/base/count-text.ts';
import { Badge } from '../../../fixtures/page/badge.tsx';
import { Group } from '../../../fixtures/page/group.tsx';
import type { ShownJudgement, ShownRequirement } from '../page-facts.ts';
import { CaseLink } from './case-link.tsx';
import { toneOf, verdictOrder } from './labels.ts';
import { Prose } from './prose.tsx';

/** Maximum number of cases shown at once; further ones are collapsed. */
const CASES_MAX = 4;

/** The colour of each state of a requirement. */
export const stateTones = {
  failed: 'negative',
  'not decided': 'pending',
  passed: 'positive',
  observed: 'info',
  'not testable': 'plain',
} as const;

/** The state of a requirement after the run. */
export type RequirementState = keyof typeof stateTones;

/** A requirement with its state and the verdicts of its cases in the run. */
export interface RequirementRow {
  readonly requirement: ShownRequirement;
  readonly state: RequirementState;
  /** The cases that test the requirement; the verdict of a case that was not run is undefined. */
  readonly cases: readonly { readonly id: string; readonly verdict: string | undefined }[];
  readonly judgement: ShownJudgement | undefined;
  /** The text in which a search looks for words, in lower case. */
  readonly searched: string;
}

/** Renders a requirement as a list entry. */
export function Requirement({ row }: { row: RequirementRow }) {
  const { requirement, state, judgement, cases } = row;
  const { id, level, plan, sentence, state: coverageState, reason } = requirement;
  return (
    <li class="requirement">
      <div>
        <Badge tone={stateTones[state]}>{state}</Badge> <code>{id}</code>{' '}
        <span class="report-hint">
          {level.toUpperCase()}
          {plan !== 'every' && `, ${plan}`}
        </span>
        <p>
          <Prose text={sentence} />
        </p>
      </div>
      <div class="deciding">
        {reason !== undefined && (
          <p>
            {coverageState}: {reason}
          </p>
        )}
        {judgement && <JudgementView judgement={judgement} />}
        {cases.length > CASES_MAX ? (
          <Group kind="plain" summary={<CaseCounts cases={cases} />}>
            <CaseList cases={cases} />
          </Group>
        ) : (
          <CaseList cases={cases} />
        )}
      </div>
    </li>
  );
}

function CaseCounts({ cases }: Pick<RequirementRow, 'cases'>) {
  const counts = verdictOrder.flatMap((name) => {
    const count = cases.filter(({ verdict }) => verdict === name).length;
    return count > 0 ? [`${count} ${name}`] : [];
  });
  const played = counts.length > 0 ? `: ${counts.join(', ')}` : ', not run';
  return <>{`${countText(cases.length, 'case')}${played}`}</>;
}

function CaseList({ cases }: Pick<RequirementRow, 'cases'>) {
  return (
    <ul class="report-list">
      {cases.map(({ id, verdict }) => (
        <li key={id}>
          {verdict === undefined ? (
            <>
              not played: <code>{id}</code>
            </>
          ) : (
            <>
              {verdict !== 'pass' && <Badge tone={toneOf(verdict)}>{verdict}</Badge>}{' '}
              <CaseLink id={id} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Renders the number of judged exchanges of each operation, violated ones first. */
function JudgementView({ judgement }: { judgement: ShownJudgement }) {
  const { operations, unjudged } = judgement;
  const sum = (countOf: (row: (typeof operations)[number]) => number): number =>
    operations.reduce((total, row) => total + countOf(row), 0);
  const rows = operations.toSorted((one, other) => other.violated - one.violated);
  const parts = rows.map(({ operation, judged, violated }) => {
    return violated > 0
      ? `${operation} ${violated} of ${judged} violated`
      : `${operation} ${judged}`;
  });
  const unjudgedTexts = unjudged.map((operation) => `${operation} not judged`);
  const judgedText = countText(
    sum((row) => row.judged),
    'exchange',
  );
  const violationCount = sum((row) => row.violated);
  return (
    <Group
      kind="plain"
      summary={`${judgedText} of ${countText(operations.length, 'operation')} judged, ${violationCount} violated`}
    >
      <p>{[...parts, ...unjudgedTexts].join(', ')}</p>
    </Group>
  );
}
