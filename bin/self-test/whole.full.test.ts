import { expect, it } from 'vitest';
import { isSound } from '../../conformance/self-test/judgement.ts';
import type { KillMatrix } from '../../conformance/self-test/matrix.ts';
import { runCommand } from '../testing/built-command.ts';

/** It takes nine minutes on two cores that have nothing else to do. */
const PLAY_MAX_MS = 2_400_000;

it(
  'every planted defect is caught by who names it, and by nobody else',
  async () => {
    const words = ['conform', 'self-test', '--processes', '2', '--json'];
    const { code, stdout } = await runCommand(words);
    const { baselineFaults, rows, totals }: KillMatrix = JSON.parse(stdout);
    expect(baselineFaults).toEqual([]);
    expect(rows.filter((row) => !isSound(row))).toEqual([]);
    expect(totals.killed + totals.equivalent).toBe(totals.defects);
    expect(code).toBe(0);
  },
  PLAY_MAX_MS,
);
