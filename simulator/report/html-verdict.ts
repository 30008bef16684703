/** The verdict of a run and its reasons, as sentences for the top of the page. */
import { countText } from '../../fixtures/base/count-text.ts';
import type { FindingState, RunFinding } from '../result/finding.ts';
import { outcomeOf, type RunVerdict } from '../result/outcome.ts';
import type { FleetResult } from '../result/result.ts';
import type { FleetFacts, ShownTone } from './page-facts.ts';

type VerdictReason = FleetFacts['verdict']['reason'][number];

const badges = {
  passed: { title: 'Passed', tone: 'positive' },
  failed: { title: 'Failed', tone: 'negative' },
  inconclusive: { title: 'Inconclusive', tone: 'pending' },
  'not accepted': { title: 'Inconclusive: no device was accepted', tone: 'pending' },
  incomplete: { title: 'Incomplete: part of the fleet is unknown', tone: 'pending' },
  invalid: { title: 'Invalid: the load generator was the limit', tone: 'pending' },
  interrupted: { title: 'Interrupted', tone: 'pending' },
} as const satisfies Readonly<Record<RunVerdict, object>>;

const tones: Readonly<Record<FindingState, ShownTone>> = {
  passed: 'positive',
  failed: 'negative',
  inconclusive: 'pending',
  'not accepted': 'pending',
  incomplete: 'pending',
  invalid: 'negative',
  'not judged': 'plain',
};
const order: readonly ShownTone[] = ['negative', 'pending', 'positive', 'plain'];
/** Maximum number of reasons listed; the sections of the page contain all findings. */
const NAMED_MAX = 20;
const SENTENCE_MAX_CHARACTERS = 500;

/** Returns the verdict and its reasons, the worst first. */
export function verdictOf(result: FleetResult): FleetFacts['verdict'] {
  const { verdict, findings } = outcomeOf(result);
  const listedFindings = findings.filter(
    ({ state, isRequirement }) => !isRequirement || state === 'failed',
  );
  const reason = [
    ...listedFindings.map(({ state, sentence }): VerdictReason => {
      return { tone: tones[state], text: shortenSentence(sentence) };
    }),
    ...metLine(findings),
  ];
  const inOrder = reason.toSorted(
    (one, other) => order.indexOf(one.tone) - order.indexOf(other.tone),
  );
  return { ...badges[verdict], reason: inOrder.slice(0, NAMED_MAX) };
}

function metLine(findings: readonly RunFinding[]): readonly VerdictReason[] {
  const metRequirements = findings.filter(
    ({ state, isRequirement }) => isRequirement && state === 'passed',
  );
  if (metRequirements.length === 0) return [];
  return [
    {
      tone: 'positive',
      text: `The server met ${countText(metRequirements.length, 'checked requirement')}.`,
    },
  ];
}

function shortenSentence(sentence: string): string {
  if (sentence.length <= SENTENCE_MAX_CHARACTERS) return sentence;
  return `${sentence.slice(0, SENTENCE_MAX_CHARACTERS)} …`;
}
