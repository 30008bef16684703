/** Runs the selected cases: creates contexts, reports progress, and stops if the target is lost. */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { type AdminSource, adminOn } from '../adapters/admin-source.ts';
import type { Rights } from '../adapters/rights.ts';
import { type Capability, operationsWith } from '../context/capabilities.ts';
import { type CleanupLedger, noLedger } from '../context/cleanup-ledger.ts';
import type { Control } from '../context/control.ts';
import { Keyring } from '../context/keyring.ts';
import type { ModelOptions } from '../context/model-options.ts';
import type { ResourceCounts } from '../context/resource.ts';
import { SharedArtifacts } from '../context/shared-artifacts.ts';
import type { TargetAdmin } from '../context/target-admin.ts';
import { TestContext } from '../context/test-context.ts';
import { ExchangeJudge } from '../passive/exchange-judge.ts';
import type { AllowanceId } from '../passive/trackers/allowances.ts';
import type { ReadBackCounts } from '../passive/trackers/reading-counts.ts';
import { withReproScript } from '../repro-script/repro-script.ts';
import { requirementsOnAllOperations } from '../result/general-requirements.ts';
import type { CaseVerdict, Finding, GeneralJudgements, RunStart } from '../result/result.ts';
import type { RunnableCase } from '../suite/case.ts';
import type { SuppliedOptions } from '../suite/options.ts';
import type { Mask } from '../target/mask.ts';
import type { TrafficCounts } from '../target/request-totals.ts';
import { SelfAcceptingError } from '../target/setup-error.ts';
import type { SessionExchange, Target, TargetSession } from '../target/target.ts';
import { transportCodes } from '../target/transport-failure.ts';
import {
  inconclusive,
  notRun,
  type RunConditions,
  reasonNotToRun,
  runCase,
  skip,
} from './runner.ts';
import { eachOf, inStartOrder, judgesRateLimit, splitByOrder } from './schedule.ts';
import { isCutShort, verdictOfAttempts, verdictOfLast } from './stability.ts';
import { listingOf } from './violations.ts';

/** After this many consecutive cases without a response, the remaining cases are not run. */
const UNANSWERED_CASES_MAX = 5;
/** The least time limit of a case in a thorough run: that of the whole run. */
const THOROUGH_CASE_MS = 600_000;

/** Maximum number of attempts at a case whose connection closes. */
const ATTEMPTS_MAX = 3;

const noResponseCodes: ReadonlySet<string> = new Set([...transportCodes, 'case-time-limit']);

/** Callbacks for the progress of a run, and the signal that ends it. */
export interface RunCallbacks {
  /** Called once, after the target was reached and the user was logged in. */
  readonly onStart?: (start: RunStart) => void;
  /** Called when a case has reached its start state, before it acts. */
  readonly onAct?: () => void;
  /** Called with each verdict as soon as it is found. */
  readonly onVerdict?: (verdict: CaseVerdict) => void;
  /** Ends the run: running cases are aborted and cleaned up, and the others are not run. */
  readonly signal?: AbortSignal;
}

export interface RunOptions extends RunCallbacks, Omit<SuppliedOptions, 'requestTimeLimitMs'> {
  /** The ID of the run, which is part of the name of every created resource. */
  readonly id: string;
  readonly target: Target;
  readonly admin: AdminSource;
  /** Control over the target that only a testbed offers; undefined if there is none. */
  readonly control?: Control | undefined;
  /** The `tenant_token` that puts the suite's devices into the tenant of the target admin. */
  readonly tenantToken?: string;
  /** The capabilities of the target; cases that need others are skipped. */
  readonly offered: ReadonlySet<Capability>;
  readonly mask: Mask;
  readonly clock: Clock;
  readonly random: Random;
  /** The rights of the user; without them, a 403 is judged like every other response. */
  readonly rights?: Rights | undefined;
  /** The ledger to which each resource is announced before it is created. */
  readonly ledger?: CleanupLedger | undefined;
  /** Options of the random cases. */
  readonly model?: ModelOptions | undefined;
  readonly disabledAllowance?: AllowanceId | undefined;
}

/** The options of a context that differ between attempts at a case. */
interface ContextOptions {
  /** Name of the random stream; the same name and seed give the same random choices. */
  readonly stream: string;
  /** Aborts every request of the case. */
  readonly signal: AbortSignal;
  readonly onExchange: (observed: SessionExchange) => void;
}

