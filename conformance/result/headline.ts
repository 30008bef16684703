/** The sentence that explains the outcome of a run: the first and the last line of its reports. */
import { type Capability, capabilityNames, isControl } from '../context/capabilities.ts';
import {
  type CapabilityRow,
  type CaseVerdict,
  type DecidedMusts,
  isWaived,
  type RunProblem,
  type VerdictName,
} from './result.ts';

interface HeadlineFacts {
  readonly outcome: VerdictName;
  readonly verdicts: readonly CaseVerdict[];
  readonly musts: DecidedMusts;
  readonly problems: readonly RunProblem[];
  readonly capabilities: readonly CapabilityRow[];
  /** The missing right that ended the run. */
  readonly unauthorized?: string;
}

/** The code of the problem that a MUST was not tested although the run requires all of them. */
export const untestedMust = 'must-undecided';

/** Returns the sentence, which begins with the outcome. */
export function headlineOf(judgement: HeadlineFacts): string {
  return `${judgement.outcome}: ${reasons[judgement.outcome](judgement)}`;
}

const reasons: Readonly<Record<VerdictName, (judgement: HeadlineFacts) => string>> = {
  fail: whyFailed,
  error: (judgement) => worstReason(judgement, 'error', 'stopped by an error in the suite itself'),
  inconclusive: whyInconclusive,
  pass: whyPassed,
  observed: whyPassed,
  skip: whyInconclusive,
};

function whyFailed({
  verdicts,
  musts,
  problems,
  capabilities,
  unauthorized,
}: HeadlineFacts): string {
  const failures = withVerdict(verdicts, 'fail');
  const untestedProblems = problems.filter(({ code }) => code === untestedMust);
  const otherProblems = problems.filter(({ code }) => code !== untestedMust);
  const firstSentence =
    failures.map(sentenceOf)[0] ?? otherProblems[0]?.text ?? untestedProblems[0]?.text ?? '';
  return [
    ...(failures.length > 0 ? [`${failures.length} of ${casesOf(verdicts)} failed`] : []),
    ...(otherProblems.length > 0 ? [`${amount(otherProblems.length, 'waiver')} to fix`] : []),
    ...(untestedProblems.length > 0 ? [untestedText(musts, capabilities)] : []),
    ...(unauthorized === undefined ? [] : [`the run ended early: ${unauthorized}`]),
    `first: ${firstSentence}`,
  ].join('; ');
}

function whyInconclusive(judgement: HeadlineFacts): string {
  const { verdicts, capabilities, unauthorized } = judgement;
  if (unauthorized !== undefined) return `the run ended early: ${unauthorized}`;
  if (withVerdict(verdicts, 'inconclusive').length > 0) {
    return worstReason(judgement, 'inconclusive', 'without a verdict');
  }
  if (verdicts.length === 0) return 'nothing was tested: no case was selected';
  const skips = withVerdict(verdicts, 'skip');
  const needs = needsOf(
    skips.map(({ reason }) => reason?.code),
    capabilities,
  );
  const why = skips.length > 0 ? `; ${skips.length} skipped${needs}` : '';
  return `nothing was tested: no case passed or failed${why}`;
}

function whyPassed({ verdicts, musts, capabilities }: HeadlineFacts): string {
  const counts = [
    `${amount(withVerdict(verdicts, 'pass').length, 'case')} passed`,
    ...countText('observed', verdicts, ({ verdict }) => verdict === 'observed'),
    ...countText('skipped', verdicts, ({ verdict }) => verdict === 'skip'),
    ...countText('waived', verdicts, ({ waiver }) => waiver !== undefined),
    ...countText('failed by a SHOULD', verdicts, ({ tolerated = false }) => tolerated),
  ];
  const isSelection = musts.undecidedMusts.some(({ code }) => code === undefined);
  const isSilent = isSelection || musts.undecided === 0;
  const untested = isSilent ? [] : [untestedText(musts, capabilities)];
  return [counts.join(', '), ...untested].join('; ');
}

function countText(
  what: string,
  verdicts: readonly CaseVerdict[],
  isCounted: (verdict: CaseVerdict) => boolean,
): readonly string[] {
  const { length } = verdicts.filter(isCounted);
  return length > 0 ? [`${length} ${what}`] : [];
}

function worstReason({ verdicts }: HeadlineFacts, name: VerdictName, what: string): string {
  const those = withVerdict(verdicts, name);
  return `${those.length} of ${casesOf(verdicts)} ${what}; first: ${those.map(sentenceOf)[0] ?? ''}`;
}

function withVerdict(verdicts: readonly CaseVerdict[], name: VerdictName) {
  return verdicts.filter((each) => each.verdict === name && !isWaived(each));
}

function sentenceOf({ id, expected, actual, reason }: CaseVerdict): string {
  const outcome = expected === undefined ? reason?.text : `expected ${expected}, actual ${actual}`;
  return `${id}: ${outcome ?? ''}`;
}

function casesOf({ length }: readonly unknown[]): string {
  return amount(length, 'case');
}

function amount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function untestedText(
  { undecidedMusts }: DecidedMusts,
  capabilities: readonly CapabilityRow[],
): string {
  const needs = needsOf(
    undecidedMusts.map(({ code }) => code),
    capabilities,
  );
  return `${amount(undecidedMusts.length, 'MUST')} not tested${needs}`;
}

/**
 * Returns the options or capabilities that would allow the tests with these reason codes, as the
 * end of a sentence: `, they need --control-url`, or each need with its count.
 */
function needsOf(
  codes: readonly (string | undefined)[],
  capabilities: readonly CapabilityRow[],
): string {
  const hasControl = capabilities.some(
    ({ capability, probed }) => probed === 'offered' && isControlName(capability),
  );
  const needs = new Map<string, number>();
  for (const code of codes) {
    const need = needOf(code, hasControl);
    if (need !== undefined) needs.set(need, (needs.get(need) ?? 0) + 1);
  }
  const [only, ...more] = needs;
  if (!only) return '';
  if (more.length === 0 && only[1] === codes.length) {
    return codes.length === 1 ? `, it needs ${only[0]}` : `, they need ${only[0]}`;
  }
  const rows = [...needs].map(([need, count]) => `${count} need${count === 1 ? 's' : ''} ${need}`);
  return ` (${rows.join(', ')})`;
}

const needsByCode: Readonly<Record<string, string>> = {
  user: '--password, --token or --hooks',
  disruptive: '--disruptive',
  'read-only': 'a run without --read-only',
  unauthorized: 'a user with more rights',
};

/** Returns what a case that was skipped with this code needs; undefined if nothing helps. */
function needOf(code: string | undefined, hasControl: boolean): string | undefined {
  if (code === undefined) return 'a run of all cases';
  if (isControlName(code)) return hasControl ? `a target with ${code}` : '--control-url';
  return needsByCode[code] ?? (isCapability(code) ? `a target with ${code}` : undefined);
}

function isControlName(name: string): boolean {
  return isCapability(name) && isControl(name);
}

function isCapability(name: string): name is Capability {
  return capabilityNames.some((each) => each === name);
}
