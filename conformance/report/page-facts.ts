/** The data of the HTML page: the result of a run and the coverage of requirements. */

export interface ShownExchange {
  readonly startMs: number;
  readonly elapsedMs: number;
  readonly request: MessageFacts & { readonly line: string };
  readonly response?: MessageFacts & { readonly status: number };
  readonly failure?: string;
}

export interface MessageFacts {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ShownVerdict {
  readonly id: string;
  readonly title: string;
  readonly start: string;
  readonly level: string;
  readonly effect: string;
  readonly needs: readonly string[];
  readonly requirements: readonly string[];
  readonly violated?: readonly string[];
  readonly verdict: string;
  readonly reason?: { readonly code: string; readonly text: string };
  readonly expected?: string;
  readonly actual?: string;
  readonly observation?: string;
  readonly violations?: readonly {
    readonly operation: string;
    readonly text: string;
    readonly requirements: readonly string[];
  }[];
  readonly startedMs: number;
  readonly durationMs: number;
  readonly tolerated?: true;
  readonly waiver?: {
    readonly reason: string;
    readonly owner: string;
    readonly expires: string;
    readonly follows?: string;
  };
  readonly attempts?: readonly { readonly verdict: string; readonly durationMs: number }[];
  readonly exchanges?: readonly ShownExchange[];
  readonly exchangesDropped?: number;
  readonly reproScript?: string;
  readonly leftBehind?: readonly string[];
}

export interface ShownRequirement {
  readonly id: string;
  readonly heading: string;
  readonly level: string;
  readonly plan: string;
  readonly sentence: string;
  readonly state: string;
  readonly reason?: string;
  readonly cases: readonly string[];
  readonly everywhere?: readonly string[];
}

interface ShownReading {
  readonly id: string;
  readonly heading: string;
  readonly question: string;
  readonly reference: string;
  readonly target: readonly { readonly caseId: string; readonly text: string }[];
}

/** The number of exchanges by operation that one requirement judged. */
export interface ShownJudgement {
  readonly requirement: string;
  readonly operations: readonly {
    readonly operation: string;
    readonly judged: number;
    readonly violated: number;
  }[];
  readonly unjudged: readonly string[];
}

/** The comparison with an earlier run, case by case. */
export interface ShownComparison {
  readonly before: {
    readonly baseUrl: string;
    readonly startedAt: string;
    readonly runId: string;
    readonly outcome: string;
  };
  readonly changes: readonly ShownChange[];
  readonly newCases: readonly { readonly id: string; readonly verdict: string }[];
  readonly vanishedCases: readonly { readonly id: string; readonly verdict: string }[];
  readonly unchanged: number;
}

/** A case with a different verdict or outcome in the earlier run. */
export interface ShownChange {
  readonly id: string;
  readonly kind: string;
  readonly before: { readonly verdict: string; readonly text: string };
}

/** All data of the page. */
export interface PageFacts {
  readonly suite: { readonly name: string; readonly version: string };
  readonly target: { readonly baseUrl: string; readonly headerPrefix: string };
  readonly runId: string;
  readonly seed: string;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly outcome: string;
  readonly headline: string;
  readonly totals: Readonly<Record<string, number>>;
  readonly waived: number;
  readonly musts: {
    readonly decided: number;
    readonly undecided: number;
    readonly undecidedMusts: readonly { readonly id: string; readonly reason: string }[];
  };
  readonly settings: object;
  readonly environment: Readonly<Record<string, string>>;
  readonly capabilities: readonly object[];
  readonly waivers: readonly object[];
  readonly problems: readonly { readonly code: string; readonly text: string }[];
  readonly leftBehind: readonly string[];
  readonly openPoints: readonly ShownReading[];
  readonly requirementsOnAllOperations: readonly ShownJudgement[];
  readonly verdicts: readonly ShownVerdict[];
  readonly requirements: readonly ShownRequirement[];
  /** Shell words of a command that runs one case against the same target; append the case ID. */
  readonly command: readonly string[];
  readonly comparison?: ShownComparison;
}
