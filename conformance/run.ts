/** One run over the cases: stages, shared artifacts, progress, the brake for a lost target. */
import type { Clock } from '../fixtures/clock.ts';
import { vendorNames } from '../fixtures/contract/vendor-names.ts';
import type { Random } from '../fixtures/random.ts';
import { type Capability, operationsWith } from './capabilities.ts';
import type { PlayableCase } from './case.ts';
import { withByHand } from './report/by-hand.ts';
import type { CaseVerdict, Finding } from './result.ts';
import { type Gates, gate, inconclusive, play, unplayed } from './runner.ts';
import { Keyring } from './stage/keyring.ts';
import type { Operator } from './stage/operator.ts';
import { SharedArtifacts } from './stage/shared-artifacts.ts';
import { Stage } from './stage/stage.ts';
import type { Control } from './steering/control.ts';
import { type OperatorSource, operatorOn } from './steering/operator-source.ts';
import type { Mask } from './target/mask.ts';
import type { Session, Target } from './target/target.ts';
import { transportCodes } from './target/transport-failure.ts';

/** Cases in a row that may get no answer before the rest is given up. */
const SILENT_CASES_MAX = 5;

const silentCodes: ReadonlySet<string> = new Set([...transportCodes, 'case-time-limit']);

/** What is known when the first case is about to be played. */
export interface RunStart {
  readonly runId: string;
  readonly seed: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  /** The ids of the cases of the run. */
  readonly ids: readonly string[];
}

/** How a caller follows a run, and ends it. */
export interface Progress {
  /** Called once, after the target was reached and the user was logged in. */
  readonly onStart?: (start: RunStart) => void;
  /** Called with each verdict as soon as it is found. */
  readonly onVerdict?: (verdict: CaseVerdict) => void;
  /** Ends the run: the case at hand is given up and cleaned up, the others are not played. */
  readonly signal?: AbortSignal;
}

export interface RunOptions extends Progress {
  /** Part of the name of everything that the run makes. */
  readonly id: string;
  readonly target: Target;
  readonly operator: OperatorSource;
  /** Powers over the target that no client has. */
  readonly control?: Control | undefined;
  /** The capabilities that cases may count on. */
  readonly offered: ReadonlySet<Capability>;
  readonly mask: Mask;
  readonly headerPrefix: string;
  readonly disruptive?: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly caseTimeLimitMs: number;
}

/** The run. Its owner closes it, which removes what the cases shared. */
export class Run {
  /** Part of the name of everything that the run makes. */
  readonly id: string;
  readonly #options: RunOptions;
  readonly #gates: Gates;
  readonly #keyring = new Keyring();
  readonly #artifacts = new SharedArtifacts();
  readonly #startedMs: number;
  #silentCases = 0;

  constructor(options: RunOptions) {
    const { id, operator, offered, disruptive = false, clock } = options;
    this.id = id;
    this.#options = options;
    this.#startedMs = clock.monotonicMs();
    this.#gates = {
      capabilities: offered,
      disruptive,
      operatorUnusable: operator.kind === 'unusable' ? operator.because : undefined,
    };
  }

  /** The verdict on each case, in order, without secrets. */
  async play(cases: readonly PlayableCase[]): Promise<readonly CaseVerdict[]> {
    const verdicts: CaseVerdict[] = [];
    for (const each of cases) {
      const verdict = this.#told(await this.#playOne(each));
      verdicts.push(verdict);
      this.#options.onVerdict?.(verdict);
    }
    return verdicts;
  }

  /** The verdict without secrets, with the way to repeat a failure. */
  #told(verdict: CaseVerdict): CaseVerdict {
    return withByHand(this.#options.mask.value(verdict), this.#options.target.options.baseUrl);
  }

  /** Removes what the cases shared, and gives a line for each thing that stayed. */
  async close(): Promise<readonly string[]> {
    const { target, mask } = this.#options;
    return mask.value(await this.#artifacts.release(this.#operatorOn(target.session())));
  }

  async #playOne(each: PlayableCase): Promise<CaseVerdict> {
    const barred = gate(each, this.#gates) ?? this.#bar();
    const { clock, caseTimeLimitMs, target, signal } = this.#options;
    const startedMs = Math.round(clock.monotonicMs() - this.#startedMs);
    if (barred) return unplayed(each, barred, startedMs);
    const verdict = await play(each, {
      clock,
      runStartedMs: this.#startedMs,
      caseTimeLimitMs,
      signal,
      openStage: (played, ended) => this.#openStage(played, ended),
      release: (stage) => stage.ownership.release(this.#operatorOn(target.session())),
    });
    this.#silentCases = silentCodes.has(verdict.reason?.code ?? '') ? this.#silentCases + 1 : 0;
    return verdict;
  }

  #bar(): Finding | undefined {
    if (this.#options.signal?.aborted) {
      return inconclusive('interrupted', 'the run was interrupted before this case');
    }
    if (this.#silentCases < SILENT_CASES_MAX) return undefined;
    return inconclusive('target-lost', `${SILENT_CASES_MAX} cases in a row got no answer`);
  }

  #openStage(each: PlayableCase, signal: AbortSignal): Stage {
    const { target, headerPrefix, clock, mask, control } = this.#options;
    const session = target.session(signal);
    const random = this.#options.random.stream(each.id);
    return new Stage({
      session,
      operator: this.#operatorOn(session),
      control,
      operations: operationsWith(this.#gates.capabilities),
      artifacts: this.#artifacts,
      keyFor: (keyType) => this.#keyring.keyFor(keyType, random),
      names: vendorNames(headerPrefix),
      runId: this.id,
      clock,
      random,
      signal,
      learnSecret: (secret, kind = 'device-token') => mask.learn(secret, kind),
    });
  }

  #operatorOn(session: Session): Operator | undefined {
    return operatorOn(this.#options.operator, session);
  }
}
