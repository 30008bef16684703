/** The labels and colours with which the page shows verdicts, cases and changes. */
import { shellWord } from '../../../fixtures/formats/shell-word.ts';
import type { Tone } from '../../../fixtures/page/badge.tsx';
import type { PageFacts, ShownVerdict } from '../page-facts.ts';

/** The verdicts, the worst first. */
export const verdictOrder = ['fail', 'error', 'inconclusive', 'pass', 'observed', 'skip'];

const tones: Readonly<Record<string, Tone>> = {
  fail: 'negative',
  error: 'negative',
  inconclusive: 'pending',
  pass: 'positive',
  observed: 'info',
};

/** Returns the tone of a verdict. */
export function toneOf(verdict: string): Tone {
  return tones[verdict] ?? 'plain';
}

/** The label of each kind of change, the worst first. */
export const changeLabels: Readonly<Record<string, string>> = {
  regression: 'regression',
  'undecided-now': 'no longer tested',
  'other-failure': 'different failure',
  'changed-observation': 'changed observation',
  repair: 'fixed',
  'decided-now': 'newly tested',
};

/** Returns the tone of a kind of change. */
export function toneOfChange(kind: string): Tone {
  if (kind === 'regression' || kind === 'other-failure') return 'negative';
  return kind === 'repair' || kind === 'decided-now' ? 'positive' : 'pending';
}

/** Returns the area of a case, which is the first part of its ID. */
export function areaOf({ id }: Pick<ShownVerdict, 'id'>): string {
  return id.split('/')[0] ?? '';
}

/** Returns the outcome behind a verdict as a phrase; empty for a pass. */
export function outcomeText({ expected, actual, observation, reason }: ShownVerdict): string {
  if (expected !== undefined) return `expected ${expected}, actual ${actual ?? 'nothing'}`;
  return observation ?? reason?.text ?? '';
}

/** Returns true for a failure that does not fail the run. */
export function isWaived({ waiver, tolerated }: ShownVerdict): boolean {
  return waiver !== undefined || tolerated === true;
}

/** Returns true for a verdict that needs no attention: passed, observed, skipped or excused. */
export function needsNoAttention(verdict: ShownVerdict): boolean {
  return isWaived(verdict) || !['fail', 'error', 'inconclusive'].includes(verdict.verdict);
}

/** Returns the requirements that a failure violated. */
export function violatedBy({
  violated,
  requirements,
  violations = [],
}: ShownVerdict): readonly string[] {
  const byPassiveChecks = violations.flatMap((each) => each.requirements);
  return [...new Set([...(violated ?? requirements), ...byPassiveChecks])];
}

/** Returns the command that runs one case again. */
export function commandFor({ command }: PageFacts, id: string): string {
  return [...command, id].map(shellWord).join(' ');
}

/** Returns the URL of this page with a case opened. */
export function linkTo(id: string): string {
  return `${location.href.split('#')[0]}#${id}`;
}
