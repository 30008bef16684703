/**
 * Counts the verdicts of the judge of a watched sample: by requirement and phase, with the first
 * breach.
 */

import type { WatchedExchange } from '../network/exchange-tap.ts';
import { foldedBreaches, SECOND_MS, STRETCHES_MAX } from '../result/merge-checks.ts';
import type { Breach, Checks, RequirementChecks } from '../result/result-checks.ts';

/** Evidence of a broken requirement, without secrets. */
type BreachEvidence = Pick<Breach, 'expected' | 'seen' | 'request' | 'answer'>;

/** The verdict of an exchange on one requirement; with a breach, the requirement is broken. */
interface RequirementVerdict {
  readonly requirement: string;
  readonly breach?: () => BreachEvidence;
}

/** Judges the watched exchanges; the simulator itself has no rules of conformance. */
export interface ExchangeJudge {
  /** All requirements that it can judge. */
  readonly requirements: readonly Pick<RequirementChecks, 'requirement' | 'sentence'>[];
  /** Called for each watched exchange as it ends. */
  see(exchange: WatchedExchange): readonly RequirementVerdict[];
}

/** What is reported immediately about a breach. */
type BreachNotice = Readonly<Record<'requirement' | 'operation', string>> & {
  readonly device: number;
};

interface Tally {
  judged: number;
  broken: number;
}

interface RequirementTally extends Tally {
  readonly sentence: string;
  readonly phases: Map<string, Tally>;
  firstBreach: Omit<Breach, 'requestsPerSecond'> | undefined;
  /**
   * Number of breaches by the start of their second since the Unix epoch, or of a longer interval.
   */
  breaches: Map<number, number>;
}

/** The metrics of the checks of one run. */
export class CheckMetrics {
  readonly #judge: ExchangeJudge;
  readonly #onBreach: (breach: BreachNotice) => void;
  readonly #tallies = new Map<string, RequirementTally>();
  #exchanges = 0;

  constructor(judge: ExchangeJudge, onBreach: (breach: BreachNotice) => void = () => undefined) {
    this.#judge = judge;
    this.#onBreach = onBreach;
    for (const { requirement, sentence } of judge.requirements) {
      const none = { judged: 0, broken: 0, firstBreach: undefined };
      this.#tallies.set(requirement, { sentence, ...none, phases: new Map(), breaches: new Map() });
    }
  }

  /** Records an exchange that has ended in this phase. */
  record(exchange: WatchedExchange, phase: string): void {
    this.#exchanges++;
    for (const { requirement, breach } of this.#judge.see(exchange)) {
      const requirementTally = this.#tallies.get(requirement);
      if (requirementTally === undefined) continue;
      const tally = requirementTally.phases.get(phase) ?? { judged: 0, broken: 0 };
      requirementTally.phases.set(phase, tally);
      for (const each of [requirementTally, tally]) {
        each.judged++;
        if (breach) each.broken++;
      }
      if (breach === undefined) continue;
      const { device, operation, endedMs: atMs } = exchange;
      this.#onBreach({ device, requirement, operation });
      countBreach(requirementTally, atMs);
      requirementTally.firstBreach ??= { device, atMs, operation, phase, ...breach() };
    }
  }

  /** Returns the requirements broken so far. */
  broken(): readonly string[] {
    return [...this.#tallies].flatMap(([requirement, { broken }]) =>
      broken > 0 ? requirement : [],
    );
  }

  /**
   * Returns the figures so far; rates are filled in later. @param devices number of watched devices
   */
  figures(devices: number): Checks {
    const requirements = [...this.#tallies].map(
      ([requirement, requirementTally]): RequirementChecks => {
        const { sentence, judged, broken, phases, firstBreach, breaches } = requirementTally;
        const rows = [...phases].map(([phase, tally]) => ({ phase, ...tally, ...unrated }));
        return {
          requirement,
          sentence,
          judged,
          broken,
          phases: rows,
          breaches: foldedBreaches([...breaches]),
          ...(firstBreach && { firstBreach: { ...firstBreach, ...unrated } }),
        };
      },
    );
    return { devices, exchanges: this.#exchanges, requirements };
  }
}

function countBreach(requirementTally: RequirementTally, atMs: number): void {
  const second = Math.floor(atMs / SECOND_MS) * SECOND_MS;
  requirementTally.breaches.set(second, (requirementTally.breaches.get(second) ?? 0) + 1);
  if (requirementTally.breaches.size <= STRETCHES_MAX) return;
  requirementTally.breaches = new Map(foldedBreaches([...requirementTally.breaches]));
}

const unrated = { requestsPerSecond: 0 };
