/**
 * The conformance suite: tests any server of this API family by its HTTP and WebSocket responses.
 */
import type { Clock } from '../fixtures/base/clock.ts';
import { type Random, seededRandom } from '../fixtures/base/random.ts';
import type { AdminSource } from './adapters/admin-source.ts';
import { type CapabilityFinding, capabilityCaseId } from './adapters/declaration.ts';
import { Rights } from './adapters/rights.ts';
import {
  openTargetControl,
  type TargetControl,
  type TargetControlOptions,
} from './adapters/target-control.ts';
import { allCases } from './cases/all-cases.ts';
import { capabilityNames } from './context/capabilities.ts';
import { CleanupLedgerFile } from './context/cleanup-ledger.ts';
import type { ModelOptions } from './context/model-options.ts';
import { sumOfCounts } from './context/resource.ts';
import type { AllowanceId } from './passive/trackers/allowances.ts';
import { headlineOf, untestedMust } from './result/headline.ts';
import { observationsOf } from './result/observations.ts';
import {
  type CaseVerdict,
  type ConformanceResult,
  conformanceSchema,
  countVerdicts,
  decideMusts,
  type GeneralJudgements,
  outcomeOf,
  tolerateShoulds,
} from './result/result.ts';
import { applyWaivers, type Waiver } from './result/waivers.ts';
import { preflight, whenStarted } from './runner/preflight.ts';
import { type RunCallbacks, SuiteRun } from './runner/run.ts';
import { reasonNotToRun } from './runner/runner.ts';
import { type CaseListing, listedCase, type RunnableCase } from './suite/case.ts';
import { reportedOptions, type SuppliedOptions } from './suite/options.ts';
import { selectedRows } from './suite/selection.ts';
import { Mask } from './target/mask.ts';
import { checkedBaseUrl, reachTarget } from './target/setup.ts';
import {
  AdminUnusableError,
  AutoAcceptingTargetError,
  type SetupError,
} from './target/setup-error.ts';
import { Target, type TargetClient } from './target/target.ts';

export { ControlFileError } from './adapters/control-file.ts';
export { type Declaration, readDeclaration } from './adapters/declaration.ts';
export { readHookFile } from './adapters/hooks/hook-file.ts';
export { describedSteps } from './adapters/hooks/hook-steps.ts';
export type { ControlAddress } from './adapters/http-control.ts';
export { type ArraySize, arraySizes } from './cases/every-operation/covering-arrays.ts';
export { capabilityNames } from './context/capabilities.ts';
export type { CaseVerdict, ConformanceResult, VerdictName } from './result/result.ts';
export type { CaseListing } from './suite/case.ts';
export { UnknownIdError } from './suite/selection.ts';
export type { SuiteCredentials as Credentials } from './target/setup.ts';
export { SetupError } from './target/setup-error.ts';

const suite = { name: 'fleetbed conformance', version: '1' };

/** The options of one run. */
export interface ConformanceOptions extends SuppliedOptions, RunCallbacks, TargetControlOptions {
  /** The base URL of the server, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** The `tenant_token` of the suite's devices; needed unless the user is in the default tenant. */
  readonly tenantToken?: string;
  /** Prefixes of case IDs; every case is run when the list is empty. */
  readonly selection?: readonly string[];
  /** The IDs of the cases to run; overrides `selection`. */
  readonly ids?: ReadonlySet<string>;
  readonly clock: Clock;
  /** Generates the ID of the run, which keeps runs apart, and the seed when `seed` is absent. */
  readonly random: Random;
  /** Known failures that are tolerated until a given day. */
  readonly waivers?: readonly Waiver[];
  /** Path of the cleanup ledger, which lists created resources for the cleanup of a killed run. */
  readonly ledgerFile?: string;
  /** The number of random sequences that the random cases try, or the one sequence to repeat. */
  readonly model?: ModelOptions;
  readonly tls?: { readonly caPem?: string };
  /** Called after each attempt to reach a target that is starting. */
  readonly onWait?: (error: SetupError) => void;
  /** An allowance that the trackers do without, as the suite's own tests need. */
  readonly disabledAllowance?: AllowanceId;
  /** False skips the check that the server implements this API, as the suite's own tests need. */
  readonly preflight?: boolean;
}

