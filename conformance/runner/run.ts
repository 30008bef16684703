/** One run over the cases: contexts, shared artifacts, progress, the stop for a lost target. */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../../fixtures/clock.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { Random } from '../../fixtures/random.ts';
import { type AdminSource, adminOn } from '../adapters/admin-source.ts';
import { type Capability, operationsWith } from '../context/capabilities.ts';
import { type CleanupLedger, noLedger } from '../context/cleanup-ledger.ts';
import type { Control } from '../context/control.ts';
import { Keyring } from '../context/keyring.ts';
import type { ModelOptions } from '../context/model-options.ts';
import type { Made } from '../context/resource.ts';
import { SharedArtifacts } from '../context/shared-artifacts.ts';
import type { TargetAdmin } from '../context/target-admin.ts';
import { TestContext } from '../context/test-context.ts';
import { type CaseJudge, InvariantJudge } from '../passive/invariant-judge.ts';
import { withReproScript } from '../repro-script/repro-script.ts';
import { judgedEverywhere } from '../result/judged-everywhere.ts';
import type { CaseVerdict, Finding, JudgedEverywhere, RunStart } from '../result/result.ts';
import type { RunnableCase } from '../suite/case.ts';
import type { GivenOptions } from '../suite/options.ts';
import type { Mask } from '../target/mask.ts';
import type { Session, Target } from '../target/target.ts';
import type { TrafficCounts } from '../target/traffic.ts';
import { transportCodes } from '../target/transport-failure.ts';
import { type Gates, gate, inconclusive, notRun, runCase } from './runner.ts';
import { eachOf, inTurn, judgesRateLimit, lanesOf } from './schedule.ts';
import { isCutShort, verdictOfAttempts, verdictOfLast } from './stability.ts';

/** Cases in a row that may get no answer before the rest is given up. */
const SILENT_CASES_MAX = 5;

/** Plays of a case whose connections are closed. */
const ATTEMPTS_MAX = 3;

const silentCodes: ReadonlySet<string> = new Set([...transportCodes, 'case-time-limit']);

/** How a caller follows a run, and ends it. */
export interface Progress {
  /** Called once, after the target was reached and the user was logged in. */
  readonly onStart?: (start: RunStart) => void;
  /** Called with each verdict as soon as it is found. */
  readonly onVerdict?: (verdict: CaseVerdict) => void;
  /** Ends the run: the case at hand is given up and cleaned up, the others are not run. */
  readonly signal?: AbortSignal;
}

export interface RunOptions extends Progress, Omit<GivenOptions, 'requestTimeLimitMs'> {
  /** Part of the name of everything that the run makes. */
  readonly id: string;
  readonly target: Target;
  readonly admin: AdminSource;
  /** Powers over the target that no client has. */
  readonly control?: Control | undefined;
  /** What devices say in `tenant_token` to belong to the tenant of the target admin. */
  readonly tenantToken?: string;
  /** The capabilities that cases may count on. */
  readonly offered: ReadonlySet<Capability>;
  readonly mask: Mask;
  readonly clock: Clock;
  readonly random: Random;
  /** Where all that the run makes is announced. */
  readonly ledger?: CleanupLedger | undefined;
  /** How hard the random cases try. */
  readonly model?: ModelOptions | undefined;
}

/** What differs between the contexts of two attempts. */
interface ContextOptions {
  /** Names the chance of the case: the same name and seed, the same choices. */
  readonly stream: string;
  /** Ends every request of the case. */
  readonly signal: AbortSignal;
  readonly judge: CaseJudge;
}

/** The run. Its owner closes it, which removes what the cases shared. */
export class Run {
  /** Part of the name of everything that the run makes. */
  readonly id: string;
  readonly #options: RunOptions;
  readonly #gates: Gates;
  readonly #invariants: InvariantJudge;
  readonly #keyring = new Keyring();
  readonly #ledger: CleanupLedger;
  readonly #artifacts: SharedArtifacts;
  readonly #startedMs: number;
  #silentCases = 0;

