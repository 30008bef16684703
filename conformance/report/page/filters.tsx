/** The filters of the page of a run, which select the cases that are listed. */
import { Badge } from '../../../fixtures/page/badge.tsx';
import { Choice, FilterField } from '../../../fixtures/page/field.tsx';
import type { PageFacts, ShownVerdict } from '../page-facts.ts';
import { changeLabels, outcomeText, toneOf, verdictOrder } from './labels.ts';

/** The filters that the reader has set; an empty member selects every case. */
export interface CaseFilter {
  readonly search: string;
  readonly verdicts: readonly string[];
  readonly level: string;
  readonly requirement: string;
  readonly change: string;
}

/** The empty filter, which every case passes. */
export const noFilter: CaseFilter = {
  search: '',
  verdicts: [],
  level: '',
  requirement: '',
  change: '',
};

/** A case with the data that filters use. */
export interface FilteredCase {
  readonly verdict: ShownVerdict;
  /** The kind of change since the earlier run. */
  readonly change: string;
  /** The text in which a search looks for words, in lower case. */
  readonly searched: string;
}

/** Returns the cases with the data that filters use, the worst first. */
export function entriesOf({
  verdicts,
  requirements,
  comparison,
}: PageFacts): readonly FilteredCase[] {
  const sentences = new Map(requirements.map(({ id, sentence }) => [id, sentence]));
  const changes = new Map(comparison?.changes.map(({ id, kind }) => [id, kind]));
  const entries = verdicts.map((verdict) => {
    const texts = verdict.requirements.map((id) => sentences.get(id) ?? '');
    const { id, title } = verdict;
    const searched = [id, title, outcomeText(verdict), ...verdict.requirements, ...texts];
    return { verdict, change: changes.get(id) ?? '', searched: searched.join('\n').toLowerCase() };
  });
  const rank = ({ verdict: { verdict } }: FilteredCase): number => verdictOrder.indexOf(verdict);
  return entries.toSorted((one, other) => rank(one) - rank(other));
}

/** Returns the entries that pass the filter. */
export function filterCases(
  entries: readonly FilteredCase[],
  filter: CaseFilter,
): readonly FilteredCase[] {
  const sought = filter.search.toLowerCase().split(/\s+/).filter(Boolean);
  const requirement = filter.requirement.trim();
  return entries.filter(
    ({ verdict, change, searched }) =>
      (filter.verdicts.length === 0 || filter.verdicts.includes(verdict.verdict)) &&
      (filter.level === '' || verdict.level === filter.level) &&
      (requirement === '' || verdict.requirements.some((id) => id.startsWith(requirement))) &&
      (filter.change === '' || change === filter.change) &&
      sought.every((word) => searched.includes(word)),
  );
}

/** Renders the fields in which a reader sets the filter. */
export function Filters({
  facts,
  filter,
  shown,
  onFilter,
}: {
  facts: PageFacts;
  filter: CaseFilter;
  /** Number of cases that pass the filter. */
  shown: number;
  onFilter: (filter: CaseFilter) => void;
}) {
  const change = (part: Partial<CaseFilter>): void => onFilter({ ...filter, ...part });
  const levels = [...new Set(facts.verdicts.map(({ level }) => level))].toSorted();
  const requirementIds = [...new Set(facts.verdicts.flatMap(({ requirements }) => requirements))];
  return (
    <form aria-label="Filters" class="report-stack" onSubmit={(event) => event.preventDefault()}>
      <div class="report-row">
        <FilterField
          label="Words"
          value={filter.search}
          placeholder="case, reason, sentence"
          onInput={(search) => change({ search })}
        />
        <FilterField
          label="Requirement"
          value={filter.requirement}
          placeholder="its ID, or the start of it"
          choices={requirementIds.toSorted()}
          onInput={(requirement) => change({ requirement })}
        />
        <Choice
          label="Level"
          value={filter.level}
          choices={[['', 'all'], ...levels]}
          onChoose={(level) => change({ level })}
        />
        {facts.comparison && (
          <Choice
            label="Since the earlier run"
            value={filter.change}
            choices={[['', 'all'], ...Object.entries(changeLabels)]}
            onChoose={(kind) => change({ change: kind })}
          />
        )}
      </div>
      <div class="report-row">
        <VerdictBoxes facts={facts} filter={filter} onFilter={onFilter} />
        <button type="button" class="kit-button" onClick={() => onFilter(noFilter)}>
          Show all
        </button>
        <output id="shown-count" aria-live="polite">
          {shown} of {facts.verdicts.length} cases
        </output>
      </div>
    </form>
  );
}

function VerdictBoxes({
  facts,
  filter,
  onFilter,
}: {
  facts: PageFacts;
  filter: CaseFilter;
  onFilter: (filter: CaseFilter) => void;
}) {
  const toggled = (name: string): readonly string[] =>
    filter.verdicts.includes(name)
      ? filter.verdicts.filter((each) => each !== name)
      : [...filter.verdicts, name];
  return (
    <fieldset class="verdict-boxes">
      <legend class="kit-hidden">Verdicts</legend>
      {verdictOrder.map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={filter.verdicts.includes(name)}
            onChange={() => onFilter({ ...filter, verdicts: toggled(name) })}
          />
          <Badge tone={toneOf(name)}>
            {name} {facts.totals[name] ?? 0}
          </Badge>
        </label>
      ))}
    </fieldset>
  );
}
