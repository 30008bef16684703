/** The conformance suite: tests any server of this API family by its HTTP and websocket answers. */
import type { Clock } from '../fixtures/clock.ts';
import { type Random, seededRandom } from '../fixtures/random.ts';
import type { AdminSource } from './adapters/admin-source.ts';
import type { CapabilityFinding } from './adapters/declaration.ts';
import { openSteering, type SteeringOptions } from './adapters/steering.ts';
import { allCases } from './cases/all-cases.ts';
import { CleanupLedgerFile } from './context/cleanup-ledger.ts';
import type { ModelOptions } from './context/model-options.ts';
import { sumOfMade } from './context/resource.ts';
import { headlineOf, untestedMust } from './result/headline.ts';
import { observationsOf } from './result/observations.ts';
import {
  type CaseVerdict,
  type ConformanceResult,
  conformanceSchema,
  countVerdicts,
  decideMusts,
  type JudgedEverywhere,
  outcomeOf,
  tolerating,
} from './result/result.ts';
import { applyWaivers, type Waiver } from './result/waivers.ts';
import { preflight } from './runner/preflight.ts';
import { type Progress, Run } from './runner/run.ts';
import { asListed, type CaseListing, type RunnableCase } from './suite/case.ts';
import { type GivenOptions, recordedOptions } from './suite/options.ts';
import { Mask } from './target/mask.ts';
import { checkedBaseUrl, reachTarget } from './target/setup.ts';
import { AdminUnusableError, SelfAcceptingError } from './target/setup-error.ts';
import { Target } from './target/target.ts';

export { type Declaration, readDeclaration } from './adapters/declaration.ts';
export { readHookFile } from './adapters/hooks/hook-file.ts';
export { describedSteps } from './adapters/hooks/hook-steps.ts';
export type { ControlAddress } from './adapters/http-control.ts';
export { SteeringFileError } from './adapters/steering-file.ts';
export { capabilityNames } from './context/capabilities.ts';
export type { CaseVerdict, ConformanceResult, VerdictName } from './result/result.ts';
export type { CaseListing } from './suite/case.ts';
export type { Credentials } from './target/setup.ts';
export { SetupError } from './target/setup-error.ts';

const suite = { name: 'fleetbed conformance', version: '1' };

/** The options of one run. */
export interface ConformanceOptions extends GivenOptions, Progress, SteeringOptions {
  /** The base URL of the server, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** The `tenant_token` of the suite's devices; needed unless the user is in the default tenant. */
  readonly tenantToken?: string;
  /** Prefixes of case ids; every case is run when the list is empty. */
  readonly selection?: readonly string[];
  /** The ids of the cases to run; overrides `selection`. */
  readonly ids?: ReadonlySet<string>;
  readonly clock: Clock;
  /** Generates the id of the run, which keeps runs apart, and the seed when `seed` is absent. */
  readonly random: Random;
  /** Known failures that are tolerated until a given day. */
  readonly waivers?: readonly Waiver[];
  /** Path of the cleanup ledger, which lists created resources for the clean-up of a killed run. */
  readonly ledgerFile?: string;
  /** The number of random sequences that the random cases try, or the one sequence to repeat. */
  readonly model?: ModelOptions;
  readonly tls?: { readonly caPem?: string };
  /** False skips the check that the server implements this API, as the suite's own tests need. */
  readonly preflight?: boolean;
}

const caseIds: ReadonlySet<string> = new Set(allCases.map(({ id }) => id));

/** Returns every case of the suite, in the order of reports. */
export function listCases(): readonly CaseListing[] {
  return allCases.map(asListed);
}

/**
 * Runs the selected cases, removes the resources that they created, and returns the result. Throws
 * a SetupError when the run cannot start.
 */
export async function runConformance(options: ConformanceOptions): Promise<ConformanceResult> {
  const { clock, random, requestTimeLimitMs, tls, signal } = options;
  const { preflight: isPreflighted = true } = options;
  const baseUrl = checkedBaseUrl(options.baseUrl);
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
    const session = target.session({ signal });
    if (isPreflighted) await preflight(target, signal);
    else await reachTarget(session, baseUrl);
    const steering = await openSteering({ target, session, mask, baseUrl }, options);
    if (isPreflighted) requireUsable(steering.admin);
    if (options.ledgerFile !== undefined)
      ledger = CleanupLedgerFile.open(options.ledgerFile, start);
    const chance = { id: runId, random: seededRandom(seed) };
    const run = new Run({
      ...options,
      ...waiving(options),
      ...chance,
      ...steering,
      target,
      mask,
      ledger,
    });
    return await playAll(run, { ...start, findings: mask.value(steering.findings) }, options);
  } finally {
    await target.close();
    ledger?.close();
  }
}

