/** The type of the findings about a run, from which its outcome follows. */

/**
 * States of a finding, the worst first. The worst state among the findings is the verdict of the
 * run.
 */
export const states = [
  'failed',
  'invalid',
  'incomplete',
  'not accepted',
  'inconclusive',
  'passed',
  'not judged',
] as const;
export type FindingState = (typeof states)[number];

/** A condition on a run and whether it holds. */
export interface RunFinding {
  readonly state: FindingState;
  /** The condition, such as `devices reach the server`. */
  readonly condition: string;
  /** A complete sentence with the observation. */
  readonly sentence: string;
  /** Short form for the first line of a report; absent when the finding is not mentioned there. */
  readonly brief?: string;
  /** True for a finding about one requirement of the contract. Reports only count the met ones. */
  readonly isRequirement?: true;
}
