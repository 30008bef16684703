/**
 * Generator and subject on cores of their own, so that neither takes time from the other: by
 * `taskset`, where that program and two cores exist.
 */
import { spawnSync } from 'node:child_process';

/** Which side of a measurement a process is on; `alone` where there is no other. */
export type Side = 'generator' | 'subject' | 'alone';

const cores: Readonly<Record<Side, string>> = { generator: '0', subject: '1', alone: '0,1' };

/** How processes are put on their cores. */
export interface Pinning {
  /** One line for the head of a report. */
  readonly text: string;
  /** Words to put in front of a command; none where nothing is pinned. */
  launcher(side: Side): readonly string[];
}

/** Processes run wherever the system puts them. */
export const unpinned: Pinning = { text: 'not pinned', launcher: () => [] };

/** Puts this process, which makes the load, on the generator's core. */
export function pinGenerator(): Pinning {
  const ours = ['--all-tasks', '--cpu-list', '--pid', cores.generator, String(process.pid)];
  const canPin = taskset('--cpu-list', cores.subject, 'true') && taskset(...ours);
  if (!canPin) return unpinned;
  return {
    text: `generator on core ${cores.generator}, subject on core ${cores.subject} (taskset)`,
    launcher: (side) => ['taskset', '--cpu-list', cores[side]],
  };
}

/** False where there is no such program or no such core. */
function taskset(...words: readonly string[]): boolean {
  return spawnSync('taskset', words, { stdio: 'ignore' }).status === 0;
}
