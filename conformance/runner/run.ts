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
import { SuiteTrafficJudge } from '../passive/suite-traffic-judge.ts';
import type { AllowanceId } from '../passive/trackers/allowances.ts';
import type { ReadBackCounts } from '../passive/trackers/read-back-counter.ts';
import { withReproScript } from '../repro-script/repro-script.ts';
import { requirementsOnAllOperations } from '../result/general-requirements.ts';
import type { CaseOutcome, CaseVerdict, GeneralJudgements, RunStart } from '../result/result.ts';
import type { RunnableCase } from '../suite/case.ts';
import type { SuppliedOptions } from '../suite/options.ts';
import type { Mask } from '../target/mask.ts';
import type { TrafficCounts } from '../target/request-totals.ts';
import { AutoAcceptingTargetError } from '../target/setup-error.ts';
import type { CompletedExchange, Target, TargetClient } from '../target/target.ts';
import { transportCodes } from '../target/transport-failure.ts';
import {
  inconclusive,
  type RunConditions,
  reasonNotToRun,
  runCase,
  skip,
  verdictWithoutRun,
} from './runner.ts';
import { inStartOrder, judgesRateLimit, runEach, splitByOrder } from './schedule.ts';
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
  readonly onExchange: (observed: CompletedExchange) => void;
}

/** A run of the suite. The owner must call `close`, which removes the shared artifacts. */
export class SuiteRun {
  /** The ID of the run, which is part of the name of every created resource. */
  readonly id: string;
  readonly #options: RunOptions;
  readonly #conditions: RunConditions;
  readonly #trafficJudge: SuiteTrafficJudge;
  readonly #keyring = new Keyring();
  readonly #ledger: CleanupLedger;
  readonly #artifacts: SharedArtifacts;
  readonly #startedMs: number;
  #unansweredCases = 0;
  #missingRight: string | undefined;
  #isAutoAccepting = false;

