/**
 * `fleetbed conform --dry-run`: prints which cases a run would run and skip, and what it would
 * create, without a request to the target. To count resources and requests, the cases run against a
 * temporary reference server in this process. A target with fewer features gets fewer resources.
 */
import {
  type ArraySize,
  arraySizes,
  type CaseListing,
  type ConformanceOptions,
  type ConformanceResult,
  runConformance,
} from '../../../conformance/conformance.ts';
import { leftOnServerText, removableText } from '../../../conformance/report/footprint.ts';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { countText } from '../../../fixtures/base/count-text.ts';
import { systemRandom } from '../../../fixtures/base/random.ts';
import { startServer } from '../../../server/server.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import type { Output } from '../../output/output.ts';

type DryRunSettings = Omit<ConformanceOptions, 'clock' | 'random'>;

/** Performs a dry run, and prints what the run would do. */
export async function dryRun(settings: DryRunSettings, output: Output): Promise<ExitCode> {
  output.progress(
    'rehearsing against a reference server in this process; no request is sent to the target',
  );
  const result = await runOnReferenceServer(settings, output);
  const plan = planOf(result, settings);
  output.data(plan);
  output.line(planText(plan));
  return plan.selected.length > 0 ? exitCodes.pass : exitCodes.inconclusive;
}

interface Plan {
  readonly selected: readonly Pick<CaseListing, 'id' | 'effect'>[];
  readonly skipped: readonly { readonly id: string; readonly reason: string }[];
  /** How many requests combine the parameters of an operation. */
  readonly combined: readonly ArraySize[];
  /** The greatest number of resources of each kind that the run would create. */
  readonly madeAtMost: ConformanceResult['made'];
  /**
   * The footprint of the rehearsal. A slow target receives more requests, because cases repeat a
   * request until its effect shows.
   */
  readonly footprint: ConformanceResult['footprint'];
  /**
   * The least duration of the requests at the rate limit of the run, in seconds; null without a
   * limit.
   */
  readonly secondsAtLeast: number | null;
}

async function runOnReferenceServer(
  settings: DryRunSettings,
  output: Output,
): Promise<ConformanceResult> {
  const { headerPrefix, credentials, hooks, control } = settings;
  const server = await startServer({ port: 0, controlPort: 0, logLevel: 'silent', headerPrefix });
  const { baseUrl, adminEmail: email, adminPassword: password, controlUrl, controlToken } = server;
  const hasUser = credentials !== 'none' || hooks !== undefined;
  try {
    return await runConformance({
      ...withoutTarget(settings),
      baseUrl,
      credentials: hasUser ? { email, password } : 'none',
      ...(control && { control: { url: controlUrl, token: controlToken } }),
      clock: systemClock,
      random: systemRandom,
    });
  } finally {
    await server.close();
    output.progress('rehearsal finished');
  }
}

/** Returns the settings without those that address the target, and without its rate limit. */
function withoutTarget(settings: DryRunSettings) {
  const { baseUrl, credentials, hooks, control, tls, requestsPerSecondMax, ...rest } = settings;
  return rest;
}

function planOf(
  { verdicts, made, footprint }: ConformanceResult,
  { requestsPerSecondMax: rate, model }: DryRunSettings,
): Plan {
  const isSkipped = ({ verdict }: { readonly verdict: string }): boolean => verdict === 'skip';
  const selectedVerdicts = verdicts.filter((each) => !isSkipped(each));
  return {
    selected: selectedVerdicts.map(({ id, effect }) => ({ id, effect })),
    skipped: verdicts
      .filter(isSkipped)
      .map(({ id, reason }) => ({ id, reason: reason?.text ?? '' })),
    combined: arraySizes(model?.thorough ?? false).filter(({ caseId }) =>
      selectedVerdicts.some(({ id }) => id === caseId),
    ),
    madeAtMost: made,
    footprint,
    secondsAtLeast: rate === undefined ? null : Math.ceil(footprint.requests / rate),
  };
}

function planText({ selected, skipped, combined, ...plan }: Plan): string {
  return [
    'Would run',
    ...selected.map(({ id, effect }) => `  ${id} (${effect})`),
    ...(skipped.length > 0 ? ['', 'Would skip'] : []),
    ...skipped.map(({ id, reason }) => `  ${id}: ${reason}`),
    ...(combined.length > 0 ? ['', 'Combined parameters'] : []),
    ...combined.map(
      ({ operation, parameters, requests }) =>
        `  ${operation}: ${countText(parameters, 'parameter')} in ${countText(requests, 'request')}`,
    ),
    '',
    'Footprint',
    ...planFootprint(plan).map((line) => `  ${line}`),
    '',
    `${selected.length} cases would run, ${skipped.length} would be skipped; no request was sent`,
  ].join('\n');
}

function planFootprint({
  madeAtMost: made,
  footprint,
  secondsAtLeast,
}: Pick<Plan, 'madeAtMost' | 'footprint' | 'secondsAtLeast'>): readonly string[] {
  const removedText = removableText({ made });
  const leftText = leftOnServerText({ made, footprint });
  const time =
    secondsAtLeast === null ? '' : `, at --rate at least ${durationText(secondsAtLeast)}`;
  return [
    `requests: about ${countText(footprint.requests, 'request')}${time}`,
    `created and removed: ${removedText === '' ? 'nothing' : `at most ${removedText}`}`,
    `left on the server (the API has no delete): ${leftText === '' ? 'nothing' : leftText}`,
  ];
}

function durationText(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
