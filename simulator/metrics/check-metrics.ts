/**
 * Counts verdicts on the exchanges of watched devices, by requirement and stage, and stores the
 * first violation of each requirement.
 */
import type { WatchedExchange } from '../network/exchange-tap.ts';
import { INTERVALS_MAX, SECOND_MS, violationsByInterval } from '../result/merge-checks.ts';
import type { Checks, FirstViolation, RequirementChecks } from '../result/result-checks.ts';

/** Evidence of a violation of a requirement, without secrets. */
type RequirementEvidence = Pick<FirstViolation, 'expected' | 'actual' | 'request' | 'response'>;

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
export interface SampledExchangeJudge {
  /** All requirements that the judge can check. */
  readonly requirements: readonly Pick<RequirementChecks, 'requirement' | 'sentence'>[];
  /** Called with each watched exchange when it ends; returns the verdicts. */
  judge(exchange: WatchedExchange): readonly RequirementVerdict[];
}

/** The part of a violation that is reported at once. */
type ViolationNotice = Readonly<Record<'requirement' | 'operation', string>> & {
  readonly device: number;
};

interface JudgementCounts {
  judged: number;
  violated: number;
}

interface RequirementCounts extends JudgementCounts {
  readonly sentence: string;
  readonly stages: Map<string, JudgementCounts>;
  firstViolation: Omit<FirstViolation, 'requestsPerSecond'> | undefined;
  /**
   * Number of violations per interval, by the start of the interval in milliseconds since the Unix
   * epoch. An interval is a second, or longer after folding.
   */
  violations: Map<number, number>;
}

/** The verdicts of one run. */
export class CheckMetrics {
  readonly #judge: SampledExchangeJudge;
  readonly #onViolation: (violation: ViolationNotice) => void;
  readonly #counts = new Map<string, RequirementCounts>();
  #exchanges = 0;

  constructor(
    judge: SampledExchangeJudge,
    onViolation: (violation: ViolationNotice) => void = () => undefined,
  ) {
    this.#judge = judge;
    this.#onViolation = onViolation;
    for (const { requirement, sentence } of judge.requirements) {
      const none = { judged: 0, violated: 0, firstViolation: undefined };
      this.#counts.set(requirement, {
        sentence,
        ...none,
        stages: new Map(),
        violations: new Map(),
      });
    }
  }

  /** Judges an exchange that ended in this stage and counts the verdicts. */
  record(exchange: WatchedExchange, stage: string): void {
    this.#exchanges++;
    for (const { requirement, evidence } of this.#judge.judge(exchange)) {
      const requirementCounts = this.#counts.get(requirement);
      if (requirementCounts === undefined) continue;
      const stageCounts = requirementCounts.stages.get(stage) ?? { judged: 0, violated: 0 };
      requirementCounts.stages.set(stage, stageCounts);
      for (const each of [requirementCounts, stageCounts]) {
        each.judged++;
        if (evidence) each.violated++;
      }
      if (evidence === undefined) continue;
      const { device, operation, endedMs: atMs } = exchange;
      this.#onViolation({ device, requirement, operation });
      countViolation(requirementCounts, atMs);
      requirementCounts.firstViolation ??= { device, atMs, operation, stage, ...evidence() };
    }
  }

  /** Returns the requirements that have been violated so far. */
  violated(): readonly string[] {
    return [...this.#counts].flatMap(([requirement, { violated }]) =>
      violated > 0 ? requirement : [],
    );
  }

  /**
   * Returns the figures so far, with request rates of 0 that are filled in later.
   * @param devices number of watched devices
   */
  figures(devices: number): Checks {
    const requirements = [...this.#counts].map(
      ([requirement, requirementTally]): RequirementChecks => {
        const { sentence, judged, violated, stages, firstViolation, violations } = requirementTally;
        const rows = [...stages].map(([stage, stageCounts]) => ({
          stage,
          ...stageCounts,
          ...unrated,
        }));
        return {
          requirement,
          sentence,
          judged,
          violated,
          stages: rows,
          violations: violationsByInterval([...violations]),
          ...(firstViolation && { firstViolation: { ...firstViolation, ...unrated } }),
        };
      },
    );
    return { devices, exchanges: this.#exchanges, requirements };
  }
}

function countViolation(requirementTally: RequirementCounts, atMs: number): void {
  const second = Math.floor(atMs / SECOND_MS) * SECOND_MS;
  requirementTally.violations.set(second, (requirementTally.violations.get(second) ?? 0) + 1);
  if (requirementTally.violations.size <= INTERVALS_MAX) return;
  requirementTally.violations = new Map(violationsByInterval([...requirementTally.violations]));
}

const unrated = { requestsPerSecond: 0 };