  constructor(options: RunOptions) {
    const { id, admin, offered, clock } = options;
    const { disruptive = false, readOnly = false } = options;
    this.id = id;
    this.#options = { ...options, signal: endOfRun(options.signal) };
    this.#ledger = options.ledger ?? noLedger;
    this.#artifacts = new SharedArtifacts(id, this.#ledger);
    this.#startedMs = clock.monotonicMs();
    this.#conditions = {
      capabilities: offered,
      disruptive,
      readOnly,
      adminUnusable: admin.kind === 'unusable' ? admin.reason : undefined,
    };
    const { target, headerPrefix } = options;
    const names = vendorNames(headerPrefix);
    const { baseUrl } = target.options;
    this.#trafficJudge = new SuiteTrafficJudge(baseUrl, names, {
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
    const runInto = async (testCase: RunnableCase): Promise<void> => {
      const verdict = this.#reported(await this.#runOne(testCase));
      verdicts.set(testCase.id, verdict);
      if (verdict.reason?.code === AutoAcceptingTargetError.code) this.#isAutoAccepting = true;
      else onVerdict?.(verdict);
    };
    const { together, alone } = splitByOrder(cases, control?.isolates ?? false);
    await runEach(inStartOrder(together, jobs), jobs, runInto);
    await runEach(alone, 1, runInto);
    return allVerdicts(cases, verdicts);
  }

  /** True after a case found that the target accepts devices automatically; the others are not run. */
  get isAutoAccepting(): boolean {
    return this.#isAutoAccepting;
  }

  /** Number of shared artifacts. Each verdict has the numbers for its own case. */
  get made(): ResourceCounts {
    return this.#artifacts.made;
  }

  /** The requirements that every exchange is judged by, with counts by operation. */
  get requirementsOnAllOperations(): readonly GeneralJudgements[] {
    return requirementsOnAllOperations(
      this.#trafficJudge.judgementCounts,
      operationsWith(this.#conditions.capabilities),
    );
  }

  /** The responses that showed what a case had written, by operation. */
  get readBacks(): readonly ReadBackCounts[] {
    return this.#trafficJudge.readBacks;
  }

  /** The missing right that ended the run, as a sentence; undefined if none did. */
  get missingRight(): string | undefined {
    return this.#missingRight;
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
    return mask.value(await this.#artifacts.release(this.#adminOn(target.newClient())));
  }

  async #runOne(testCase: RunnableCase): Promise<CaseVerdict> {
    const { repeat = 1 } = this.#options;
    const notRunOutcome = reasonNotToRun(testCase, this.#conditions);
    if (notRunOutcome) return verdictWithoutRun(testCase, notRunOutcome, this.#elapsedMs());
    const attempts: CaseVerdict[] = [];
    for (let attempt = 1; attempt <= repeat; attempt += 1) {
      const stream = attempt === 1 ? testCase.id : `${testCase.id}, attempt ${attempt}`;
      attempts.push(await this.#runDespiteCuts(testCase, stream));
    }
    return verdictOfAttempts(attempts);
  }

  /** Runs a case, and repeats it if a connection closed, since networks fail occasionally. */
  async #runDespiteCuts(testCase: RunnableCase, stream: string): Promise<CaseVerdict> {
    const notRunOutcome = this.#outcomeWithoutRun();
    if (notRunOutcome) return verdictWithoutRun(testCase, notRunOutcome, this.#elapsedMs());
    const attempts = [await this.#runRepeatedly(testCase, stream)];
    while (attempts.length < ATTEMPTS_MAX && isCutShort(attempts.at(-1))) {
      attempts.push(await this.#runRepeatedly(testCase, `${stream}, play ${attempts.length + 1}`));
    }
    const verdict = verdictOfLast(attempts);
    this.#unansweredCases = noResponseCodes.has(verdict.reason?.code ?? '')
      ? this.#unansweredCases + 1
      : 0;
    return verdict;
  }

  async #runRepeatedly(testCase: RunnableCase, stream: string): Promise<CaseVerdict> {
    const { clock, target, signal, rights, model } = this.#options;
    const { caseTimeLimitMs: givenMs } = this.#options;
    const caseTimeLimitMs = model?.thorough ? Math.max(givenMs, THOROUGH_CASE_MS) : givenMs;
    const judge = this.#trafficJudge.forCase(testCase.needs.includes('fault-control'));
    let missingRight: string | undefined;
    const onExchange = (observed: CompletedExchange): void => {
      judge.judge(observed);
      missingRight ??= rights?.missingRightIn(observed);
    };
    const clientOfRun = target.newClient({ onExchange });
    const verdict = await runCase(testCase, {
      clock,
      runStartedMs: this.#startedMs,
      caseTimeLimitMs,
      allEvidence: this.#options.allEvidence,
      onAct: this.#options.onAct,
      signal,
      openContext: (_, ended) => this.#openContext(testCase, { stream, signal: ended, onExchange }),
      violations: () => judge.violations,
      release: (context) => context.created.release(this.#adminOn(clientOfRun)),
    });
    return missingRight === undefined
      ? verdict
      : this.#unauthorized(testCase, verdict, missingRight);
  }

  /**
   * Ends the run, unless such cases are skipped; what the user did not get to see is not judged.
   */
  #unauthorized(testCase: RunnableCase, verdict: CaseVerdict, missingRight: string): CaseVerdict {
    const { skipUnauthorized } = this.#options;
    if (!skipUnauthorized) this.#missingRight ??= missingRight;
    if (verdict.verdict === 'pass') return verdict;
    const { violated: _, expected: __, actual: ___, observation: ____, ...facts } = verdict;
    const { violations: _____, ...rest } = facts;
    const outcome = skipUnauthorized ? skip : inconclusive;
    return { ...rest, ...listingOf(testCase), ...outcome('unauthorized', missingRight) };
  }

  #elapsedMs(): number {
    return Math.round(this.#options.clock.monotonicMs() - this.#startedMs);
  }

  #outcomeWithoutRun(): CaseOutcome | undefined {
    if (this.#options.signal?.aborted) {
      return inconclusive('interrupted', 'the run was interrupted before this case');
    }
    if (this.#missingRight !== undefined) return inconclusive('unauthorized', this.#missingRight);
    if (this.#isAutoAccepting) {
      return inconclusive(
        AutoAcceptingTargetError.code,
        'the target accepts new devices automatically',
      );
    }
    if (this.#unansweredCases < UNANSWERED_CASES_MAX) return undefined;
    return inconclusive('target-lost', `${UNANSWERED_CASES_MAX} cases in a row got no response`);
  }

  #openContext(
    testCase: RunnableCase,
    { stream, signal, onExchange }: ContextOptions,
  ): TestContext {
    const { target, headerPrefix, clock, mask, control, tenantToken } = this.#options;
    const noRateWait = judgesRateLimit(testCase);
    const client = target.newClient({ signal, noRateWait, onExchange });
    const random = this.#options.random.stream(stream);
    return new TestContext({
      client,
      admin: this.#adminOn(client),
      control,
      tenantToken,
      operations: operationsWith(this.#conditions.capabilities),
      artifacts: this.#artifacts,
      ledger: this.#ledger,
      caseId: testCase.id,
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

  #adminOn(client: TargetClient): TargetAdmin | undefined {
    return adminOn(this.#options.admin, client);
  }
}

/** Returns a signal that follows the caller's and allows a listener for each running case. */
function endOfRun(signal: AbortSignal | undefined): AbortSignal {
  const runSignal = AbortSignal.any(signal ? [signal] : []);
  // Removes the limit above which Node warns about a listener leak.
  setMaxListeners(0, runSignal);
  return runSignal;
}

/** Returns a verdict for each case; `inconclusive` for a case that did not report one. */
export function allVerdicts(
  cases: readonly RunnableCase[],
  verdicts: ReadonlyMap<string, CaseVerdict>,
): readonly CaseVerdict[] {
  const silent = inconclusive('never-reported', 'the case did not report a verdict');
  return cases.map((each) => verdicts.get(each.id) ?? verdictWithoutRun(each, silent, 0));
}