/**
 * Returns the cases whose ID starts with one of the prefixes, in the order of reports; every case
 * without prefixes. @throws UnknownIdError
 */
export function listCases(prefixes: readonly string[] = []): readonly CaseListing[] {
  return selectedRows(allCases, prefixes, 'case').map(listedCase);
}

/** The requirements that each case tests, by its ID. */
const tested = new Map(allCases.map(({ id, requirements }) => [id, requirements]));

/** The IDs that a waiver may name: every case, and every capability that may be declared. */
export const waivableIds: readonly string[] = [
  ...allCases.map(({ id }) => id),
  ...capabilityNames.map(capabilityCaseId),
];

/**
 * Runs the selected cases, removes the resources that they created, and returns the result. Throws
 * a SetupError when the run cannot start.
 */
export async function runConformance(options: ConformanceOptions): Promise<ConformanceResult> {
  const { clock, random, requestTimeLimitMs, tls, signal } = options;
  const { preflight: isPreflighted = true } = options;
  const baseUrl = checkedBaseUrl(options.baseUrl);
  const cases = selectedCases(options);
  const runId = random.bytes(4).toString('hex');
  const seed = options.seed ?? random.bytes(8).toString('hex');
  const mask = new Mask();
  const { requestsPerSecondMax } = options;
  const limits = { requestTimeLimitMs, requestsPerSecondMax };
  const target = new Target({ baseUrl, clock, ...limits, caPem: tls?.caPem });
  const startedAt = new Date(clock.now()).toISOString();
  const start = { runId, seed, startedAt, baseUrl };
  let ledger: CleanupLedgerFile | undefined;
  try {
    const client = target.newClient({ signal });
    const { waitForTargetMs: limitMs, onWait } = options;
    const attempt = async () => {
      if (isPreflighted) await preflight(target, signal, limitMs !== undefined);
      else await reachTarget(client, baseUrl);
      const targetControl = await openTargetControl({ target, client, mask, baseUrl }, options);
      if (isPreflighted) requireUsable(targetControl.admin, baseUrl);
      return targetControl;
    };
    const control = await whenStarted(attempt, { limitMs, clock, signal, onWait });
    const rights = await rightsOf(control, { client, cases }, options);
    if (options.ledgerFile !== undefined)
      ledger = CleanupLedgerFile.open(options.ledgerFile, start);
    const chance = { id: runId, random: seededRandom(seed) };
    const run = new SuiteRun({
      ...options,
      ...waiving(options),
      ...chance,
      ...control,
      target,
      mask,
      rights,
      ledger: rights?.guard(ledger) ?? ledger,
    });
    return await runCases(
      run,
      { ...start, cases, findings: mask.value(control.findings) },
      options,
    );
  } finally {
    await target.close();
    ledger?.close();
  }
}

/**
 * Returns the rights of the user, after probes; undefined without a user or without probes.
 * @throws MissingRightsError unless the cases that need a missing right are skipped
 */
async function rightsOf(
  { admin, user, offered }: TargetControl,
  { client, cases }: { readonly client: TargetClient; readonly cases: readonly RunnableCase[] },
  { probe = true, readOnly = false, disruptive = false, ...options }: ConformanceOptions,
): Promise<Rights | undefined> {
  const { skipUnauthorized } = options;
  if (user === undefined || !probe) return undefined;
  const rights = new Rights(user);
  const conditions = { capabilities: offered, readOnly, disruptive };
  const runnable = cases.filter((each) => reasonNotToRun(each, conditions) === undefined);
  await rights.probe(client, runnable, admin.kind === 'token');
  if (!skipUnauthorized) rights.require();
  return rights;
}

/** Throws if the given user cannot be used, since most cases would then remain inconclusive. */
function requireUsable(admin: AdminSource, baseUrl: string): void {
  if (admin.kind !== 'unusable') return;
  const remedy =
    'check --url and the credentials, or give --anonymous to run only the cases that need no user';
  throw new AdminUnusableError(`${baseUrl}: ${admin.reason}`, remedy, admin.isStarting);
}

/** The facts about a run that are known before the first case. */
interface InitialFacts {
  readonly runId: string;
  readonly seed: string;
  readonly startedAt: string;
  readonly baseUrl: string;
  readonly cases: readonly RunnableCase[];
  readonly findings: readonly CapabilityFinding[];
}