  constructor(options: RunOptions) {
    const { id, admin, offered, clock } = options;
    const { disruptive = false, readOnly = false } = options;
    this.id = id;
    this.#options = { ...options, signal: endOfRun(options.signal) };
    this.#ledger = options.ledger ?? noLedger;
    this.#artifacts = new SharedArtifacts(id, this.#ledger);
    this.#startedMs = clock.monotonicMs();
    this.#gates = {
      capabilities: offered,
      disruptive,
      readOnly,
      adminUnusable: admin.kind === 'unusable' ? admin.because : undefined,
    };
    const { target, headerPrefix } = options;
    const names = vendorNames(headerPrefix);
    const { baseUrl } = target.options;
    this.#invariants = new InvariantJudge(baseUrl, names, operationsWith(offered));
  }

  /** The verdict on each case, in the order of the cases whatever the run order. */
  async run(cases: readonly RunnableCase[]): Promise<readonly CaseVerdict[]> {
    const { control, onVerdict, jobs = 1 } = this.#options;
    const verdicts = new Map<string, CaseVerdict>();
    const runInto = async (each: RunnableCase): Promise<void> => {
      const verdict = this.#reported(await this.#runOne(each));
      verdicts.set(each.id, verdict);
      onVerdict?.(verdict);
    };
    const { together, alone } = lanesOf(cases, control?.isolates ?? false);
    await eachOf(inTurn(together, jobs), jobs, runInto);
    await eachOf(alone, 1, runInto);
    return reported(cases, verdicts);
  }

  /** What was made for all cases, beside what each made of its own. */
  get made(): Made {
    return this.#artifacts.made;
  }

  /** The requirements that are judged on every exchange, with the operations that they met. */
  get judgedEverywhere(): readonly JudgedEverywhere[] {
    return judgedEverywhere(this.#invariants.tallies, operationsWith(this.#gates.capabilities));
  }

  /** What was asked of the target so far. */
  get traffic(): TrafficCounts {
    return this.#options.target.traffic.counts;
  }

  /** The verdict without secrets, with the way to repeat a failure. */
  #reported(verdict: CaseVerdict): CaseVerdict {
    const { mask, target, allEvidence: always } = this.#options;
    return withReproScript(verdict, { baseUrl: target.options.baseUrl, mask, always });
  }

  /** Removes what the cases shared, and gives a line for each resource that stayed. */
  async close(): Promise<readonly string[]> {
    const { target, mask } = this.#options;
    return mask.value(await this.#artifacts.release(this.#adminOn(target.session())));
  }

  async #runOne(each: RunnableCase): Promise<CaseVerdict> {
    const { repeat = 1 } = this.#options;
    const barred = gate(each, this.#gates);
    if (barred) return notRun(each, barred, this.#elapsedMs());
    const attempts: CaseVerdict[] = [];
    for (let attempt = 1; attempt <= repeat; attempt += 1) {
      const stream = attempt === 1 ? each.id : `${each.id}, attempt ${attempt}`;
      attempts.push(await this.#undisturbed(each, stream));
    }
    return verdictOfAttempts(attempts);
  }

  /** A case that a closed connection cut short is run again: networks do that now and then. */
  async #undisturbed(each: RunnableCase, stream: string): Promise<CaseVerdict> {
    const bar = this.#bar();
    if (bar) return notRun(each, bar, this.#elapsedMs());
    const attempts = [await this.#runRepeatedly(each, stream)];
    while (attempts.length < ATTEMPTS_MAX && isCutShort(attempts.at(-1))) {
      attempts.push(await this.#runRepeatedly(each, `${stream}, play ${attempts.length + 1}`));
    }
    const verdict = verdictOfLast(attempts);
    this.#silentCases = silentCodes.has(verdict.reason?.code ?? '') ? this.#silentCases + 1 : 0;
    return verdict;
  }

  #runRepeatedly(each: RunnableCase, stream: string): Promise<CaseVerdict> {
    const { clock, caseTimeLimitMs, target, signal } = this.#options;
    const judge = this.#invariants.forCase(each.needs.includes('fault-control'));
    const lasting = target.session({ onExchange: judge.see });
    return runCase(each, {
      clock,
      runStartedMs: this.#startedMs,
      caseTimeLimitMs,
      allEvidence: this.#options.allEvidence,
      signal,
      openContext: (_, ended) => this.#openContext(each, { stream, signal: ended, judge }),
      breaches: () => judge.breaches,
      release: (context) => context.ownership.release(this.#adminOn(lasting)),
    });
  }

  #elapsedMs(): number {
    return Math.round(this.#options.clock.monotonicMs() - this.#startedMs);
  }

  #bar(): Finding | undefined {
    if (this.#options.signal?.aborted) {
      return inconclusive('interrupted', 'the run was interrupted before this case');
    }
    if (this.#silentCases < SILENT_CASES_MAX) return undefined;
    return inconclusive('target-lost', `${SILENT_CASES_MAX} cases in a row got no answer`);
  }

  #openContext(each: RunnableCase, { stream, signal, judge }: ContextOptions): TestContext {
    const { target, headerPrefix, clock, mask, control, tenantToken } = this.#options;
    const noRateWait = judgesRateLimit(each);
    const session = target.session({ signal, noRateWait, onExchange: judge.see });
    const random = this.#options.random.stream(stream);
    return new TestContext({
      session,
      admin: this.#adminOn(session),
      control,
      tenantToken,
      operations: operationsWith(this.#gates.capabilities),
      artifacts: this.#artifacts,
      ledger: this.#ledger,
      caseId: each.id,
      keyFor: (keyType) => this.#keyring.keyFor(keyType, random),
      names: vendorNames(headerPrefix),
      runId: this.id,
      clock,
      random,
      signal,
      learnSecret: (secret, kind = 'device-token') => mask.learn(secret, kind),
      model: this.#options.model,
    });
  }

  #adminOn(session: Session): TargetAdmin | undefined {
    return adminOn(this.#options.admin, session);
  }
}

/** The caller's signal, with room for a listener of each running case. */
function endOfRun(signal: AbortSignal | undefined): AbortSignal {
  const own = AbortSignal.any(signal ? [signal] : []);
  // Node would take so many listeners for a leak.
  setMaxListeners(0, own);
  return own;
}

/** A verdict for each case; one that never reported is inconclusive, so that it is not overlooked. */
export function reported(
  cases: readonly RunnableCase[],
  verdicts: ReadonlyMap<string, CaseVerdict>,
): readonly CaseVerdict[] {
  const silent = inconclusive('never-reported', 'the case did not report a verdict');
  return cases.map((each) => verdicts.get(each.id) ?? notRun(each, silent, 0));
}
