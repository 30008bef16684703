/** The conformance suite: judges any server of this API family from its wire. */
import type { Clock } from '../fixtures/clock.ts';
import { type Random, seededRandom } from '../fixtures/random.ts';
import type { CaseListing, PlayableCase } from './case.ts';
import { allCases } from './cases/all-cases.ts';
import { readingsOf } from './readings.ts';
import {
  type ConformanceResult,
  conformanceSchema,
  countVerdicts,
  decideMusts,
  type RunSettings,
  worstOf,
} from './result.ts';
import { type Progress, Run } from './run.ts';
import { checkedBaseUrl, reachTarget } from './setup.ts';
import type { CapabilityFinding } from './steering/declaration.ts';
import { openSteering, type SteeringOptions } from './steering/steering.ts';
import { Mask } from './target/mask.ts';
import { Target } from './target/target.ts';

export { type Capability, capabilityNames } from './capabilities.ts';
export type { CaseListing } from './case.ts';
export type { CaseVerdict, ConformanceResult, VerdictName } from './result.ts';
export type { Credentials } from './setup.ts';
export { SetupError } from './setup-error.ts';
export { type Declaration, readDeclaration } from './steering/declaration.ts';
export { readHookFile } from './steering/hooks/hook-file.ts';
export { describedSteps } from './steering/hooks/hook-steps.ts';
export type { ControlAddress } from './steering/http-control.ts';
export { SteeringFileError } from './steering/steering-file.ts';

const suite = { name: 'fleetbed conformance', version: '1' };

/** One run as it is asked for. */
export interface ConformanceOptions extends Progress, SteeringOptions {
  /** Where the server answers, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** The vendor's prefix of header names, such as `X-SVC`. */
  readonly headerPrefix: string;
  /** Beginnings of case ids; without any, every case is played. */
  readonly selection?: readonly string[];
  /** Exactly these cases; wins over `selection`. */
  readonly ids?: ReadonlySet<string>;
  /** Plays also the cases that touch devices of others. */
  readonly disruptive?: boolean;
  readonly clock: Clock;
  /** Decides the run's id, so that no two runs meet, and the seed when there is none. */
  readonly random: Random;
  /** Decides every choice of the cases; any text. */
  readonly seed?: string;
  /** Cases that are played at a time, 1 without it. */
  readonly jobs?: number;
  /** How often each case is played, once without it. */
  readonly repeat?: number;
  /** Cap over all requests of the run. */
  readonly requestsPerSecondMax?: number;
  /** Plays only the cases that change nothing. */
  readonly readOnly?: boolean;
  /** Makes each must that the run does not decide a problem. */
  readonly requireAllMust?: boolean;
  readonly caseTimeLimitMs: number;
  readonly requestTimeLimitMs: number;
  readonly tls?: { readonly caPem?: string };
}

/** Every case of the suite, in the order in which it is played. */
export function listCases(): readonly CaseListing[] {
  return allCases.map(({ arrange: _, ...listing }) => listing);
}

/**
 * Plays the selected cases, removes what they made, and gives the result. Throws a SetupError when
 * it could not even begin.
 */
export async function runConformance(options: ConformanceOptions): Promise<ConformanceResult> {
  const { clock, random, requestTimeLimitMs, tls, signal } = options;
  const baseUrl = checkedBaseUrl(options.baseUrl);
  const runId = random.bytes(4).toString('hex');
  const seed = options.seed ?? random.bytes(8).toString('hex');
  const mask = new Mask();
  const target = new Target({ baseUrl, clock, requestTimeLimitMs, caPem: tls?.caPem });
  try {
    const session = target.session(signal);
    await reachTarget(session, baseUrl);
    const steering = await openSteering({ target, session, mask, baseUrl }, options);
    const chance = { id: runId, random: seededRandom(seed) };
    const run = new Run({ ...options, ...chance, ...steering, target, mask });
    return await playAll(run, { ...options, baseUrl, seed, findings: steering.findings, mask });
  } finally {
    await target.close();
  }
}

type SeededOptions = ConformanceOptions & {
  readonly seed: string;
  readonly findings: readonly CapabilityFinding[];
  readonly mask: Mask;
};

async function playAll(run: Run, options: SeededOptions): Promise<ConformanceResult> {
  const { clock, baseUrl, headerPrefix, seed, findings, mask } = options;
  const startedAt = new Date(clock.now()).toISOString();
  const startedMs = clock.monotonicMs();
  const cases = selectedCases(options);
  options.onStart?.({ runId: run.id, seed, startedAt, ids: cases.map(({ id }) => id) });
  const contradictions = findings.flatMap(({ verdict }) => verdict ?? []);
  const verdicts = [...mask.value(contradictions), ...(await run.play(cases))];
  const leftBehind = await run.close();
  return {
    schema: conformanceSchema,
    suite,
    target: { baseUrl, headerPrefix },
    runId: run.id,
    seed,
    settings: settingsOf(options),
    environment: { node: process.versions.node, platform: process.platform },
    startedAt,
    durationMs: Math.round(clock.monotonicMs() - startedMs),
    outcome: worstOf(verdicts),
    totals: countVerdicts(verdicts),
    musts: decideMusts(verdicts),
    verdicts,
    capabilities: findings.map(({ row }) => row),
    openPoints: readingsOf(verdicts),
    waivers: [],
    problems: [],
    leftBehind,
  };
}

function settingsOf(options: ConformanceOptions): RunSettings {
  const { selection = [], jobs = 1, repeat = 1, requestsPerSecondMax = null } = options;
  const { disruptive = false, readOnly = false, requireAllMust = false } = options;
  const { caseTimeLimitMs, requestTimeLimitMs } = options;
  const limits = { requestsPerSecondMax, caseTimeLimitMs, requestTimeLimitMs };
  return { selection, jobs, repeat, disruptive, readOnly, requireAllMust, ...limits };
}

function selectedCases({ selection = [], ids }: ConformanceOptions): readonly PlayableCase[] {
  if (ids) return allCases.filter(({ id }) => ids.has(id));
  if (selection.length === 0) return allCases;
  return allCases.filter(({ id }) => selection.some((beginning) => id.startsWith(beginning)));
}
