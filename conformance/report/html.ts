/**
 * A run's result as one page that loads nothing: the facts as data, shown by the script of `page/`.
 * Whatever a target has said stays text.
 */
import { embeddedJson, reportPage } from '../../fixtures/markup.ts';
import type { Comparison } from '../result/compare.ts';
import type { Coverage } from '../result/coverage.ts';
import { type CaseVerdict, type ConformanceResult, verdictNames } from '../result/result.ts';
import { replayedOptions, suiteOptions } from '../suite/options.ts';
import type { Exchange } from '../target/exchange.ts';
import type { PageFacts, ShownExchange, ShownRequirement, ShownVerdict } from './page-facts.ts';

/** Bytes of all facts: with script and style, the file stays below 2 MB. */
const FACTS_MAX_BYTES = 1_850_000;
/** Bytes of evidence of one case: a target that fails all of them stays shown. */
const CASE_EVIDENCE_MAX_BYTES = 24_000;
const TEXT_MAX_CHARACTERS = 2048;

/** The page, beside an earlier run where there is one. Throws when it has not been built. */
export function conformanceHtml(
  result: ConformanceResult,
  coverage: Coverage,
  comparison?: Comparison,
): string {
  const { target, outcome } = result;
  return reportPage({
    module: import.meta.url,
    folder: 'conformance/report',
    title: `Conformance of ${target.baseUrl}: ${outcome}`,
    facts: factsOf(result, coverage, comparison),
  });
}

function factsOf(
  result: ConformanceResult,
  { rows }: Coverage,
  comparison: Comparison | undefined,
): PageFacts {
  const { schema, made, footprint, ...shown } = result;
  const facts = {
    ...shown,
    requirements: rows.map(({ cases, operations, openPoint, ...row }): ShownRequirement => {
      return { ...row, cases: cases.map(({ id }) => id) };
    }),
    command: commandOf(result),
    ...(comparison && { comparison }),
  };
  const bare = result.verdicts.map(withoutEvidence);
  const room = FACTS_MAX_BYTES - sizeOf({ ...facts, verdicts: bare });
  return { ...facts, verdicts: boundedVerdicts(result.verdicts, room) };
}

/** Runs a case as this run did; the credentials are in the environment. */
function commandOf({ target, seed, settings }: ConformanceResult): readonly string[] {
  const options: readonly (readonly [string, unknown])[] = [
    ['--url <url>', target.baseUrl],
    [suiteOptions.headerPrefix.flag, target.headerPrefix],
    [suiteOptions.seed.flag, seed],
    ...replayedOptions(settings),
  ];
  const isUsual = (flag: string, value: unknown): boolean =>
    Object.values(suiteOptions).some((row) => {
      return row.flag === flag && 'usual' in row && row.usual.value === value;
    });
  const words = options.flatMap(([flag, value]) => {
    const [name = ''] = flag.split(' ');
    if (value === undefined || value === null || value === false || isUsual(flag, value)) return [];
    return value === true ? [name] : [name, String(value)];
  });
  return ['fleetbed', 'conform', ...words];
}

/** The verdicts with as much evidence as the page has room for, the worst verdicts served first. */
function boundedVerdicts(verdicts: readonly CaseVerdict[], bytes: number): readonly ShownVerdict[] {
  let room = bytes;
  const bounded = new Map<CaseVerdict, ShownVerdict>();
  for (const name of verdictNames) {
    for (const verdict of verdicts.filter((each) => each.verdict === name)) {
      const { exchanges = [], byHand: whole = '' } = verdict;
      const script = sizeOf(whole) <= room ? whole : '# The script is in the JSON report.';
      room -= sizeOf(script);
      const kept = newestWithin(exchanges, Math.min(room, CASE_EVIDENCE_MAX_BYTES));
      room -= sizeOf(kept);
      const exchangesDropped = (verdict.exchangesDropped ?? 0) + exchanges.length - kept.length;
      bounded.set(verdict, {
        ...withoutEvidence(verdict),
        ...(whole !== '' && { byHand: script }),
        ...(kept.length > 0 && { exchanges: kept }),
        ...(exchangesDropped > 0 && { exchangesDropped }),
      });
    }
  }
  return verdicts.map((verdict) => bounded.get(verdict) ?? withoutEvidence(verdict));
}

/** What the page shows of a verdict without its exchanges. */
function withoutEvidence(whole: CaseVerdict): ShownVerdict {
  const { exchanges, exchangesDropped, byHand, sentences, covers, made, scenario, ...verdict } =
    whole;
  const { actual, observation, reason, breaches, ...rest } = verdict;
  return {
    ...rest,
    ...(actual !== undefined && { actual: short(actual) }),
    ...(observation !== undefined && { observation: short(observation) }),
    ...(reason && { reason: { code: reason.code, text: short(reason.text) } }),
    ...(breaches && {
      breaches: breaches.map(({ operation, text, requirements }) => {
        return { operation, text: short(text), requirements };
      }),
    }),
  };
}

/** The last exchanges, the judged one among them, as long as they fit. */
function newestWithin(exchanges: readonly Exchange[], room: number): readonly ShownExchange[] {
  const kept: ShownExchange[] = [];
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
  return Buffer.byteLength(embeddedJson(value));
}

function shortened({ request, answer, ...rest }: Exchange): ShownExchange {
  return {
    ...rest,
    request: { line: request.line, headers: request.headers, ...shortBody(request.body) },
    ...(answer && {
      answer: { status: answer.status, headers: answer.headers, ...shortBody(answer.body) },
    }),
  };
}

function shortBody(body: string | undefined): { readonly body?: string } {
  return body === undefined ? {} : { body: short(body) };
}

function short(text: string): string {
  const more = text.length - TEXT_MAX_CHARACTERS;
  return more <= 0
    ? text
    : `${text.slice(0, TEXT_MAX_CHARACTERS)}<${more} more in the JSON report>`;
}
