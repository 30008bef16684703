/** Why a rule does not accept a part of a request. */
export interface Problem {
  /** The place in the body or query, such as `phases.0.start_ts`; absent for all of it. */
  readonly path?: string;
  readonly problem: string;
}