/** A run of the suite. The owner must call `close`, which removes the shared artifacts. */
export class SuiteRun {
  /** The ID of the run, which is part of the name of every created resource. */
  readonly id: string;
  readonly #options: RunOptions;
  readonly #gates: RunConditions;
  readonly #exchangeJudge: ExchangeJudge;
  readonly #keyring = new Keyring();
  readonly #ledger: CleanupLedger;
  readonly #artifacts: SharedArtifacts;
  readonly #startedMs: number;
  #unansweredCases = 0;
  #lack: string | undefined;
  #acceptsEveryDevice = false;

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
      adminUnusable: admin.kind === 'unusable' ? admin.reason : undefined,
    };
    const { target, headerPrefix } = options;
    const names = vendorNames(headerPrefix);
    const { baseUrl } = target.options;
    this.#exchangeJudge = new ExchangeJudge(baseUrl, names, {
      offered: operationsWith(offered),
      readsBack: offered.has('configuration-read-back'),
      seesUsers: admin.kind !== 'hooks',
      without: options.disabledAllowance,
    });
  }

  /** Runs the cases and returns their verdicts, in the order of `cases` and not of execution. */
  async run(cases: readonly RunnableCase[]): Promise<readonly CaseVerdict[]> {
    const { control, onVerdict, jobs = 1 } = this.#options;
    const verdicts = new Map<string, CaseVerdict>();
    const runInto = async (each: RunnableCase): Promise<void> => {
      const verdict = this.#reported(await this.#runOne(each));
      verdicts.set(each.id, verdict);
      if (verdict.reason?.code === SelfAcceptingError.code) this.#acceptsEveryDevice = true;
      else onVerdict?.(verdict);
    };
    const { together, alone } = splitByOrder(cases, control?.isolates ?? false);
    await eachOf(inStartOrder(together, jobs), jobs, runInto);
    await eachOf(alone, 1, runInto);
    return allVerdicts(cases, verdicts);
  }

  /** True after a case found that the target accepts devices by itself; the others are not run. */
  get acceptsEveryDevice(): boolean {
    return this.#acceptsEveryDevice;
  }

  /** Number of shared artifacts. Each verdict has the numbers for its own case. */
  get made(): ResourceCounts {
    return this.#artifacts.made;
  }

  /** The requirements that every exchange is judged by, with counts by operation. */
  get requirementsOnAllOperations(): readonly GeneralJudgements[] {
    return requirementsOnAllOperations(
      this.#exchangeJudge.tallies,
      operationsWith(this.#gates.capabilities),
    );
  }

  /** The responses that showed what a case had written, by operation. */
  get readBacks(): readonly ReadBackCounts[] {
    return this.#exchangeJudge.readBacks;
  }

  /** The missing right that ended the run, as a sentence; undefined if none did. */
  get lack(): string | undefined {
    return this.#lack;
  }

  /** The number of requests to the target so far. */
  get traffic(): TrafficCounts {
    return this.#options.target.traffic.counts;
  }

  /** Returns the verdict with secrets masked and with a repro script for a failure. */
  #reported(verdict: CaseVerdict): CaseVerdict {
    const { mask, target, allEvidence: always } = this.#options;
    return withReproScript(verdict, { baseUrl: target.options.baseUrl, mask, always });
  }

  /** Removes the shared artifacts, and returns a line for each one that remains. */
  async close(): Promise<readonly string[]> {
    const { target, mask } = this.#options;
    return mask.value(await this.#artifacts.release(this.#adminOn(target.session())));
  }

  async #runOne(each: RunnableCase): Promise<CaseVerdict> {
    const { repeat = 1 } = this.#options;
    const barred = reasonNotToRun(each, this.#gates);
    if (barred) return notRun(each, barred, this.#elapsedMs());
    const attempts: CaseVerdict[] = [];
    for (let attempt = 1; attempt <= repeat; attempt += 1) {
      const stream = attempt === 1 ? each.id : `${each.id}, attempt ${attempt}`;
      attempts.push(await this.#runDespiteCuts(each, stream));
    }
    return verdictOfAttempts(attempts);
  }

  /** Runs a case, and repeats it if a connection closed, since networks fail occasionally. */
  async #runDespiteCuts(each: RunnableCase, stream: string): Promise<CaseVerdict> {
    const bar = this.#bar();
    if (bar) return notRun(each, bar, this.#elapsedMs());
    const attempts = [await this.#runRepeatedly(each, stream)];
    while (attempts.length < ATTEMPTS_MAX && isCutShort(attempts.at(-1))) {
      attempts.push(await this.#runRepeatedly(each, `${stream}, play ${attempts.length + 1}`));
    }
    const verdict = verdictOfLast(attempts);
    this.#unansweredCases = noResponseCodes.has(verdict.reason?.code ?? '')
      ? this.#unansweredCases + 1
      : 0;
    return verdict;
  }

  async #runRepeatedly(each: RunnableCase, stream: string): Promise<CaseVerdict> {
    const { clock, target, signal, rights, model } = this.#options;
    const { caseTimeLimitMs: givenMs } = this.#options;
    const caseTimeLimitMs = model?.thorough ? Math.max(givenMs, THOROUGH_CASE_MS) : givenMs;
    const judge = this.#exchangeJudge.forCase(each.needs.includes('fault-control'));
    let lack: string | undefined;
    const onExchange = (observed: SessionExchange): void => {
      judge.judge(observed);
      lack ??= rights?.lackIn(observed);
    };
    const sessionOfRun = target.session({ onExchange });
    const verdict = await runCase(each, {
      clock,
      runStartedMs: this.#startedMs,
      caseTimeLimitMs,
      allEvidence: this.#options.allEvidence,
      onAct: this.#options.onAct,
      signal,
      openContext: (_, ended) => this.#openContext(each, { stream, signal: ended, onExchange }),
      violations: () => judge.violations,
      release: (context) => context.created.release(this.#adminOn(sessionOfRun)),
    });
    return lack === undefined ? verdict : this.#unauthorized(each, verdict, lack);
  }

  /**
   * Ends the run, unless such cases are skipped; what the user did not get to see is not judged.
   */
  #unauthorized(each: RunnableCase, verdict: CaseVerdict, lack: string): CaseVerdict {
    const { skipUnauthorized } = this.#options;
    if (!skipUnauthorized) this.#lack ??= lack;
    if (verdict.verdict === 'pass') return verdict;
    const { violated: _, expected: __, actual: ___, observation: ____, ...facts } = verdict;
    const { violations: _____, ...rest } = facts;
    const finding = skipUnauthorized ? skip : inconclusive;
    return { ...rest, ...listingOf(each), ...finding('unauthorized', lack) };
  }

  #elapsedMs(): number {
    return Math.round(this.#options.clock.monotonicMs() - this.#startedMs);
  }

  #bar(): Finding | undefined {
    if (this.#options.signal?.aborted) {
      return inconclusive('interrupted', 'the run was interrupted before this case');
    }
    if (this.#lack !== undefined) return inconclusive('unauthorized', this.#lack);
    if (this.#acceptsEveryDevice) {
      return inconclusive(SelfAcceptingError.code, 'the target accepts new devices by itself');
    }
    if (this.#unansweredCases < UNANSWERED_CASES_MAX) return undefined;
    return inconclusive('target-lost', `${UNANSWERED_CASES_MAX} cases in a row got no response`);
  }

  #openContext(each: RunnableCase, { stream, signal, onExchange }: ContextOptions): TestContext {
    const { target, headerPrefix, clock, mask, control, tenantToken } = this.#options;
    const noRateWait = judgesRateLimit(each);
    const session = target.session({ signal, noRateWait, onExchange });
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
      maskSecret: (secret, kind = 'device-token') => mask.addSecret(secret, kind),
      model: this.#options.model,
    });
  }

  #adminOn(session: TargetSession): TargetAdmin | undefined {
    return adminOn(this.#options.admin, session);
  }
}

/** Returns a signal that follows the caller's and allows a listener for each running case. */
function endOfRun(signal: AbortSignal | undefined): AbortSignal {
  const own = AbortSignal.any(signal ? [signal] : []);
  // Removes the limit above which Node warns about a listener leak.
  setMaxListeners(0, own);
  return own;
}

/** Returns a verdict for each case; `inconclusive` for a case that did not report one. */
export function allVerdicts(
  cases: readonly RunnableCase[],
  verdicts: ReadonlyMap<string, CaseVerdict>,
): readonly CaseVerdict[] {
  const silent = inconclusive('never-reported', 'the case did not report a verdict');
  return cases.map((each) => verdicts.get(each.id) ?? notRun(each, silent, 0));
}
