/** The list of verdicts: filters above, a case that opens below each line. */
import { byId, element, verdictMark } from './element.ts';
import {
  areaOf,
  type Message,
  type PageFacts,
  type ShownExchange,
  type ShownRequirement,
  type ShownVerdict,
} from './facts.ts';

const verdictOrder = ['fail', 'error', 'inconclusive', 'pass', 'observed', 'skip'];

interface Entry {
  readonly verdict: ShownVerdict;
  readonly line: HTMLDetailsElement;
  /** Lower case: whatever a search may find. */
  readonly searched: string;
}

/** Fills the list and makes the filters work. */
export function showVerdicts(facts: PageFacts): void {
  const sentences = new Map(facts.requirements.map((each) => [each.id, each]));
  const ranked = facts.verdicts.toSorted(
    (one, other) => verdictOrder.indexOf(one.verdict) - verdictOrder.indexOf(other.verdict),
  );
  const entries = ranked.map((verdict) => entryOf(verdict, sentences));
  byId('verdict-list', HTMLElement).replaceChildren(...entries.map(({ line }) => line));
  fillFilters(facts);
  const form = byId('filters', HTMLFormElement);
  const apply = (): void => filter(entries, new FormData(form));
  form.addEventListener('input', apply);
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('reset', () => queueMicrotask(apply));
  apply();
}

/** Opens a case, also when the filters hide it. */
export function openCase(id: string): void {
  byId('filters', HTMLFormElement).reset();
  const line = document.getElementById(`case-${id}`);
  if (!(line instanceof HTMLDetailsElement)) return;
  line.hidden = false;
  line.open = true;
  line.scrollIntoView({ block: 'start' });
  line.querySelector('summary')?.focus();
}

function fillFilters({ verdicts, totals }: PageFacts): void {
  const boxes = verdictOrder.map((name) =>
    element(
      'label',
      { class: 'box' },
      element('input', { type: 'checkbox', name: 'verdict', value: name }),
      verdictMark(name),
      ` ${totals[name] ?? 0}`,
    ),
  );
  byId('verdict-boxes', HTMLElement).append(...boxes);
  const options = (values: readonly string[]): HTMLElement[] =>
    [...new Set(values)].toSorted().map((value) => element('option', { value }, value));
  byId('area', HTMLSelectElement).append(...options(verdicts.map(areaOf)));
  byId('level', HTMLSelectElement).append(...options(verdicts.map(({ level }) => level)));
}

function filter(entries: readonly Entry[], chosen: FormData): void {
  const names = chosen.getAll('verdict').map(String);
  const [area, level, words] = ['area', 'level', 'words'].map((name) => String(chosen.get(name)));
  const sought = (words ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { verdict, line, searched } of entries) {
    const fits =
      (names.length === 0 || names.includes(verdict.verdict)) &&
      (!area || areaOf(verdict) === area) &&
      (!level || verdict.level === level) &&
      sought.every((word) => searched.includes(word));
    line.hidden = !fits;
    if (fits) shown += 1;
  }
  byId('shown-count', HTMLElement).textContent = `${shown} of ${entries.length} cases`;
}

function entryOf(verdict: ShownVerdict, sentences: ReadonlyMap<string, ShownRequirement>): Entry {
  const { id, title, observation, reason, expected, actual } = verdict;
  const found = expected === undefined ? (observation ?? reason?.text) : `saw ${actual}`;
  const line = element(
    'details',
    { class: 'case', id: `case-${id}` },
    element(
      'summary',
      {},
      verdictMark(verdict.verdict),
      element('code', {}, id),
      element('span', { class: 'title' }, title),
      ...(found === undefined ? [] : [element('span', { class: 'found' }, found)]),
    ),
  );
  // Most cases are never opened; their insides are made when one is.
  line.addEventListener('toggle', () => {
    if (line.children.length === 1) line.append(caseBody(verdict, sentences));
  });
  const texts = verdict.requirements.map((each) => sentences.get(each)?.sentence ?? '');
  const searched = [id, title, found ?? '', ...verdict.requirements, ...texts];
  return { verdict, line, searched: searched.join('\n').toLowerCase() };
}

function caseBody(
  verdict: ShownVerdict,
  sentences: ReadonlyMap<string, ShownRequirement>,
): HTMLElement {
  const {
    requirements,
    missed = [],
    exchanges = [],
    exchangesDropped = 0,
    byHand: script,
  } = verdict;
  const required = requirements.map((id) =>
    element(
      'li',
      {},
      sentences.get(id)?.sentence ?? '',
      ' ',
      element('code', {}, id),
      missed.includes(id) ? ' (missed)' : '',
    ),
  );
  return element(
    'div',
    { class: 'inside' },
    element('h3', {}, 'Required'),
    element('ul', {}, ...required),
    element('h3', {}, 'Found'),
    findings(verdict),
    ...(exchangesDropped > 0
      ? [element('p', { class: 'hint' }, `${exchangesDropped} earlier exchanges are left out.`)]
      : []),
    ...exchanges.map(exchangeBlock),
    ...(script === undefined
      ? []
      : [element('h3', {}, 'Repro script'), element('pre', {}, script)]),
  );
}

/** Each fact of the verdict that is there, by its name. */
function findings(verdict: ShownVerdict): HTMLElement {
  const {
    expected,
    actual,
    observation,
    reason,
    waiver,
    tolerated,
    attempts,
    leftBehind,
    breaches,
  } = verdict;
  const facts: Readonly<Record<string, string | undefined>> = {
    expected,
    saw: actual,
    observed: observation,
    breaks: breaches
      ?.map((each) => `${each.operation}: ${each.text} (${each.requirements.join(', ')})`)
      .join('\n'),
    reason: reason && `${reason.text} [${reason.code}]`,
    tolerated: tolerated && 'a SHOULD, which does not fail this run',
    waived: waiver && `${waiver.reason} (${waiver.owner}, until ${waiver.expires})`,
    attempts: attempts?.map((each) => `${each.verdict} in ${each.durationMs} ms`).join(', '),
    'left behind': leftBehind?.join(', '),
    'starts from': verdict.start,
    conditions: [verdict.level, verdict.risk, ...verdict.needs.map((need) => `needs ${need}`)].join(
      ', ',
    ),
    time: `${verdict.durationMs} ms, started at ${verdict.startedMs} ms`,
  };
  const rows = Object.entries(facts).flatMap(([name, text]) =>
    text === undefined ? [] : [element('dt', {}, name), element('dd', {}, text)],
  );
  return element('dl', {}, ...rows);
}

function exchangeBlock({
  startMs,
  elapsedMs,
  request,
  answer,
  failure,
}: ShownExchange): HTMLElement {
  const came = answer === undefined ? (failure ?? 'no answer') : String(answer.status);
  return element(
    'details',
    { class: 'exchange' },
    element(
      'summary',
      {},
      element('code', {}, request.line),
      ` → ${came} `,
      element('span', { class: 'hint' }, `at ${startMs} ms, ${elapsedMs} ms`),
    ),
    element('pre', {}, [request.line, ...messageLines(request)].join('\n')),
    element('pre', {}, [came, ...(answer ? messageLines(answer) : [])].join('\n')),
  );
}

function messageLines({ headers, body }: Message): readonly string[] {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return body === undefined ? lines : [...lines, '', body];
}
