/** Returns the options that repeat a run in virtual time. */
import { durationText } from '../../fixtures/base/duration.ts';
import { exchangeFaultText } from '../../simulator/plan/exchange-faults.ts';
import { restartText } from '../../simulator/plan/restarts.ts';
import type { VirtualRun } from './run.ts';

/** Options that the run replaces, or that have no effect on it. */
const replaced = [
  '--explore',
  '--seed',
  '--devices',
  '--duration',
  '--fault',
  '--restart',
  '--interleave',
  '--events',
  '--report',
  '--json',
];

/** Returns the options of the run, and the given options that they replace. */
export function virtualRunOptions({ plan, faults, restarts, isInterleaved }: VirtualRun) {
  const { seed, devices, durationMs } = plan;
  const ownArguments = [
    '--seed',
    seed,
    '--devices',
    String(devices),
    ...(durationMs === undefined ? [] : ['--duration', durationText(durationMs)]),
    ...(isInterleaved ? ['--interleave'] : []),
    ...faults.flatMap((fault) => ['--fault', exchangeFaultText(fault)]),
    ...restarts.flatMap((restart) => ['--restart', restartText(restart)]),
  ];
  return { ownArguments, replaced };
}