/** Throws if the given user cannot be used, since most cases would then remain undecided. */
function requireUsable(admin: AdminSource): void {
  if (admin.kind !== 'unusable') return;
  const wayOut = 'check the URL and the credentials, or run without credentials';
  throw new AdminUnusableError(admin.because, wayOut);
}

/** The facts about a run that are known before the first case. */
interface Start {
  readonly runId: string;
  readonly seed: string;
  readonly startedAt: string;
  readonly baseUrl: string;
  readonly findings: readonly CapabilityFinding[];
}

async function playAll(
  run: Run,
  { runId, seed, startedAt, baseUrl, findings }: Start,
  options: ConformanceOptions,
): Promise<ConformanceResult> {
  const { clock, headerPrefix } = options;
  const startedMs = clock.monotonicMs();
  const cases = selectedCases(options);
  options.onStart?.({ runId, seed, startedAt, ids: cases.map(({ id }) => id) });
  const contradictions = findings.flatMap(({ verdict }) => verdict ?? []);
  const played = [...contradictions, ...(await run.run(cases))];
  const leftBehind = await run.close();
  if (run.acceptsEveryDevice) throw new SelfAcceptingError(baseUrl);
  const { judgedEverywhere } = run;
  const judgement = judgementOf(played, judgedEverywhere, options);
  const capabilities = findings.map(({ row }) => row);
  return {
    schema: conformanceSchema,
    suite,
    target: { baseUrl, headerPrefix },
    runId,
    seed,
    settings: { selection: options.selection ?? [], ...recordedOptions(options) },
    environment: { node: process.versions.node, platform: process.platform },
    startedAt,
    durationMs: Math.round(clock.monotonicMs() - startedMs),
    ...judgement,
    judgedEverywhere,
    headline: headlineOf({ ...judgement, capabilities }),
    capabilities,
    openPoints: observationsOf(played),
    made: sumOfMade([run.made, ...played.map(({ made }) => made ?? {})]),
    footprint: run.traffic,
    leftBehind,
  };
}

/** Derives the outcome of a run from its verdicts, its waivers and its options. */
function judgementOf(
  played: readonly CaseVerdict[],
  judgedEverywhere: readonly JudgedEverywhere[],
  options: ConformanceOptions,
) {
  const waived = waive(played, options);
  const verdicts = options.failOn === 'must' ? tolerating(waived.verdicts) : waived.verdicts;
  const musts = decideMusts(played, judgedEverywhere);
  const undecided = options.requireAllMust ? musts.undecidedMusts : [];
  const problems = [
    ...waived.problems,
    ...undecided.map(({ id, because }) => ({
      code: untestedMust,
      text: `${id} (MUST) was not tested: ${because}`,
    })),
  ];
  const outcome = outcomeOf(verdicts, problems);
  return { ...waived, verdicts, outcome, totals: countVerdicts(played), musts, problems };
}

function waive(verdicts: readonly CaseVerdict[], { clock, waivers = [] }: ConformanceOptions) {
  const today = new Date(clock.now()).toISOString().slice(0, 10);
  return applyWaivers(verdicts, waivers, { today, ids: caseIds });
}

/** Returns progress callbacks that mark waived failures in the way that reports do. */
function waiving(options: ConformanceOptions): Progress {
  const { onVerdict } = options;
  if (!onVerdict) return {};
  const report = (verdict: CaseVerdict): void => {
    for (const each of waive([verdict], options).verdicts) onVerdict(each);
  };
  return { onVerdict: report };
}

function selectedCases({ selection = [], ids }: ConformanceOptions): readonly RunnableCase[] {
  if (ids) return allCases.filter(({ id }) => ids.has(id));
  if (selection.length === 0) return allCases;
  return allCases.filter(({ id }) => selection.some((beginning) => id.startsWith(beginning)));
}
