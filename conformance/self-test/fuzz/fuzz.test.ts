import { describe, expect, it } from 'vitest';
import type { Defect } from '../defect.ts';
import type { DefectResult } from '../judgement.ts';
import { fuzzText } from '../report/fuzz-text.ts';
import type { ViolatedLevel } from './alteration.ts';
import type { FuzzDefect } from './draw.ts';
import { reachesFloor, runFuzz } from './fuzz.ts';

function defect(id: string, violatedLevel: ViolatedLevel): FuzzDefect {
  return {
    id,
    violatedLevel,
    kind: 'member-missing',
    operation: 'get-artifact',
    sample: 1,
    title: `The operation get-artifact answers without /${id}, always.`,
    violates: ['artifacts.name'],
    operations: ['get-artifact'],
    alter: () => ({}),
  };
}

interface Outcome {
  /** The cases that fail on the defect. */
  readonly fail?: readonly string[];
  readonly changes?: number;
  readonly suiteErrors?: readonly string[];
}

/** Runs the defects against three cases; each takes effect unless its outcome says otherwise. */
function casesRun(
  levels: Readonly<Record<string, ViolatedLevel>>,
  outcomes: Readonly<Record<string, Outcome>>,
) {
  const defects = Object.entries(levels).map(([id, violatedLevel]) => defect(id, violatedLevel));
  const runs: string[] = [];
  const runOf = async ({ id }: Defect, ids: ReadonlySet<string>): Promise<DefectResult> => {
    runs.push(`${id} ${ids.size}`);
    const { fail = [], changes = 1, suiteErrors = [] } = outcomes[id] ?? {};
    const killedBy = fail.filter((each) => ids.has(each));
    return {
      id,
      killedBy,
      changes,
      suiteErrors,
      casesRun: ids.size,
      outcome: 'survived',
      proves: [],
      falseFailures: [],
      alsoViolates: [],
    };
  };
  const all = new Set(defects.map(({ id }) => id));
  const affectedCases = new Map(['a/1', 'a/2', 'a/3'].map((id) => [id, all]));
  const options = { count: 9, seed: 'a seed', baselineFailures: [], workers: [runOf] };
  return { runs, result: runFuzz({ defects, affectedCases, ...options }) };
}

const everyCase = ['a/1', 'a/2', 'a/3'];

describe('a fuzz run', () => {
  it('counts which alterations that violate a MUST and took effect were killed', async () => {
    const { result } = casesRun(
      { killed: 'must', survived: 'must', absent: 'must', weak: 'should' },
      { killed: { fail: everyCase }, absent: { changes: 0 } },
    );
    const { share, rows } = await result;
    expect(share).toBe(0.5);
    expect(rows.map(({ outcome }) => outcome)).toEqual([
      ...['killed', 'survived', 'unexercised', 'survived'],
    ]);
  });

  it('runs all affected cases of a defect that the sampled cases do not kill', async () => {
    const { runs, result } = casesRun(
      { killed: 'must', survived: 'must', conforming: 'nothing' },
      { killed: { fail: everyCase } },
    );
    await result;
    expect(runs).toEqual(['killed 1', 'survived 1', 'survived 3', 'conforming 1']);
  });

  it('does not reach its floor when a case fails on an alteration that the contract allows', async () => {
    const { runs, result } = casesRun(
      { conforming: 'nothing' },
      { conforming: { fail: everyCase } },
    );
    expect(reachesFloor(await result, 0)).toBe(false);
    expect(runs).toEqual(['conforming 1', 'conforming 1']);
  });

  it('reaches its floor with exactly that share of kills, and never after an error of the suite', async () => {
    const half = await casesRun({ a: 'must', b: 'must' }, { a: { fail: everyCase } }).result;
    expect([reachesFloor(half, 0.5), reachesFloor(half, 0.51)]).toEqual([true, false]);
    const broken = { a: { fail: everyCase, suiteErrors: ['a/1'] } };
    expect(reachesFloor(await casesRun({ a: 'must' }, broken).result, 0.5)).toBe(false);
  });

  it('lists the kinds, and each survivor with the command that repeats it', async () => {
    const outcomes = { killed: { fail: everyCase } };
    const { result } = casesRun(
      { killed: 'must', survived: 'must', conforming: 'nothing' },
      outcomes,
    );
    const text = fuzzText(await result, 0.95);
    expect(text).toContain('member-missing  1 of 2');
    expect(text).toContain(
      '! survived survived (violates a must) The operation get-artifact answers without /survived, always.',
    );
    expect(text).toContain("npx fleetbed conform self-test --fuzz 9 --seed 'a seed' survived");
    expect(text).toContain('2 alterations violate a must: 1 killed, 50.0 percent (floor 95.0');
    expect(text).toContain('1 are conforming: 0 killed');
  });
});
