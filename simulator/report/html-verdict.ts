/** The verdict of a run and what decided it, in sentences for the top of the page. */
import { counted } from '../../fixtures/counted.ts';
import { contactDoubt } from '../result/contact.ts';
import type { FleetResult } from '../result/result.ts';
import { differencesIn, headline, pendingSentences } from './headline.ts';
import type { FleetFacts, ShownTone } from './page-facts.ts';
import { brokenRequirements } from './text-checks.ts';

type Because = FleetFacts['verdict']['because'][number];

const shown = {
  PASSED: { title: 'Passed', tone: 'good' },
  FAILED: { title: 'Failed', tone: 'bad' },
  UNDECIDED: { title: 'Undecided', tone: 'busy' },
  INVALID: { title: 'Invalid: the load generator was the limit', tone: 'busy' },
  INTERRUPTED: { title: 'Interrupted', tone: 'busy' },
} as const;

const order: readonly ShownTone[] = ['bad', 'busy', 'good', 'plain'];
/** Broken requirements that are named; the checks below have all of them. */
const BROKEN_NAMED_MAX = 5;

/** Returns the verdict, and behind it each part of it, the worst first. */
export function verdictOf(result: FleetResult): FleetFacts['verdict'] {
  const because = [
    ...generatorLines(result),
    ...contactLines(result),
    ...thresholdLines(result),
    checkLine(result),
    reconciliationLine(result),
  ];
  return {
    ...shown[headline(result).verdict],
    because: because.toSorted((one, other) => order.indexOf(one.tone) - order.indexOf(other.tone)),
  };
}

function generatorLines({ generator, validity }: FleetResult): readonly Because[] {
  if (validity === 'valid') return [];
  return generator.reasons.map((reason) => {
    return { tone: 'bad', text: `The load generator was the limit: ${reason}` };
  });
}

function contactLines(result: FleetResult): readonly Because[] {
  return [
    ...contactSentences(result).map((text) => ({ tone: 'busy' as const, text })),
    ...(result.spread?.lost ?? []).map(({ shard, because }) => {
      return { tone: 'busy' as const, text: `Shard ${shard} was lost: ${because}` };
    }),
  ];
}

function contactSentences(result: FleetResult): readonly string[] {
  const doubt = contactDoubt(result);
  if (doubt === 'no device got an answer') return ['No device got an answer.'];
  return doubt === undefined ? [] : pendingSentences(result);
}

function thresholdLines({ thresholds }: FleetResult): readonly Because[] {
  const tones = { met: 'good', missed: 'bad', undecided: 'busy' } as const;
  if (thresholds.length === 0) return [{ tone: 'plain', text: 'No thresholds were set.' }];
  return thresholds.map(({ threshold, verdict, observed }) => {
    return { tone: tones[verdict], text: `Threshold ${threshold} ${verdict}: ${observed}` };
  });
}

function checkLine({ checks }: FleetResult): Because {
  if (checks === undefined)
    return { tone: 'plain', text: 'No traffic was checked; to check it, use --check-share.' };
  const broken = brokenRequirements(checks);
  const judged = checks.requirements.filter((row) => row.judged > 0).length;
  if (broken.length > 0) {
    const named = broken.slice(0, BROKEN_NAMED_MAX).map(({ requirement }) => requirement);
    const more = broken.length - named.length;
    const names = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    const count = `${broken.length} of ${counted(judged, 'checked requirement')}`;
    return { tone: 'bad', text: `The server broke ${count}: ${names}` };
  }
  if (judged === 0) return { tone: 'busy', text: 'No requirement was tested.' };
  return { tone: 'good', text: `The server met all ${counted(judged, 'checked requirement')}.` };
}

function reconciliationLine({ reconciliation }: FleetResult): Because {
  if (!reconciliation.checked) {
    return {
      tone: 'plain',
      text: `Not reconciled: ${reconciliation.because ?? 'no reason is known'}`,
    };
  }
  if (reconciliation.ok) {
    return { tone: 'good', text: 'Reconciliation: devices and server agree.' };
  }
  const count = counted(differencesIn(reconciliation), 'difference');
  return { tone: 'bad', text: `Reconciliation found ${count} between devices and server.` };
}
