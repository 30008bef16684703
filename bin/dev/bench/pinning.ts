/**
 * Pins the load generator and the measured process to different CPU cores with `taskset`, so that
 * neither takes time from the other. Without `taskset` or a second core, nothing is pinned.
 */
import { spawnSync } from 'node:child_process';

/** The side of a measurement that a process is on; an `alone` process may use both cores. */
export type PinnedSide = 'generator' | 'subject' | 'alone';

const cores: Readonly<Record<PinnedSide, string>> = { generator: '0', subject: '1', alone: '0,1' };

/** How the processes of a benchmark are pinned to cores. */
export interface Pinning {
  /** A description in one line, for the head of a report. */
  readonly text: string;
  /** Returns the arguments to put in front of a command; empty when nothing is pinned. */
  launcher(side: PinnedSide): readonly string[];
}

/** Leaves the choice of cores to the system. */
export const unpinned: Pinning = { text: 'not pinned', launcher: () => [] };

/** Pins this process, which generates the load, to the generator's core. */
export function pinGenerator(): Pinning {
  const tasksetArguments = [
    '--all-tasks',
    '--cpu-list',
    '--pid',
    cores.generator,
    String(process.pid),
  ];
  const canPin = taskset('--cpu-list', cores.subject, 'true') && taskset(...tasksetArguments);
  if (!canPin) return unpinned;
  return {
    text: `generator on core ${cores.generator}, subject on core ${cores.subject} (taskset)`,
    launcher: (side) => ['taskset', '--cpu-list', cores[side]],
  };
}

/** Runs `taskset`. Returns false when the program or the core does not exist. */
function taskset(...args: readonly string[]): boolean {
  return spawnSync('taskset', args, { stdio: 'ignore' }).status === 0;
}
