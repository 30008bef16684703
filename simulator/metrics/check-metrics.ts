/**
 * Counts verdicts on the exchanges of watched devices, by requirement and phase, and stores the
 * first breach of each requirement.
 */

import type { WatchedExchange } from '../network/exchange-tap.ts';
import { breachesByInterval, INTERVALS_MAX, SECOND_MS } from '../result/merge-checks.ts';
import type { Checks, FirstBreach, RequirementChecks } from '../result/result-checks.ts';

/** Evidence of a breach of a requirement, without secrets. */
type RequirementEvidence = Pick<FirstBreach, 'expected' | 'actual' | 'request' | 'response'>;

/**
 * The verdict on one requirement for one exchange; `evidence` is defined when the exchange violates
 * it.
 */
interface RequirementVerdict {
  readonly requirement: string;
  readonly evidence: (() => RequirementEvidence) | undefined;
}

/**
 * Judges watched exchanges. The caller supplies the judge, because the simulator has no conformance
 * rules of its own.
 */
export interface ExchangeJudge {
  /** All requirements that the judge can check. */
  readonly requirements: readonly Pick<RequirementChecks, 'requirement' | 'sentence'>[];
  /** Called with each watched exchange when it ends; returns the verdicts. */
  see(exchange: WatchedExchange): readonly RequirementVerdict[];
}

/** The part of a breach that is reported at once. */
type BreachNotice = Readonly<Record<'requirement' | 'operation', string>> & {
  readonly device: number;
};

interface CheckTally {
  judged: number;
  broken: number;
}

interface RequirementTally extends CheckTally {
  readonly sentence: string;
  readonly phases: Map<string, CheckTally>;
  firstBreach: Omit<FirstBreach, 'requestsPerSecond'> | undefined;
  /**
   * Number of breaches per interval, by the start of the interval in milliseconds since the Unix
   * epoch. An interval is a second, or longer after folding.
   */
  breaches: Map<number, number>;
}

/** The verdicts of one run. */
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

  /** Judges an exchange that ended in this phase and counts the verdicts. */
  record(exchange: WatchedExchange, phase: string): void {
    this.#exchanges++;
    for (const { requirement, evidence } of this.#judge.see(exchange)) {
      const requirementTally = this.#tallies.get(requirement);
      if (requirementTally === undefined) continue;
      const tally = requirementTally.phases.get(phase) ?? { judged: 0, broken: 0 };
      requirementTally.phases.set(phase, tally);
      for (const each of [requirementTally, tally]) {
        each.judged++;
        if (evidence) each.broken++;
      }
      if (evidence === undefined) continue;
      const { device, operation, endedMs: atMs } = exchange;
      this.#onBreach({ device, requirement, operation });
      countBreach(requirementTally, atMs);
      requirementTally.firstBreach ??= { device, atMs, operation, phase, ...evidence() };
    }
  }

  /** Returns the requirements that have been violated so far. */
  broken(): readonly string[] {
    return [...this.#tallies].flatMap(([requirement, { broken }]) =>
      broken > 0 ? requirement : [],
    );
  }

  /**
   * Returns the figures so far, with request rates of 0 that are filled in later.
   * @param devices number of watched devices
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
          breaches: breachesByInterval([...breaches]),
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
  if (requirementTally.breaches.size <= INTERVALS_MAX) return;
  requirementTally.breaches = new Map(breachesByInterval([...requirementTally.breaches]));
}

const unrated = { requestsPerSecond: 0 };
