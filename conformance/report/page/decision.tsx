/** The outcome of the run, and the reasons for it. */
import type { ComponentChildren } from 'preact';
import { countText } from '../../../fixtures/base/count-text.ts';
import { Badge, Verdict } from '../../../fixtures/page/badge.tsx';
import type { PageFacts, ShownVerdict } from '../page-facts.ts';
import { CaseLink } from './case-link.tsx';
import { isWaived, outcomeText, toneOf, verdictOrder, violatedBy } from './labels.ts';
import { Prose } from './prose.tsx';

/** Maximum number of lines in the summary; the list of cases is complete. */
const LINES_MAX = 5;

const titles: Readonly<Record<string, string>> = {
  fail: 'Failed',
  error: 'Stopped by an error of the suite',
  inconclusive: 'Inconclusive',
  pass: 'Passed',
};

/** One violated requirement, and the failed cases that name it. */
interface ViolatedRequirement {
  readonly id: string;
  readonly sentence: string;
  readonly cases: readonly ShownVerdict[];
}

/** The violated requirements of one level. */
interface ViolatedByLevel {
  readonly level: string;
  readonly violated: readonly ViolatedRequirement[];
}

/** Levels of requirements, the strictest first. */
const levels = ['must', 'should', 'may'];

/** Renders the verdict box at the top of the page. */
export function Decision({ facts }: { facts: PageFacts }) {
  const { outcome, headline, musts, verdicts, problems } = facts;
  const failures = verdicts.filter((each) => each.verdict === 'fail' && !isWaived(each));
  const openVerdicts = verdicts.filter(
    (each) => ['error', 'inconclusive'].includes(each.verdict) && !isWaived(each),
  );
  const violatedByLevel = levels.map((level) => ({
    level,
    violated: violatedOf(facts, failures, level),
  }));
  const inAll = musts.decided + musts.undecided;
  return (
    <Verdict tone={toneOf(outcome)} title={titleOf(outcome, violatedByLevel)}>
      <p>{headline}</p>
      {violatedByLevel.map((each) => (
        <ViolatedList key={each.level} {...each} />
      ))}
      {problems.length > 0 && (
        <Lines
          title="Other reasons why the run fails"
          lines={problems.map(({ text }) => [text, text])}
        />
      )}
      {openVerdicts.length > 0 && <OpenCases cases={openVerdicts} />}
      <p>
        {musts.decided} of {countText(inAll, 'MUST')} of the contract tested.
      </p>
      <Totals facts={facts} />
    </Verdict>
  );
}

function titleOf(outcome: string, violated: readonly ViolatedByLevel[]): string {
  const title = titles[outcome] ?? outcome;
  const [worst] = violated.filter((each) => each.violated.length > 0);
  return outcome === 'fail' && worst ? `${title}: ${violatedText(worst)}` : title;
}

function violatedText({ level, violated }: ViolatedByLevel): string {
  return `${countText(violated.length, level.toUpperCase())} failed`;
}

/** Returns the violated requirements of one level, each with the failed cases that name it. */
function violatedOf(
  { requirements }: PageFacts,
  failed: readonly ShownVerdict[],
  level: string,
): readonly ViolatedRequirement[] {
  const requirementsById = new Map(requirements.map((each) => [each.id, each]));
  const casesById = new Map<string, ShownVerdict[]>();
  for (const verdict of failed) {
    for (const id of violatedBy(verdict)) {
      if ((requirementsById.get(id)?.level ?? verdict.level) !== level) continue;
      casesById.set(id, [...(casesById.get(id) ?? []), verdict]);
    }
  }
  return [...casesById].map(([id, cases]) => {
    return { id, cases, sentence: requirementsById.get(id)?.sentence ?? '' };
  });
}

function ViolatedList({ level, violated }: ViolatedByLevel) {
  if (violated.length === 0) return null;
  return (
    <Lines
      title={violatedText({ level, violated })}
      lines={violated.map(({ id, sentence, cases }) => [
        id,
        <>
          <Prose text={sentence} /> <code>{id}</code>, by <CaseLinks cases={cases} />
        </>,
      ])}
    />
  );
}

function CaseLinks({ cases }: { cases: readonly ShownVerdict[] }) {
  const [firstCase] = cases;
  if (!firstCase) return null;
  return (
    <>
      <CaseLink id={firstCase.id} />
      {cases.length > 1 && ` and ${cases.length - 1} more`}
    </>
  );
}

function OpenCases({ cases }: { cases: readonly ShownVerdict[] }) {
  return (
    <Lines
      title={`${countText(cases.length, 'case')} without a verdict`}
      lines={cases.map((each) => [
        each.id,
        <>
          <CaseLink id={each.id} />: {outcomeText(each)}
        </>,
      ])}
    />
  );
}

function Lines({
  title,
  lines,
}: {
  title: string;
  lines: readonly (readonly [key: string, line: ComponentChildren])[];
}) {
  const more = lines.length - LINES_MAX;
  return (
    <section>
      <h2>{title}</h2>
      <ul class="decision-lines">
        {lines.slice(0, LINES_MAX).map(([key, line]) => (
          <li key={key}>{line}</li>
        ))}
        {more > 0 && <li>and {more} more: see the cases below</li>}
      </ul>
    </section>
  );
}

function Totals({ facts }: { facts: PageFacts }) {
  return (
    <ul class="totals" aria-label="Cases by verdict">
      {verdictOrder.map((name) => (
        <li key={name}>
          <Badge tone={facts.totals[name] ? toneOf(name) : 'plain'}>
            {name} {facts.totals[name] ?? 0}
          </Badge>
        </li>
      ))}
      {facts.waived > 0 && (
        <li>
          <Badge>waived {facts.waived}</Badge>
        </li>
      )}
    </ul>
  );
}
