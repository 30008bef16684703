/**
 * `fleetbed conform --dry-run`: what a run would play, skip and make, without a request to the
 * target. What would be made is counted in a rehearsal against the reference server, which runs in
 * this process for so long; a target that lacks something has less made.
 */
import {
  type CaseListing,
  type ConformanceOptions,
  type ConformanceResult,
  runConformance,
} from '../../conformance/conformance.ts';
import { systemClock } from '../../fixtures/clock.ts';
import { systemRandom } from '../../fixtures/random.ts';
import { startServer } from '../../server/server.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Output } from '../output.ts';

type Settings = Omit<ConformanceOptions, 'clock' | 'random'>;

/** Rehearses the run, and tells what it would do. */
export async function dryRun(settings: Settings, output: Output): Promise<ExitCode> {
  output.progress('rehearsing against a server in this process; the target is not asked');
  const result = await rehearse(settings, output);
  const plan = planOf(result);
  output.data(plan);
  output.line(planText(plan));
  return plan.played.length > 0 ? exitCodes.pass : exitCodes.undecided;
}

interface Plan {
  readonly played: readonly Pick<CaseListing, 'id' | 'risk'>[];
  readonly skipped: readonly { readonly id: string; readonly because: string }[];
  /** How many things of each kind are made at most. */
  readonly madeAtMost: ConformanceResult['made'];
}

async function rehearse(settings: Settings, output: Output): Promise<ConformanceResult> {
  const { headerPrefix, credentials, hooks, control } = settings;
  const server = await startServer({ port: 0, controlPort: 0, logLevel: 'silent', headerPrefix });
  const { baseUrl, adminEmail: email, adminPassword: password, controlUrl, controlToken } = server;
  const hasUser = credentials !== 'none' || hooks !== undefined;
  try {
    return await runConformance({
      ...rehearsed(settings),
      baseUrl,
      credentials: hasUser ? { email, password } : 'none',
      ...(control && { control: { url: controlUrl, token: controlToken } }),
      clock: systemClock,
      random: systemRandom,
    });
  } finally {
    await server.close();
    output.progress('the rehearsal is over');
  }
}

/** The settings without what speaks of the target, and without the pace that spares it. */
function rehearsed(settings: Settings) {
  const { baseUrl, credentials, hooks, control, tls, requestsPerSecondMax, ...rest } = settings;
  return rest;
}

function planOf({ verdicts, made }: ConformanceResult): Plan {
  const isSkipped = ({ verdict }: { readonly verdict: string }): boolean => verdict === 'skip';
  return {
    played: verdicts.filter((each) => !isSkipped(each)).map(({ id, risk }) => ({ id, risk })),
    skipped: verdicts
      .filter(isSkipped)
      .map(({ id, reason }) => ({ id, because: reason?.text ?? '' })),
    madeAtMost: made,
  };
}

function planText({ played, skipped, madeAtMost }: Plan): string {
  const made = Object.entries(madeAtMost).map(([kind, count]) => `  ${kind}: at most ${count}`);
  return [
    'Would be played',
    ...played.map(({ id, risk }) => `  ${id} (${risk})`),
    ...(skipped.length > 0 ? ['', 'Would be skipped'] : []),
    ...skipped.map(({ id, because }) => `  ${id}: ${because}`),
    '',
    'Would be made, and removed again',
    ...(made.length > 0 ? made : ['  nothing']),
    '',
    `${played.length} cases would be played, ${skipped.length} skipped; no request was sent`,
  ].join('\n');
}
