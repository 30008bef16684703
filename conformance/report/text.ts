/** Formats the result of a run as text for a terminal. */
import { countText } from '../../fixtures/base/count-text.ts';
import { printable, printableText } from '../../fixtures/base/printable.ts';
import { requirements } from '../../fixtures/contract/requirements/index.ts';
import {
  type CapabilityRow,
  type CaseVerdict,
  type ConformanceResult,
  endCodes,
  type OpenPointObservation,
  type VerdictName,
  verdictNames,
  violationText,
  waiverText,
} from '../result/result.ts';
import type { CaseListing } from '../suite/case.ts';
import type { Headers, TargetExchange } from '../target/exchange.ts';
import { footprintLines } from './footprint.ts';
import { type ScriptFiles, scriptCommand, withoutBase64 } from './repro-scripts.ts';

/** Number of the newest exchanges shown for each case; the JSON report has more. */
const EXCHANGES_MAX = 2;
const BODY_MAX_CHARACTERS = 600;

/**
 * Formats the whole result: failures with their evidence first, then everything else in brief.
 * @param scripts files of the repro scripts by case ID; a failure without one names no script
 */
export function conformanceReport(
  result: ConformanceResult,
  scripts: ScriptFiles = new Map(),
): string {
  const { verdicts, leftBehind, openPoints, capabilities } = result;
  const withVerdict = (name: VerdictName): readonly CaseVerdict[] =>
    verdicts.filter(({ verdict }) => verdict === name);
  const failures = withVerdict('fail').filter(isNotWaived);
  const evidence = (caseVerdict: CaseVerdict): readonly string[] =>
    evidenceLines(caseVerdict, scripts);
  const sections = [
    headLines(result),
    section('Failed: required by the contract (MUST)', failures.filter(isMust).flatMap(evidence)),
    section('Failed: expected by clients (SHOULD)', failures.filter(isNotMust).flatMap(evidence)),
    section('Other reasons why the run fails', problemLines(result)),
    section('Waived', verdicts.flatMap(waiverLine)),
    section('Errors in the suite itself', withVerdict('error').flatMap(evidence)),
    section('Inconclusive', inconclusiveLines(withVerdict('inconclusive').filter(isNotWaived))),
    section('Observed', withVerdict('observed').map(observationLine)),
    section('Open points, and what the target does', openPoints.flatMap(readingLines)),
    section('Judged on every exchange', everywhereLines(result)),
    section('Skipped', withVerdict('skip').map(reasonLine)),
    section('What the target offers', capabilityLines(capabilities, withVerdict('skip').length)),
    section('Left behind', [...verdicts.flatMap((each) => each.leftBehind ?? []), ...leftBehind]),
    totalLines(result),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** Formats a verdict as one line, for the progress of a run. */
export function verdictLine(caseVerdict: CaseVerdict): string {
  const { verdict, id, expected, actual, reason, observation } = caseVerdict;
  const difference = expected === undefined ? undefined : `expected ${expected}, actual ${actual}`;
  const detail = difference ?? reason?.text ?? observation;
  return `${verdict.padEnd(12)} ${id}${detail === undefined ? '' : `: ${oneLine(detail)}`}`;
}

/** Formats the list of cases in execution order, grouped by scenario. */
export function caseList(cases: readonly CaseListing[]): string {
  const lines: string[] = [];
  let heading = '';
  for (const { id, title, scenario, start, level, needs, effect } of cases) {
    const caseHeading = `${id.split('/')[0]}: ${scenario}, from ${start}`;
    if (caseHeading !== heading) lines.push(lines.length > 0 ? `\n${caseHeading}` : caseHeading);
    heading = caseHeading;
    const conditions = [level, effect, ...needs.map((need) => `needs ${need}`)].join(', ');
    lines.push(`  ${id} (${conditions})`, `      ${title}`);
  }
  return [...lines, '', `${cases.length} cases`].join('\n');
}

function isNotWaived({ waiver }: CaseVerdict): boolean {
  return waiver === undefined;
}

function isMust({ level }: CaseVerdict): boolean {
  return level === 'must';
}

function isNotMust(verdict: CaseVerdict): boolean {
  return !isMust(verdict);
}

function section(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [heading, ...lines.map((line) => `  ${line}`.trimEnd())];
}

function headLines(result: ConformanceResult): readonly string[] {
  const { suite, target, runId, seed, startedAt, headline } = result;
  const { baseUrl, headerPrefix } = target;
  return [
    oneLine(headline),
    `${suite.name} ${suite.version}, run ${runId}, ${startedAt}, seed ${printableText(seed)}`,
    `target ${printableText(baseUrl)}, header prefix ${headerPrefix}`,
  ];
}

function problemLines({ problems }: ConformanceResult): readonly string[] {
  return problems.map(({ code, text }) => `${oneLine(text)} [${code}]`);
}

function isMustId(id: string): boolean {
  return Object.values(requirements).some((row) => row.id === id && row.level === 'must');
}

/** Returns lines about operations that were not judged by general requirements or violated one. */
function everywhereLines({
  requirementsOnAllOperations,
  settings,
}: ConformanceResult): readonly string[] {
  const isWhole = settings.selection.length === 0;
  return requirementsOnAllOperations.flatMap(({ requirement, operations, unjudged }) => {
    const violating = operations.filter((each) => each.violated > 0);
    const parts = [
      ...violating.map(
        (each) => `${each.operation} violated it ${each.violated} of ${each.judged} times`,
      ),
      ...(isWhole && isMustId(requirement) && unjudged.length > 0
        ? [`no exchange of ${unjudged.join(', ')} was judged`]
        : []),
    ];
    return parts.length > 0 ? [`${requirement}: ${parts.join('; ')}`] : [];
  });
}

function waiverLine({ id, actual, reason, waiver }: CaseVerdict): readonly string[] {
  if (!waiver) return [];
  return [`${id}: ${oneLine(actual ?? reason?.text ?? '')} [${oneLine(waiverText(waiver))}]`];
}

function totalLines(result: ConformanceResult): readonly string[] {
  const { totals, waived, musts, headline, verdicts, durationMs } = result;
  const counts = [
    ...verdictNames.map((name) => `${totals[name]} ${name}`),
    ...(waived > 0 ? [`${waived} of these waived`] : []),
  ].join(', ');
  const seconds = (durationMs / 1000).toFixed(1);
  return [
    `${countText(verdicts.length, 'case')} in ${seconds} s: ${counts}`,
    `${musts.decided} of ${musts.decided + musts.undecided} MUSTs of the contract tested`,
    ...untrackedLines(result),
    ...cutShortLines(verdicts),
    ...footprintLines(result),
    oneLine(headline),
  ];
}

/** Returns a line with the number of responses that too many states allowed. */
function untrackedLines({ readBacks }: ConformanceResult): readonly string[] {
  const count = readBacks.reduce((sum, { undecided }) => sum + undecided, 0);
  if (count === 0) return [];
  return [
    `${countText(count, 'response')} not compared with earlier writes: too many possible states`,
  ];
}

/** Returns a line with the number of case runs that a closed connection ended. */
function cutShortLines(verdicts: readonly CaseVerdict[]): readonly string[] {
  const ends = verdicts.flatMap(({ attempts = [] }) => attempts);
  const count = ends.filter(({ reason }) => reason?.code === 'connection-closed').length;
  if (count === 0) return [];
  return [`${count} case runs were cut off by a closed connection and repeated`];
}

/**
 * Returns one line with all offered capabilities, and a line for each missing or contradicted one.
 * Returns no lines if no case was skipped and there is no contradiction.
 */
function capabilityLines(rows: readonly CapabilityRow[], skipped: number): readonly string[] {
  if (skipped === 0 && rows.every(({ contradiction }) => contradiction === undefined)) return [];
  const offeredRows = rows.filter(
    ({ probed, contradiction }) => probed === 'offered' && !contradiction,
  );
  const isSilent = ({ probed, declared }: CapabilityRow): boolean =>
    probed === 'unknown' && declared === 'undeclared';
  const notableRows = rows.filter((row) => !offeredRows.includes(row) && !isSilent(row));
  return [
    ...(offeredRows.length > 0 ? [offeredRows.map(({ capability }) => capability).join(', ')] : []),
    ...notableRows.map(({ capability, declared, probed, evidence = '', contradiction }) => {
      const state = probed === 'unknown' ? `declared ${declared}` : probed;
      return oneLine(`${state} ${capability}: ${contradiction ?? evidence}`, BODY_MAX_CHARACTERS);
    }),
  ];
}

function evidenceLines(caseVerdict: CaseVerdict, scripts: ScriptFiles): readonly string[] {
  const {
    id,
    title,
    sentences,
    requirements,
    expected,
    actual,
    reason,
    exchanges = [],
  } = caseVerdict;
  const { violated, violations = [] } = caseVerdict;
  const script = scripts.get(id);
  const requirementLines = sentences.map(
    (text, index) => `  requires  ${text} [${requirements[index]}]`,
  );
  const outcome =
    expected === undefined
      ? [`  because   ${printableText(reason?.text ?? '')}`]
      : [`  expected  ${printableText(expected)}`, `  actual    ${printableText(actual ?? '')}`];
  const exchangeTexts = exchanges.slice(-EXCHANGES_MAX).flatMap(exchangeLines);
  const shownViolations = violations.map(
    (each) => `  violation ${printableText(violationText(each))}`,
  );
  const narrowed = violated === undefined ? [] : [`  violated  ${violated.join(', ')}`];
  const reproLines = script === undefined ? [] : [`  repro     ${scriptCommand(script)}`];
  return [
    '',
    id,
    `  ${title}`,
    ...requirementLines,
    ...narrowed,
    ...outcome,
    ...shownViolations,
    ...exchangeTexts,
    ...reproLines,
  ];
}

function exchangeLines({ request, response, failure }: TargetExchange): readonly string[] {
  const came = response
    ? [`< ${response.status}`, ...messageLines('<', response.headers, response.body)]
    : [`< no response: ${failure ?? ''}`];
  const requestLines = [`> ${request.line}`, ...messageLines('>', request.headers, request.body)];
  return [...requestLines, ...came].map(
    (line) => `    ${oneLine(withoutBase64(line), BODY_MAX_CHARACTERS)}`,
  );
}

function messageLines(mark: string, headers: Headers, body: string | undefined) {
  const lines = Object.entries(headers).map(([name, value]) => `${mark} ${name}: ${value}`);
  return body === undefined ? lines : [...lines, `${mark} ${body}`];
}

/** Groups the cases that were not run by their reason, since an early end leaves hundreds. */
function inconclusiveLines(verdicts: readonly CaseVerdict[]): readonly string[] {
  const isUnplayed = ({ reason }: CaseVerdict): boolean => endCodes.includes(reason?.code ?? '');
  const lines = new Map<string, number>();
  for (const { reason } of verdicts.filter(isUnplayed)) {
    const text = `${oneLine(reason?.text ?? '')} [${reason?.code}]`;
    lines.set(text, (lines.get(text) ?? 0) + 1);
  }
  return [
    ...verdicts.filter((each) => !isUnplayed(each)).map(reasonLine),
    ...[...lines].map(([text, count]) => `${count} case${count === 1 ? '' : 's'}: ${text}`),
  ];
}

function reasonLine({ id, reason }: CaseVerdict): string {
  return `${id}: ${oneLine(reason?.text ?? '')} [${reason?.code ?? ''}]`;
}

function observationLine({ id, observation = '' }: CaseVerdict): string {
  return `${id}: ${oneLine(observation)}`;
}

/** Returns the lines about an open point; none if no case could observe it. */
function readingLines({
  id,
  question,
  reference,
  target,
}: OpenPointObservation): readonly string[] {
  const looked = target.filter(
    ({ verdict }) => !['skip', 'inconclusive', 'error'].includes(verdict),
  );
  if (looked.length === 0) return [];
  const lines = looked.map(
    ({ caseId, text }) => `  target            ${oneLine(text)} [${caseId}]`,
  );
  return [`${question} [${id}]`, `  reference server  ${reference}`, ...lines];
}

/** Joins a text of several lines into one, with each run of white space as one space. */
function oneLine(text: string, charactersMax?: number): string {
  return printable(text.replace(/\s+/g, ' ').trim(), charactersMax);
}
