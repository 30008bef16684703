/** The conformance suite: judges any server of this API family from its wire. */
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
import { AdminUnusableError } from './target/setup-error.ts';
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

/** One run as it is asked for. */
export interface ConformanceOptions extends GivenOptions, Progress, SteeringOptions {
  /** Where the server answers, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** What devices say in `tenant_token`, where the user is not one of the server's default tenant. */
  readonly tenantToken?: string;
  /** Beginnings of case ids; without any, every case is run. */
  readonly selection?: readonly string[];
  /** Exactly these cases; wins over `selection`. */
  readonly ids?: ReadonlySet<string>;
  readonly clock: Clock;
  /** Decides the run's id, so that no two runs meet, and the seed when there is none. */
  readonly random: Random;
  /** Failures that are known and tolerated until a day. */
  readonly waivers?: readonly Waiver[];
  /** A file to which all that is made is announced, so that it can be removed after a kill too. */
  readonly ledgerFile?: string;
  /** How hard the random cases try, or the one sequence that they repeat. */
  readonly model?: ModelOptions;
  readonly tls?: { readonly caPem?: string };
  /** False to run against whatever answers, as tests of the suite do. */
  readonly preflight?: boolean;
}

const caseIds: ReadonlySet<string> = new Set(allCases.map(({ id }) => id));

/** Every case of the suite, in the order of reports. */
export function listCases(): readonly CaseListing[] {
  return allCases.map(asListed);
}

/**
 * Plays the selected cases, removes what they made, and gives the result. Throws a SetupError when
 * it could not even begin.
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

/** A user that was given and cannot be used would leave most cases without a verdict. */
function requireUsable(admin: AdminSource): void {
  if (admin.kind !== 'unusable') return;
  const wayOut = 'check the URL and the credentials, or run without credentials';
  throw new AdminUnusableError(admin.because, wayOut);
}

/** What is settled before the first case. */
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

/** What the verdicts come to under the waivers and the demands of the run. */
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

/** Marks waived failures in the progress of a run, as reports do. */
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
