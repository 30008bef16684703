/** The conformance suite: judges any server of this API family from its wire. */
import type { Clock } from '../fixtures/clock.ts';
import type { Random } from '../fixtures/random.ts';
import { capabilitiesOf } from './capabilities.ts';
import type { CaseListing, PlayableCase } from './case.ts';
import { allCases } from './cases/all-cases.ts';
import { type ConformanceResult, countVerdicts, decideMusts, worstOf } from './result.ts';
import { type Progress, Run } from './run.ts';
import { type Credentials, checkedBaseUrl, logIn, reachTarget } from './setup.ts';
import { Mask } from './target/mask.ts';
import { Target } from './target/target.ts';

export type { CaseListing } from './case.ts';
export type { CaseVerdict, ConformanceResult, VerdictName } from './result.ts';
export type { Credentials } from './setup.ts';
export { SetupError } from './setup-error.ts';

const suite = { name: 'fleetbed conformance', version: '1' };

/** One run as it is asked for. */
export interface ConformanceOptions extends Progress {
  /** Where the server answers, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** A user of the management API; with `none` only the cases that need no user are played. */
  readonly credentials: Credentials;
  /** The vendor's prefix of header names, such as `X-SVC`. */
  readonly headerPrefix: string;
  /** Beginnings of case ids; without any, every case is played. */
  readonly selection?: readonly string[];
  /** Plays also the cases that touch devices of others. */
  readonly disruptive?: boolean;
  readonly clock: Clock;
  /** Decides the run's id and the identities of its devices. */
  readonly random: Random;
  readonly caseTimeLimitMs: number;
  readonly requestTimeLimitMs: number;
  readonly tls?: { readonly caPem?: string };
}

/** Every case of the suite, in the order in which it is played. */
export function listCases(): readonly CaseListing[] {
  return allCases.map(({ arrange: _, ...listing }) => listing);
}

/**
 * Plays the selected cases one after the other, removes what they made, and gives the result.
 * Throws a SetupError when it could not even begin.
 */
export async function runConformance(options: ConformanceOptions): Promise<ConformanceResult> {
  const { clock, requestTimeLimitMs, tls, credentials, signal } = options;
  const baseUrl = checkedBaseUrl(options.baseUrl);
  const mask = new Mask();
  if (credentials !== 'none') {
    if ('token' in credentials) mask.learn(credentials.token, 'user-token');
    else mask.learn(credentials.password, 'password');
  }
  const target = new Target({ baseUrl, clock, requestTimeLimitMs, caPem: tls?.caPem });
  try {
    const session = target.session(signal);
    await reachTarget(session, baseUrl);
    const operator = await logIn(session, credentials, mask);
    const parts = capabilitiesOf('part');
    const run = new Run({ ...options, target, operator, parts, mask });
    return await playAll(run, { ...options, baseUrl });
  } finally {
    await target.close();
  }
}

async function playAll(run: Run, options: ConformanceOptions): Promise<ConformanceResult> {
  const { clock, baseUrl, headerPrefix } = options;
  const startedAt = new Date(clock.now()).toISOString();
  const startedMs = clock.monotonicMs();
  const verdicts = await run.play(selectedCases(options.selection));
  const leftBehind = await run.close();
  return {
    suite,
    target: { baseUrl, headerPrefix },
    runId: run.id,
    startedAt,
    durationMs: Math.round(clock.monotonicMs() - startedMs),
    outcome: worstOf(verdicts),
    totals: countVerdicts(verdicts),
    musts: decideMusts(verdicts),
    verdicts,
    leftBehind,
  };
}

function selectedCases(selection: readonly string[] = []): readonly PlayableCase[] {
  if (selection.length === 0) return allCases;
  return allCases.filter(({ id }) => selection.some((beginning) => id.startsWith(beginning)));
}
