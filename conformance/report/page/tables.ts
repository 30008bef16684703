/** What is shown as tables: coverage, open points, and what is to be known of the run. */
import { byId, element, table, verdictMark } from './element.ts';
import type { PageFacts, ShownRequirement, ShownVerdict } from './facts.ts';

/** Each requirement under its heading, what decides it, and what this run found. */
export function showCoverage({ requirements, verdicts, judgedEverywhere }: PageFacts): void {
  const byCase = new Map(verdicts.map((each) => [each.id, each]));
  const judged = new Map(judgedEverywhere.map((each) => [each.requirement, each]));
  const headings = [...new Set(requirements.map(({ heading }) => heading))];
  const tables = headings.map((heading) => {
    const own = requirements.filter((each) => each.heading === heading);
    const columns = ['Requirement', 'Level', 'Sentence', 'How it is tested', 'In this run'];
    return table(
      heading,
      columns,
      own.map((each) => requirementRow(each, { byCase, judged: judged.get(each.id) })),
    );
  });
  byId('coverage', HTMLElement).replaceChildren(...tables);
}

function requirementRow(
  { id, level, plan, sentence, standing, reason, cases, everywhere }: ShownRequirement,
  {
    byCase,
    judged,
  }: {
    readonly byCase: ReadonlyMap<string, ShownVerdict>;
    readonly judged: PageFacts['judgedEverywhere'][number] | undefined;
  },
) {
  const found = cases.flatMap((each) => byCase.get(each)?.verdict ?? []);
  const marks = [...new Set(found)].map(verdictMark);
  const by = [...(everywhere ? ['every exchange of each operation'] : []), ...cases];
  return [
    element('code', {}, id),
    plan === 'every' ? level : `${level}, ${plan}`,
    sentence,
    reason === undefined ? `${standing} by ${by.join(', ')}` : `${standing}: ${reason}`,
    element('span', {}, ...marks, ...judgedWords(judged)),
  ];
}

/** How often each operation was judged, what was broken first. */
function judgedWords(judged: PageFacts['judgedEverywhere'][number] | undefined): string[] {
  if (judged === undefined) return [];
  const rows = judged.operations.toSorted((one, other) => other.broken - one.broken);
  const words = rows.map(({ operation, judged: count, broken }) => {
    return broken > 0 ? `${operation} ${broken} of ${count} broken` : `${operation} ${count}`;
  });
  const missing = judged.unjudged.map((operation) => `${operation} not judged`);
  return [` ${[...words, ...missing].join(', ')}`];
}

/** Which reading the target chose, beside our server's. */
export function showOpenPoints({ openPoints }: PageFacts): void {
  const rows = openPoints.map(({ id, question, ours, seen }) => [
    element('span', {}, question, ' ', element('code', {}, id)),
    element(
      'ul',
      {},
      ...seen.map(({ caseId, text }) => {
        return element('li', {}, text, ' ', element('code', {}, caseId));
      }),
    ),
    ours,
  ]);
  const columns = [
    'What the contract leaves open',
    'What the target does',
    'What the reference server does',
  ];
  byId('open-points', HTMLElement).replaceChildren(table('Open points', columns, rows));
}

/** Settings, environment, capabilities, waivers, problems, musts without a verdict. */
export function showRun(facts: PageFacts): void {
  const { settings, environment, target, suite, runId, seed, startedAt, durationMs } = facts;
  const known = { ...target, suite: `${suite.name} ${suite.version}`, runId, seed, startedAt };
  const pairs = { ...known, durationMs, ...settings, ...environment };
  byId('run', HTMLElement).replaceChildren(
    table(
      'Run',
      ['Fact', 'Value'],
      Object.entries(pairs).map(([name, value]) => [name, told(value)]),
    ),
    records('Capabilities of the target', facts.capabilities, [
      'capability',
      'declared',
      'probed',
      'evidence',
      'contradiction',
    ]),
    records('Problems', facts.problems, ['code', 'text']),
    records('MUSTs that were not tested', facts.musts.undecidedMusts, ['id', 'because']),
    records('Waivers', facts.waivers, ['caseId', 'state', 'reason', 'owner', 'expires']),
    records(
      'Left behind',
      facts.leftBehind.map((resource) => ({ resource })),
      ['resource'],
    ),
  );
}

function records(
  caption: string,
  rows: readonly object[],
  columns: readonly string[],
): HTMLElement {
  const values = rows.map((row) => new Map<string, unknown>(Object.entries(row)));
  return table(
    caption,
    columns,
    values.map((row) => columns.map((name) => told(row.get(name)))),
  );
}

function told(value: unknown): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
