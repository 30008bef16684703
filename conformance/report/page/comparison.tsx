/** The changes since an earlier run. */
import { countText } from '../../../fixtures/base/count-text.ts';
import { Badge } from '../../../fixtures/page/badge.tsx';
import { Group } from '../../../fixtures/page/group.tsx';
import { Table } from '../../../fixtures/page/table.tsx';
import type { PageFacts, ShownChange, ShownComparison } from '../page-facts.ts';
import { CaseLink } from './case-link.tsx';
import { changeLabels, outcomeText, toneOf, toneOfChange } from './labels.ts';

/** A longer table of changes is closed at first, so that the cases stay visible. */
const CHANGES_OPEN_MAX = 8;

/** Renders a summary and a table of the changes; nothing without an earlier run. */
export function Changes({ facts }: { facts: PageFacts }) {
  const { comparison } = facts;
  if (comparison === undefined) return null;
  const { before, changes, newCases, vanishedCases } = comparison;
  return (
    <Group
      id="changes"
      isOpen={changes.length > 0 && changes.length <= CHANGES_OPEN_MAX}
      summary={
        <>
          <strong>Since the earlier run: {changeCounts(comparison)}</strong>{' '}
          <span class="report-hint">
            {before.baseUrl}, run {before.runId}, {before.startedAt}: {before.outcome}
          </span>
        </>
      }
    >
      <div class="inside report-stack">
        {changes.length > 0 && <ChangeTable changes={changes} facts={facts} />}
        <LoneCases title="New cases" cases={newCases} />
        <LoneCases title="Removed cases" cases={vanishedCases} />
      </div>
    </Group>
  );
}

function ChangeTable({ changes, facts }: { changes: readonly ShownChange[]; facts: PageFacts }) {
  const laterVerdicts = new Map(facts.verdicts.map((each) => [each.id, each]));
  return (
    <Table
      caption="Changed cases"
      isCaptionHidden
      rows={changes}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Change',
          cell: ({ kind }) => <Badge tone={toneOfChange(kind)}>{changeLabels[kind]}</Badge>,
        },
        { title: 'Case', cell: ({ id }) => <CaseLink id={id} /> },
        { title: 'Before', cell: ({ before }) => <Side {...before} /> },
        {
          title: 'Now',
          cell: ({ id }: ShownChange) => {
            const verdict = laterVerdicts.get(id);
            return verdict && <Side verdict={verdict.verdict} text={outcomeText(verdict)} />;
          },
        },
      ]}
    />
  );
}

function changeCounts({ changes, newCases, vanishedCases, unchanged }: ShownComparison): string {
  const counts = Object.entries(changeLabels).flatMap(([kind, label]) => {
    const count = changes.filter((change) => change.kind === kind).length;
    return count > 0 ? [kind === 'regression' ? countText(count, label) : `${count} ${label}`] : [];
  });
  const otherCounts = [
    ...(newCases.length > 0 ? [`${newCases.length} new`] : []),
    ...(vanishedCases.length > 0 ? [`${vanishedCases.length} removed`] : []),
    `${unchanged} unchanged`,
  ];
  return [...counts, ...otherCounts].join(', ');
}

function Side({ verdict, text }: { verdict: string; text: string }) {
  return (
    <span>
      <Badge tone={toneOf(verdict)}>{verdict}</Badge> {text}
    </span>
  );
}

function LoneCases({
  title,
  cases,
}: {
  title: string;
  cases: readonly { readonly id: string; readonly verdict: string }[];
}) {
  if (cases.length === 0) return null;
  return (
    <p>
      {title}: {cases.map(({ id, verdict }) => `${id} (${verdict})`).join(', ')}
    </p>
  );
}
