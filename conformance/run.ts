/** One run over the cases: stages, shared artifacts, progress, the brake for a lost target. */
import type { Clock } from '../fixtures/clock.ts';
import { vendorNames } from '../fixtures/contract/vendor-names.ts';
import type { Random } from '../fixtures/random.ts';
import type { Capability, PlayableCase } from './case.ts';
import type { CaseVerdict, Finding } from './result.ts';
import { type Gates, gate, inconclusive, play, unplayed } from './runner.ts';
import type { Login } from './setup.ts';
import { Keyring } from './stage/keyring.ts';
import { Operator } from './stage/operator.ts';
import { SharedArtifacts } from './stage/shared-artifacts.ts';
import { Stage } from './stage/stage.ts';
import type { Mask } from './target/mask.ts';
import type { Session, Target } from './target/target.ts';
import { transportCodes } from './target/transport-failure.ts';

/** Cases in a row that may get no answer before the rest is given up. */
const SILENT_CASES_MAX = 5;

const silentCodes: ReadonlySet<string> = new Set([...transportCodes, 'case-time-limit']);

/** How a caller follows a run, and ends it. */
export interface Progress {
  /** Called with each verdict as soon as it is found. */
  readonly onVerdict?: (verdict: CaseVerdict) => void;
  /** Ends the run: the case at hand is given up and cleaned up, the others are not played. */
  readonly signal?: AbortSignal;
}

export interface RunOptions extends Progress {
  readonly target: Target;
  readonly login: Login;
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
  #silentCases = 0;

  constructor(options: RunOptions) {
    const { login, disruptive = false, random } = options;
    this.id = random.bytes(4).toString('hex');
    this.#options = options;
    this.#gates = {
      capabilities: new Set<Capability>(login.kind === 'token' ? ['operator'] : []),
      disruptive,
      operatorUnusable: login.kind === 'unusable' ? login.because : undefined,
    };
  }

  /** The verdict on each case, in order, without secrets. */
  async play(cases: readonly PlayableCase[]): Promise<readonly CaseVerdict[]> {
    const verdicts: CaseVerdict[] = [];
    for (const each of cases) {
      const verdict = this.#options.mask.value(await this.#playOne(each));
      verdicts.push(verdict);
      this.#options.onVerdict?.(verdict);
    }
    return verdicts;
  }

  /** Removes what the cases shared, and gives a line for each thing that stayed. */
  async close(): Promise<readonly string[]> {
    const { target, mask } = this.#options;
    return mask.value(await this.#artifacts.release(this.#operatorOn(target.session())));
  }

  async #playOne(each: PlayableCase): Promise<CaseVerdict> {
    const barred = gate(each, this.#gates) ?? this.#bar();
    if (barred) return unplayed(each, barred);
    const { clock, caseTimeLimitMs, target, signal } = this.#options;
    const verdict = await play(each, {
      clock,
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
    const { target, headerPrefix, clock, mask } = this.#options;
    const session = target.session(signal);
    const random = this.#options.random.stream(each.id);
    return new Stage({
      session,
      operator: this.#operatorOn(session),
      artifacts: this.#artifacts,
      keyFor: (keyType) => this.#keyring.keyFor(keyType, random),
      names: vendorNames(headerPrefix),
      runId: this.id,
      clock,
      random,
      signal,
      learnSecret: (secret) => mask.learn(secret),
    });
  }

  #operatorOn(session: Session): Operator | undefined {
    const { login } = this.#options;
    return login.kind === 'token' ? new Operator(session, login.token) : undefined;
  }
}
