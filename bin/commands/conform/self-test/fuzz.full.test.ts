import { describe, expect, it } from 'vitest';
import type { FuzzResult } from '../../../../conformance/self-test/fuzz/fuzz.ts';
import { runCommand, startCommand } from '../../../testing/built-command.ts';

const RUN_MAX_MS = 120_000;
const few = ['--seed', '1', '--cases', 'service/', 'errors/', '--json'];

function fuzz(count: number, ...args: readonly string[]) {
  return runCommand(['conform', 'self-test', '--fuzz', String(count), ...args]);
}

describe('fleetbed conform self-test --fuzz', () => {
  it(
    'repeats the same alterations, and fails below the floor',
    async () => {
      const one = await fuzz(12, ...few, '--floor', '1');
      const other = await fuzz(12, ...few, '--floor', '1');
      const titles = ({ stdout }: typeof one) =>
        (JSON.parse(stdout) as FuzzResult).rows.map(({ title }) => title);
      expect(titles(one)).toEqual(titles(other));
      // The selected cases are too few to kill every alteration.
      expect(one.code).toBe(1);
    },
    RUN_MAX_MS,
  );

  it(
    'runs a single alteration by the command that is shown for a survivor',
    async () => {
      const { stdout } = await fuzz(12, ...few, 'fuzz-00003');
      const { rows }: FuzzResult = JSON.parse(stdout);
      expect(rows.map(({ id }) => id)).toEqual(['fuzz-00003']);
    },
    RUN_MAX_MS,
  );

  it(
    'prints partial results at Ctrl-C, and says that the run was interrupted',
    async () => {
      const running = startCommand([
        'conform',
        'self-test',
        '--fuzz',
        '500',
        '--cases',
        'service/',
      ]);
      await running.waitForOutput('stderr', /1 of 500/);
      const { code, stdout } = await running.end('SIGINT');
      expect(code).toBe(130);
      expect(stdout).toContain('interrupted before every alteration was run');
    },
    RUN_MAX_MS,
  );
});
