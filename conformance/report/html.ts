/**
 * A run's result as one page that loads nothing: the facts as data, the compiled script and the
 * style of `page/` written into it. Whatever a target has said stays text.
 */
import { embeddedJson, reportPage, selfContainedPage } from '../../fixtures/markup.ts';
import type { Coverage } from '../result/coverage.ts';
import { type CaseVerdict, type ConformanceResult, verdictNames } from '../result/result.ts';
import type { Exchange } from '../target/exchange.ts';

/** Modules of the page, each after those that it imports. */
const modules = ['element', 'facts', 'verdicts', 'timeline', 'tables', 'page'];

/** Characters of evidence in the whole page, and of one case: a target that fails all stays shown. */
const EVIDENCE_MAX_CHARACTERS = 1_500_000;
const CASE_EVIDENCE_MAX_CHARACTERS = 24_000;
const BODY_MAX_CHARACTERS = 2048;

/** The page. Throws when the page's script has not been built. */
export function conformanceHtml(result: ConformanceResult, coverage: Coverage): string {
  const page = reportPage(import.meta.url, 'conformance/report');
  const facts = {
    ...result,
    verdicts: boundedVerdicts(result.verdicts),
    requirements: coverage.rows.map(({ cases, operations: _, openPoint: __, ...row }) => {
      return { ...row, cases: cases.map(({ id }) => id) };
    }),
  };
  return selfContainedPage({
    title: `Conformance of ${result.target.baseUrl}: ${result.outcome}`,
    style: page.style,
    script: modules.map((name) => joined(page.part(`${name}.js`))).join('\n'),
    body: `${page.part('page.html')}
<script type="application/json" id="facts">${embeddedJson(facts)}</script>`,
  });
}

/** The verdicts with as much evidence as the page has room for, the worst verdicts served first. */
function boundedVerdicts(verdicts: readonly CaseVerdict[]): readonly object[] {
  let room = EVIDENCE_MAX_CHARACTERS;
  const bounded = new Map<CaseVerdict, object>();
  for (const name of verdictNames) {
    for (const verdict of verdicts.filter((each) => each.verdict === name)) {
      const { exchanges = [], sentences: _, covers: __, byHand: whole = '', ...rest } = verdict;
      const script = whole.length <= room ? whole : '# The script is in the JSON report.';
      room -= script.length;
      const kept = newestWithin(exchanges, Math.min(room, CASE_EVIDENCE_MAX_CHARACTERS));
      room -= sizeOf(kept);
      const dropped = (verdict.exchangesDropped ?? 0) + exchanges.length - kept.length;
      const way = whole === '' ? {} : { byHand: script };
      bounded.set(verdict, { ...rest, ...way, exchanges: kept, exchangesDropped: dropped });
    }
  }
  return verdicts.map((verdict) => bounded.get(verdict) ?? verdict);
}

/** The last exchanges, the judged one among them, as long as they fit. */
function newestWithin(exchanges: readonly Exchange[], room: number): readonly Exchange[] {
  const kept: Exchange[] = [];
  let left = room;
  for (const exchange of exchanges.toReversed()) {
    const cut = shortened(exchange);
    left -= sizeOf(cut);
    if (left < 0) break;
    kept.unshift(cut);
  }
  return kept;
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}

function shortened({ request, answer, ...rest }: Exchange): Exchange {
  return {
    ...rest,
    request: { ...request, ...shortBody(request.body) },
    ...(answer && { answer: { ...answer, ...shortBody(answer.body) } }),
  };
}

function shortBody(body: string | undefined): { readonly body?: string } {
  if (body === undefined || body.length <= BODY_MAX_CHARACTERS) return {};
  const more = body.length - BODY_MAX_CHARACTERS;
  return { body: `${body.slice(0, BODY_MAX_CHARACTERS)}<${more} more in the JSON report>` };
}

/** A module as a part of one script: all of them share its scope, so that nothing is imported. */
function joined(script: string): string {
  return script
    .replace(/^import (?:(?!^import )[^;])*;\n/gm, '')
    .replace(/^export (\{\};\n)?/gm, '');
}
