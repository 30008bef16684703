/**
 * Formats the result of a run as one self-contained HTML page. The page contains the result as
 * data, which the script of `page/` displays. Text from a target is never interpreted as markup.
 */
import { charactersIn, firstCharacters } from '../../fixtures/base/characters.ts';
import { embeddedJson, reportPage } from '../../fixtures/base/markup.ts';
import type { ResultComparison } from '../result/compare.ts';
import type { Coverage } from '../result/coverage.ts';
import { type CaseVerdict, type ConformanceResult, verdictNames } from '../result/result.ts';
import { optionsOfRerun, suiteOptions } from '../suite/options.ts';
import type { TargetExchange } from '../target/exchange.ts';
import type { PageFacts, ShownExchange, ShownRequirement, ShownVerdict } from './page-facts.ts';

/** Maximum bytes of data, so that the file with script and style stays below 2 MB. */
const FACTS_MAX_BYTES = 1_850_000;
/** Maximum bytes of data without exchanges and repro scripts. */
const WORDS_MAX_BYTES = 1_500_000;
/** Maximum bytes of evidence for each case, so that evidence fits even if every case fails. */
const CASE_EVIDENCE_MAX_BYTES = 24_000;
const BODY_MAX_CHARACTERS = 2048;
/** Text lengths to try, longest first; all texts are truncated to the first length that fits. */
const TEXT_MAX_CHARACTERS = [2048, 512, 128, 32];

/** Returns the page, with a comparison if one is given. Throws when the page was not built. */
export function conformanceHtml(
  result: ConformanceResult,
  coverage: Coverage,
  comparison?: ResultComparison,
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
  comparison: ResultComparison | undefined,
): PageFacts {
  const { schema, made, footprint, ...shownFacts } = result;
  const facts = withShortTexts({
    ...shownFacts,
    verdicts: result.verdicts.map(withoutEvidence),
    requirements: rows.map(({ cases, operations, openPoint, ...row }): ShownRequirement => {
      return { ...row, cases: cases.map(({ id }) => id) };
    }),
    command: commandOf(result),
    ...(comparison && { comparison }),
  });
  return { ...facts, verdicts: withEvidence(facts, result.verdicts) };
}

/** Truncates all texts to the largest length at which the data fits. */
function withShortTexts(facts: PageFacts): PageFacts {
  for (const max of TEXT_MAX_CHARACTERS) {
    const cut = (_: string, value: unknown): unknown =>
      typeof value === 'string' ? short(value, max) : value;
    const shorter = JSON.parse(JSON.stringify(facts, cut)) as PageFacts;
    if (sizeOf(shorter) <= WORDS_MAX_BYTES) return shorter;
  }
  return { ...facts, verdicts: [] };
}

/** Returns the command that repeats a case with the same options, without credentials. */
function commandOf({ target, seed, settings }: ConformanceResult): readonly string[] {
  const options: readonly (readonly [string, unknown])[] = [
    ['--url <url>', target.baseUrl],
    [suiteOptions.headerPrefix.flag, target.headerPrefix],
    [suiteOptions.seed.flag, seed],
    ...optionsOfRerun(settings),
  ];
  const isDefault = (flag: string, value: unknown): boolean =>
    Object.values(suiteOptions).some((row) => {
      return row.flag === flag && 'default' in row && row.default.value === value;
    });
  const args = options.flatMap(([flag, value]) => {
    const [name = ''] = flag.split(' ');
    if (value === undefined || value === null || value === false || isDefault(flag, value))
      return [];
    return value === true ? [name] : [name, String(value)];
  });
  return ['npx', 'fleetbed', 'conform', ...args];
}

/** Adds evidence to the verdicts, the worst first, until the size limit of the page is reached. */
function withEvidence(facts: PageFacts, verdicts: readonly CaseVerdict[]): readonly ShownVerdict[] {
  let room = FACTS_MAX_BYTES - sizeOf(facts);
  const evidence = new Map<string, VerdictEvidence>();
  for (const name of verdictNames) {
    for (const verdict of verdicts.filter((each) => each.verdict === name)) {
      const caseEvidence = evidenceOf(verdict, room);
      room -= sizeOf(caseEvidence);
      evidence.set(verdict.id, caseEvidence);
    }
  }
  return facts.verdicts.map((each) => ({ ...each, ...evidence.get(each.id) }));
}

type VerdictEvidence = Pick<ShownVerdict, 'exchanges' | 'exchangesDropped' | 'reproScript'>;

function evidenceOf(
  { exchanges = [], exchangesDropped = 0, reproScript = '' }: CaseVerdict,
  room: number,
): VerdictEvidence {
  const script = sizeOf(reproScript) <= room ? reproScript : '# The script is in the JSON report.';
  const remainingRoom = room - sizeOf(script);
  const keptExchanges = newestWithin(exchanges, Math.min(remainingRoom, CASE_EVIDENCE_MAX_BYTES));
  const dropped = exchangesDropped + exchanges.length - keptExchanges.length;
  return {
    ...(script !== '' && { reproScript: script }),
    ...(keptExchanges.length > 0 && { exchanges: keptExchanges }),
    ...(dropped > 0 && { exchangesDropped: dropped }),
  };
}

/** Returns a verdict without its exchanges and its repro script. */
function withoutEvidence(fullVerdict: CaseVerdict): ShownVerdict {
  const {
    exchanges,
    exchangesDropped,
    reproScript,
    sentences,
    covers,
    made,
    scenario,
    ...verdict
  } = fullVerdict;
  const { violations, ...rest } = verdict;
  return {
    ...rest,
    ...(violations && {
      violations: violations.map(({ operation, text, requirements }) => {
        return { operation, text, requirements };
      }),
    }),
  };
}

/** Returns the last exchanges that fit, which include the judged one. */
function newestWithin(
  exchanges: readonly TargetExchange[],
  room: number,
): readonly ShownExchange[] {
  const keptExchanges: ShownExchange[] = [];
  let remainingRoom = room;
  for (const exchange of exchanges.toReversed()) {
    const cut = shortened(exchange);
    remainingRoom -= sizeOf(cut);
    if (remainingRoom < 0) break;
    keptExchanges.unshift(cut);
  }
  return keptExchanges;
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(embeddedJson(value));
}

function shortened({ request, response, ...rest }: TargetExchange): ShownExchange {
  return {
    ...rest,
    request: { line: request.line, headers: request.headers, ...shortBody(request.body) },
    ...(response && {
      response: { status: response.status, headers: response.headers, ...shortBody(response.body) },
    }),
  };
}

function shortBody(body: string | undefined): { readonly body?: string } {
  return body === undefined ? {} : { body: short(body, BODY_MAX_CHARACTERS) };
}

function short(text: string, max: number): string {
  const more = charactersIn(text) - max;
  return more <= 0 ? text : `${firstCharacters(text, max)}<${more} more in the JSON report>`;
}
