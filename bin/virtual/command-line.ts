/** The command line that reproduces a trial: the original one with the changes of the trial. */
import type { Command } from 'commander';
import { durationText } from '../../fixtures/duration.ts';
import { shellWord } from '../../fixtures/formats/shell-word.ts';
import { exchangeFaultText } from '../../simulator/plan/exchange-faults.ts';
import { restartText } from '../../simulator/plan/restarts.ts';
import type { VirtualTrial } from './run.ts';

/** Options that the trial replaces, or that do not affect it. */
const replaced = new Set([
  ...['--explore', '--seed', '--devices', '--duration', '--fault', '--restart', '--interleave'],
  ...['--events', '--report', '--json'],
]);

/**
 * Returns one line for a shell.
 * @param words the original arguments of `fleetbed simulate`
 */
export function repeatLine(
  words: readonly string[],
  command: Command,
  { plan, faults, restarts, isInterleaved }: VirtualTrial,
): string {
  const { seed, devices, durationMs } = plan;
  const own = [
    ...['--seed', seed, '--devices', String(devices)],
    ...(durationMs === undefined ? [] : ['--duration', durationText(durationMs)]),
    ...(isInterleaved ? ['--interleave'] : []),
    ...faults.flatMap((fault) => ['--fault', exchangeFaultText(fault)]),
    ...restarts.flatMap((restart) => ['--restart', restartText(restart)]),
  ];
  const line = ['fleetbed', 'simulate', ...withoutReplaced(words, command), ...own];
  return line.map(shellWord).join(' ');
}

function withoutReplaced(words: readonly string[], command: Command): string[] {
  const left: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const [flag = ''] = word.split('=');
    if (!replaced.has(flag)) left.push(word);
    else if (word === flag && takesValue(command, flag)) at++;
  }
  return left;
}

function takesValue(command: Command, flag: string): boolean {
  return command.options.find(({ long }) => long === flag)?.required === true;
}
