/** The cases in groups by area; a group in which all passed is closed. */
import { useMemo } from 'preact/hooks';
import { Badge } from '../../../fixtures/page/badge.tsx';
import { Group } from '../../../fixtures/page/group.tsx';
import { Empty } from '../../../fixtures/page/states.tsx';
import type { PageFacts } from '../page-facts.ts';
import { Case } from './case.tsx';
import { type CaseFilter, entriesOf, type FilteredCase, Filters, filterCases } from './filters.tsx';
import { areaOf, needsNoAttention, toneOf, verdictOrder } from './labels.ts';

/** Renders the filters, and the cases that they select. */
export function Cases({
  facts,
  filter,
  onFilter,
}: {
  facts: PageFacts;
  filter: CaseFilter;
  onFilter: (filter: CaseFilter) => void;
}) {
  const entries = useMemo(() => entriesOf(facts), [facts]);
  const filteredCases = useMemo(() => filterCases(entries, filter), [entries, filter]);
  const isFiltered = filteredCases.length < entries.length;
  return (
    <div class="report-stack" id="verdicts">
      <Filters facts={facts} filter={filter} shown={filteredCases.length} onFilter={onFilter} />
      {filteredCases.length === 0 && <Empty title="No case matches these filters." />}
      {byArea(filteredCases).map(([area, own]) => (
        <Area key={area} area={area} entries={own} isFiltered={isFiltered} facts={facts} />
      ))}
    </div>
  );
}

/** Renders an area: cases that need attention first, and the others in a group that is closed. */
function Area({
  area,
  entries,
  isFiltered,
  facts,
}: {
  area: string;
  entries: readonly FilteredCase[];
  isFiltered: boolean;
  facts: PageFacts;
}) {
  const needingAttention = entries.filter(({ verdict }) => !needsNoAttention(verdict));
  const otherEntries = entries.filter(({ verdict }) => needsNoAttention(verdict));
  const list = (rows: readonly FilteredCase[]) =>
    rows.map((entry) => <Case key={entry.verdict.id} entry={entry} facts={facts} />);
  return (
    <Group
      isOpen={isFiltered || needingAttention.length > 0}
      summary={
        <span class="area">
          <strong>{area}</strong> <Counts entries={entries} />
        </span>
      }
    >
      {list(needingAttention)}
      {needingAttention.length > 0 && otherEntries.length > 0 ? (
        <div class="settled">
          <Group isOpen={isFiltered} summary={<Counts entries={otherEntries} />}>
            {list(otherEntries)}
          </Group>
        </div>
      ) : (
        list(otherEntries)
      )}
    </Group>
  );
}

/** Groups the entries by area; areas with the worst verdicts come first. */
function byArea(
  entries: readonly FilteredCase[],
): readonly (readonly [string, readonly FilteredCase[]])[] {
  const areas = new Map<string, FilteredCase[]>();
  for (const entry of entries) {
    const area = areaOf(entry.verdict);
    const areaCases = areas.get(area);
    if (areaCases) areaCases.push(entry);
    else areas.set(area, [entry]);
  }
  const rank = (own: readonly FilteredCase[]): number =>
    own.every(({ verdict }) => needsNoAttention(verdict))
      ? verdictOrder.length
      : verdictOrder.indexOf(own[0]?.verdict.verdict ?? '');
  return [...areas].toSorted(
    ([name, one], [otherName, other]) => rank(one) - rank(other) || name.localeCompare(otherName),
  );
}

function Counts({ entries }: { entries: readonly FilteredCase[] }) {
  const counts = verdictOrder.flatMap((name) => {
    const count = entries.filter(({ verdict }) => verdict.verdict === name).length;
    return count > 0 ? [{ name, count }] : [];
  });
  return (
    <span class="area">
      {counts.map(({ name, count }) => (
        <Badge key={name} tone={toneOf(name)}>
          {count} {name}
        </Badge>
      ))}
    </span>
  );
}
