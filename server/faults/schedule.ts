/**
 * Decides when a rule fires: once, a number of times, at random within a budget, or by a script.
 * Pure except for the random source.
 */
import { type Random, seededRandom } from '../../fixtures/base/random.ts';
import type { ActionWithFields, FaultRule } from './rule.ts';

/** A due turn of a rule: the action, and its position in a script. */
export interface DueAction {
  readonly action: ActionWithFields;
  /** Position from 0; always 0 for a rule without a script. */
  readonly step: number;
}

type ScheduledRule = Pick<FaultRule, 'id' | 'act' | 'script' | 'times'> & {
  readonly match: Pick<FaultRule['match'], 'nthCall'>;
};

/** Counts the calls of one caller: of one device, or of all callers that a rule matches. */
export class FaultSchedule {
  readonly #rule: ScheduledRule;
  readonly #chance: Random | undefined;
  #calls = 0;
  #taken = 0;
  #inARow = 0;

  /**
   * `callerKey` is the caller whose calls are counted. Random turns depend only on it, the seed
   * and the ID of the rule.
   */
  constructor(rule: ScheduledRule, callerKey: string) {
    this.#rule = rule;
    const { times } = rule;
    if (typeof times === 'object' && 'share' in times) {
      this.#chance = seededRandom(times.seed).stream(`${rule.id}/${callerKey}`);
    }
  }

  /** Number of remaining turns; undefined if unlimited. */
  get left(): number | undefined {
    const { script, times = 'once' } = this.#rule;
    if (script) return script.slice(this.#taken).filter((step) => step !== 'pass').length;
    if (times === 'once') return 1 - this.#taken;
    return typeof times === 'object' && 'next' in times ? times.next - this.#taken : undefined;
  }

  /** Counts a call, and returns its due turn, if any. The turn stays due until `take` is called. */
  call(): DueAction | undefined {
    this.#calls += 1;
    if (this.#calls < (this.#rule.match.nthCall ?? 1)) return undefined;
    const { act: action, script } = this.#rule;
    if (script) return this.#step(script);
    return action && this.#isDue() ? { action, step: 0 } : undefined;
  }

  /** Uses up the turn of this call. */
  take(): void {
    this.#taken += 1;
    this.#inARow += 1;
  }

  /** Returns a turn whose action did not happen. */
  giveBack(): void {
    this.#taken = Math.max(0, this.#taken - 1);
    this.#inARow = Math.max(0, this.#inARow - 1);
  }

  /**
   * Records that the call passed although a turn was due, for example because an earlier rule
   * fired.
   */
  pass(): void {
    this.#inARow = 0;
  }

  #step(script: readonly (ActionWithFields | 'pass')[]): DueAction | undefined {
    const action = script[this.#taken];
    if (action !== 'pass') return action && { action, step: this.#taken };
    this.#taken += 1;
    return undefined;
  }

  #isDue(): boolean {
    const { times = 'once' } = this.#rule;
    if (typeof times === 'string') return times === 'until-cleared' || this.#taken === 0;
    if ('next' in times) return this.#taken < times.next;
    // A number is drawn for every call, so that the outcome of one call does not shift the
    // following ones.
    const isDrawn = (this.#chance?.fraction() ?? 1) < times.share;
    if (isDrawn && this.#inARow < times.neverMoreThanInARow) return true;
    this.#inARow = 0;
    return false;
  }
}