async function runCases(
  run: SuiteRun,
  { runId, seed, startedAt, baseUrl, cases, findings }: InitialFacts,
  options: ConformanceOptions,
): Promise<ConformanceResult> {
  const { clock, headerPrefix } = options;
  const startedMs = clock.monotonicMs();
  options.onStart?.({ runId, seed, startedAt, ids: cases.map(({ id }) => id) });
  const contradictions = findings.flatMap(({ verdict }) => verdict ?? []);
  const played = [...contradictions, ...(await run.run(cases))];
  const leftBehind = await run.close();
  if (run.isAutoAccepting) throw new AutoAcceptingTargetError(baseUrl);
  const { requirementsOnAllOperations } = run;
  const { missingRight } = run;
  const judgement = judgementOf(played, requirementsOnAllOperations, { ...options, missingRight });
  const capabilities = findings.map(({ row }) => row);
  return {
    schema: conformanceSchema,
    suite,
    target: { baseUrl, headerPrefix },
    runId,
    seed,
    settings: { selection: options.selection ?? [], ...reportedOptions(options) },
    environment: { node: process.versions.node, platform: process.platform },
    startedAt,
    durationMs: Math.round(clock.monotonicMs() - startedMs),
    ...judgement,
    requirementsOnAllOperations,
    readBacks: run.readBacks,
    headline: headlineOf({ ...judgement, capabilities }),
    capabilities,
    openPoints: observationsOf(played),
    made: sumOfCounts([run.made, ...played.map(({ made }) => made ?? {})]),
    footprint: run.traffic,
    leftBehind,
  };
}

/** Derives the outcome of a run from its verdicts, its waivers and its options. */
function judgementOf(
  played: readonly CaseVerdict[],
  requirementsOnAllOperations: readonly GeneralJudgements[],
  options: ConformanceOptions & { readonly missingRight: string | undefined },
) {
  const waived = waive(played, options);
  const verdicts = options.failOn === 'must' ? tolerateShoulds(waived.verdicts) : waived.verdicts;
  const musts = decideMusts(played, requirementsOnAllOperations);
  const isWaived = (must: string): boolean =>
    verdicts.some(({ waiver, requirements }) => waiver && requirements.some((id) => id === must));
  const requiredMusts = options.requireAllMust ? musts.undecidedMusts : [];
  const undecided = requiredMusts.filter(({ id }) => !isWaived(id));
  const problems = [
    ...waived.problems,
    ...undecided.map(({ id, reason }) => ({
      code: untestedMust,
      text: `${id} (MUST) was not tested: ${reason}`,
    })),
  ];
  const { missingRight } = options;
  const worst = outcomeOf(verdicts, problems);
  // Even if every case that ran has passed.
  const outcome = worst === 'pass' && missingRight !== undefined ? 'inconclusive' : worst;
  const totals = countVerdicts(played);
  const waivedCases = verdicts.filter(({ waiver }) => waiver !== undefined).length;
  const unauthorized = missingRight === undefined ? {} : { unauthorized: missingRight };
  return {
    ...waived,
    verdicts,
    outcome,
    totals,
    waived: waivedCases,
    musts,
    problems,
    ...unauthorized,
  };
}

function waive(verdicts: readonly CaseVerdict[], { clock, waivers = [] }: ConformanceOptions) {
  const today = new Date(clock.now()).toISOString().slice(0, 10);
  return applyWaivers(verdicts, waivers, { today, tested });
}

/** Returns progress callbacks that mark waived failures in the way that reports do. */
function waiving(options: ConformanceOptions): RunCallbacks {
  const { onVerdict } = options;
  if (!onVerdict) return {};
  const causes: CaseVerdict[] = [];
  const report = (verdict: CaseVerdict): void => {
    const marked = waive([...causes, verdict], options).verdicts.at(-1) ?? verdict;
    if (marked.waiver) causes.push(verdict);
    onVerdict(marked);
  };
  return { onVerdict: report };
}

function selectedCases({ selection = [], ids }: ConformanceOptions): readonly RunnableCase[] {
  if (ids) return allCases.filter(({ id }) => ids.has(id));
  return selectedRows(allCases, selection, 'case');
}
