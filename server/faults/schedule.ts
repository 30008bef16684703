/** When a rule fires: once, a number of times, by chance within a budget, or as a script. Pure except for the random source. */
import { type Random, seededRandom } from '../../fixtures/random.ts';
import type { GivenAction, Rule } from './rule.ts';

/** A turn that was taken: the action, and its place in a script. */
export interface Turn {
  readonly act: GivenAction;
  /** From 0; 0 of a rule without a script. */
  readonly step: number;
}

type Scheduled = Pick<Rule, 'id' | 'act' | 'script' | 'times'> & {
  readonly match: Pick<Rule['match'], 'nthCall'>;
};

/** Counts the calls of one party: of all that a rule matches, or of one device. */
export class Schedule {
  readonly #rule: Scheduled;
  readonly #chance: Random | undefined;
  #calls = 0;
  #taken = 0;
  #inARow = 0;

  /** `party` is whom it counts for; chance hangs on it, the seed and the rule's id only. */
  constructor(rule: Scheduled, party: string) {
    this.#rule = rule;
    const { times } = rule;
    if (typeof times === 'object' && 'share' in times) {
      this.#chance = seededRandom(times.seed).stream(`${rule.id}/${party}`);
    }
  }

  /** The number of remaining turns; undefined when unlimited. */
  get left(): number | undefined {
    const { script, times = 'once' } = this.#rule;
    if (script) return script.slice(this.#taken).filter((step) => step !== 'pass').length;
    if (times === 'once') return 1 - this.#taken;
    return typeof times === 'object' && 'next' in times ? times.next - this.#taken : undefined;
  }

  /** Counts a call; the turn that it is due, which stays due until it is taken. */
  call(): Turn | undefined {
    this.#calls += 1;
    if (this.#calls < (this.#rule.match.nthCall ?? 1)) return undefined;
    const { act, script } = this.#rule;
    if (script) return this.#step(script);
    return act && this.#isDue() ? { act, step: 0 } : undefined;
  }

  /** Uses the turn of this call up. */
  take(): void {
    this.#taken += 1;
    this.#inARow += 1;
  }

  /** Gives a turn back that came to nothing. */
  giveBack(): void {
    this.#taken = Math.max(0, this.#taken - 1);
    this.#inARow = Math.max(0, this.#inARow - 1);
  }

  /** The call passes although a turn was due, as when another rule was first. */
  pass(): void {
    this.#inARow = 0;
  }

  #step(script: readonly (GivenAction | 'pass')[]): Turn | undefined {
    const act = script[this.#taken];
    if (act !== 'pass') return act && { act, step: this.#taken };
    this.#taken += 1;
    return undefined;
  }

  #isDue(): boolean {
    const { times = 'once' } = this.#rule;
    if (typeof times === 'string') return times === 'until-cleared' || this.#taken === 0;
    if ('next' in times) return this.#taken < times.next;
    // Drawn at every call, so that what others do does not shift what follows.
    const isDrawn = (this.#chance?.fraction() ?? 1) < times.share;
    if (isDrawn && this.#inARow < times.neverMoreThanInARow) return true;
    this.#inARow = 0;
    return false;
  }
}
