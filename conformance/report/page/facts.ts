/** What the page was given: the result of a run and the map of requirements, as plain values. */

export interface ShownExchange {
  readonly startMs: number;
  readonly elapsedMs: number;
  readonly request: Message & { readonly line: string };
  readonly answer?: Message & { readonly status: number };
  readonly failure?: string;
}

export interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ShownVerdict {
  readonly id: string;
  readonly title: string;
  readonly scenario: string;
  readonly start: string;
  readonly level: string;
  readonly risk: string;
  readonly needs: readonly string[];
  readonly requirements: readonly string[];
  readonly missed?: readonly string[];
  readonly verdict: string;
  readonly reason?: { readonly code: string; readonly text: string };
  readonly expected?: string;
  readonly actual?: string;
  readonly observation?: string;
  readonly breaches?: readonly {
    readonly operation: string;
    readonly text: string;
    readonly requirements: readonly string[];
  }[];
  readonly startedMs: number;
  readonly durationMs: number;
  readonly tolerated?: true;
  readonly waiver?: { readonly reason: string; readonly owner: string; readonly expires: string };
  readonly attempts?: readonly { readonly verdict: string; readonly durationMs: number }[];
  readonly exchanges?: readonly ShownExchange[];
  readonly exchangesDropped?: number;
  readonly byHand?: string;
  readonly leftBehind?: readonly string[];
}

export interface ShownRequirement {
  readonly id: string;
  readonly heading: string;
  readonly level: string;
  readonly plan: string;
  readonly sentence: string;
  readonly standing: string;
  readonly reason?: string;
  readonly cases: readonly string[];
  readonly everywhere?: readonly string[];
}

interface ShownReading {
  readonly id: string;
  readonly heading: string;
  readonly question: string;
  readonly ours: string;
  readonly seen: readonly { readonly caseId: string; readonly text: string }[];
}

/** Everything that the page shows. */
export interface PageFacts {
  readonly suite: { readonly name: string; readonly version: string };
  readonly target: Readonly<Record<string, string>>;
  readonly runId: string;
  readonly seed: string;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly outcome: string;
  readonly headline: string;
  readonly totals: Readonly<Record<string, number>>;
  readonly musts: {
    readonly decided: number;
    readonly undecided: number;
    readonly undecidedMusts: readonly { readonly id: string; readonly because: string }[];
  };
  readonly settings: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string>>;
  readonly capabilities: readonly Readonly<Record<string, string>>[];
  readonly waivers: readonly Readonly<Record<string, string>>[];
  readonly problems: readonly { readonly code: string; readonly text: string }[];
  readonly leftBehind: readonly string[];
  readonly openPoints: readonly ShownReading[];
  readonly judgedEverywhere: readonly {
    readonly requirement: string;
    readonly operations: readonly {
      readonly operation: string;
      readonly judged: number;
      readonly broken: number;
    }[];
    readonly unjudged: readonly string[];
  }[];
  readonly verdicts: readonly ShownVerdict[];
  readonly requirements: readonly ShownRequirement[];
}

/** The facts in the page. They were written by the renderer, which knows their form. */
export function embeddedFacts(): PageFacts {
  return JSON.parse(document.getElementById('facts')?.textContent ?? '') as PageFacts;
}

/** The first part of a case's id. */
export function areaOf({ id }: Pick<ShownVerdict, 'id'>): string {
  return id.split('/')[0] ?? '';
}
