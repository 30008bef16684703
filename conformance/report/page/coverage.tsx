/** The requirements by heading, each with the cases that test it and their verdicts in this run. */
import { useMemo, useState } from 'preact/hooks';
import { countText } from '../../../fixtures/base/count-text.ts';
import { Badge } from '../../../fixtures/page/badge.tsx';
import { Choice, FilterField } from '../../../fixtures/page/field.tsx';
import { Group } from '../../../fixtures/page/group.tsx';
import { Empty } from '../../../fixtures/page/states.tsx';
import type { PageFacts, ShownJudgement, ShownRequirement } from '../page-facts.ts';
import {
  Requirement,
  type RequirementRow,
  type RequirementState,
  stateTones,
} from './requirement.tsx';

const states: readonly RequirementState[] = [
  'failed',
  'not decided',
  'passed',
  'observed',
  'not testable',
];

/** Renders filters, and the requirements in groups by heading. */
export function Coverage({ facts }: { facts: PageFacts }) {
  const rows = useMemo(() => rowsOf(facts), [facts]);
  const [search, setSearch] = useState('');
  const [wantedState, setFound] = useState('');
  const sought = search.toLowerCase().split(/\s+/).filter(Boolean);
  const filteredRows = rows.filter(
    (row) =>
      (wantedState === '' || row.state === wantedState) &&
      sought.every((word) => row.searched.includes(word)),
  );
  const headings = [...new Set(filteredRows.map(({ requirement }) => requirement.heading))];
  const isFiltered = search !== '' || wantedState !== '';
  return (
    <div class="report-stack" id="coverage">
      <form aria-label="Filters of the coverage" onSubmit={(event) => event.preventDefault()}>
        <div class="report-row">
          <FilterField label="Words" value={search} onInput={setSearch} />
          <Choice
            label="In this run"
            value={wantedState}
            choices={[['', 'all'], ...states]}
            onChoose={setFound}
          />
          <output aria-live="polite">
            {filteredRows.length} of {countText(rows.length, 'requirement')}
          </output>
        </div>
      </form>
      {filteredRows.length === 0 && <Empty title="No requirement matches these filters." />}
      {headings.map((heading) => (
        <Heading
          key={heading}
          heading={heading}
          isFiltered={isFiltered}
          rows={filteredRows.filter(({ requirement }) => requirement.heading === heading)}
        />
      ))}
    </div>
  );
}

function rowsOf({
  requirements,
  verdicts,
  requirementsOnAllOperations,
}: PageFacts): readonly RequirementRow[] {
  const byCase = new Map(verdicts.map((each) => [each.id, each.verdict]));
  const judgementsById = new Map(
    requirementsOnAllOperations.map((each) => [each.requirement, each]),
  );
  return requirements.map((requirement) => {
    const { id, sentence, reason = '', cases } = requirement;
    const judgement = judgementsById.get(id);
    const verdicts = cases.flatMap((each) => byCase.get(each) ?? []);
    return {
      requirement,
      judgement,
      cases: cases.map((each) => ({ id: each, verdict: byCase.get(each) })),
      state: stateOf(requirement, verdicts, judgement),
      searched: [id, sentence, reason, ...cases].join('\n').toLowerCase(),
    };
  });
}

function stateOf(
  { state }: ShownRequirement,
  verdicts: readonly string[],
  judgement: ShownJudgement | undefined,
): RequirementState {
  const operations = judgement?.operations ?? [];
  if (verdicts.includes('fail') || operations.some(({ violated }) => violated > 0)) return 'failed';
  if (['excluded', 'client'].includes(state)) return 'not testable';
  if (verdicts.includes('pass') || (operations.length > 0 && verdicts.length === 0))
    return 'passed';
  return verdicts.includes('observed') ? 'observed' : 'not decided';
}

/** Renders a heading: requirements that need attention first, the others in a closed group. */
function Heading({
  heading,
  isFiltered,
  rows,
}: {
  heading: string;
  isFiltered: boolean;
  rows: readonly RequirementRow[];
}) {
  const needingAttention = rows.filter(
    ({ state }) => state === 'failed' || state === 'not decided',
  );
  const otherRows = rows.filter((row) => !needingAttention.includes(row));
  return (
    <Group
      isOpen={isFiltered || needingAttention.length > 0}
      summary={
        <span class="area">
          <strong>{heading}</strong> <Counts rows={rows} />
        </span>
      }
    >
      <RequirementList rows={needingAttention} />
      {needingAttention.length > 0 && otherRows.length > 0 ? (
        <div class="settled">
          <Group isOpen={isFiltered} summary={<Counts rows={otherRows} />}>
            <RequirementList rows={otherRows} />
          </Group>
        </div>
      ) : (
        <RequirementList rows={otherRows} />
      )}
    </Group>
  );
}

function Counts({ rows }: { rows: readonly RequirementRow[] }) {
  const counts = states.flatMap((state) => {
    const count = rows.filter((row) => row.state === state).length;
    return count > 0 ? [{ state, count }] : [];
  });
  return (
    <span class="area">
      {counts.map(({ state, count }) => (
        <Badge key={state} tone={stateTones[state]}>
          {count} {state}
        </Badge>
      ))}
    </span>
  );
}

function RequirementList({ rows }: { rows: readonly RequirementRow[] }) {
  if (rows.length === 0) return null;
  return (
    <ul class="requirements">
      {rows.map((row) => (
        <Requirement key={row.requirement.id} row={row} />
      ))}
    </ul>
  );
}
