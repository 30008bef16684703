/** Counts what the judge of a watched sample decides: by requirement and phase, with the first breach. */
import type { WatchedExchange } from '../client/lookout.ts';
import type { Breach, Checks, RequirementChecks } from './result-checks.ts';

/** What shows that a requirement is broken, without secrets. */
type BreachEvidence = Pick<Breach, 'expected' | 'seen' | 'request' | 'answer'>;

/** One requirement that an exchange has decided; with a breach it is broken. */
interface RequirementVerdict {
  readonly requirement: string;
  readonly breach?: () => BreachEvidence;
}

/** Who judges the watched exchanges; the simulator itself knows nothing of right and wrong. */
export interface ExchangeJudge {
  /** All that it can decide. */
  readonly requirements: readonly Pick<RequirementChecks, 'requirement' | 'sentence'>[];
  /** Called for each watched exchange as it ends. */
  see(exchange: WatchedExchange): readonly RequirementVerdict[];
}

interface Tally {
  judged: number;
  broken: number;
}

interface RequirementBooks extends Tally {
  readonly sentence: string;
  readonly phases: Map<string, Tally>;
  firstBreach: Omit<Breach, 'requestsPerSecond'> | undefined;
}

/** The books of the checks of one run. */
export class CheckBooks {
  readonly #judge: ExchangeJudge;
  readonly #books = new Map<string, RequirementBooks>();
  #exchanges = 0;
  /** Requirements that are broken so far. */
  brokenCount = 0;

  constructor(judge: ExchangeJudge) {
    this.#judge = judge;
    for (const { requirement, sentence } of judge.requirements) {
      const empty = { judged: 0, broken: 0, phases: new Map(), firstBreach: undefined };
      this.#books.set(requirement, { sentence, ...empty });
    }
  }

  /** An exchange has ended in this phase. */
  saw(exchange: WatchedExchange, phase: string): void {
    this.#exchanges++;
    for (const { requirement, breach } of this.#judge.see(exchange)) {
      const books = this.#books.get(requirement);
      if (books === undefined) continue;
      const tally = books.phases.get(phase) ?? { judged: 0, broken: 0 };
      books.phases.set(phase, tally);
      for (const each of [books, tally]) {
        each.judged++;
        if (breach) each.broken++;
      }
      if (breach === undefined || books.firstBreach) continue;
      this.brokenCount++;
      const { device, operation, endedMs: atMs } = exchange;
      books.firstBreach = { device, atMs, operation, phase, ...breach() };
    }
  }

  /** What it has come to so far; the rates are to be put in. @param devices that are watched */
  figures(devices: number): Checks {
    const requirements = [...this.#books].map(([requirement, books]): RequirementChecks => {
      const { sentence, judged, broken, phases, firstBreach } = books;
      const rows = [...phases].map(([phase, tally]) => ({ phase, ...tally, ...unrated }));
      return {
        requirement,
        sentence,
        judged,
        broken,
        phases: rows,
        ...(firstBreach && { firstBreach: { ...firstBreach, ...unrated } }),
      };
    });
    return { devices, exchanges: this.#exchanges, requirements };
  }
}

const unrated = { requestsPerSecond: 0 };
