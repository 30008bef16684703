import { describe, expect, it } from 'vitest';
import type {
  ClientVerdict,
  DutyViolation,
} from '../../conformance/client-judge/client-verdict.ts';
import type { DutyState } from '../../fixtures/control/clients.ts';
import { verdictSince } from './verdict-since.ts';

const violation = (journalEntry: number): DutyViolation => ({
  journalEntry,
  operation: 'put-deployment-log',
  atMs: journalEntry,
  message: 'it was repeated',
});

function verdict(state: DutyState, judged: number, sequences: readonly number[]): ClientVerdict {
  const violations = sequences.map(violation);
  const row = { duty: 'log.413-stops', state, judged, violations };
  return {
    client: 'client',
    exchanges: 10 * judged,
    dropped: 0,
    duties: [{ ...row, violationCount: sequences.length }],
  };
}

describe('the verdict on one of several scenes', () => {
  it('has only the violations since the previous scene', () => {
    const found = verdictSince(verdict('broken', 2, [7]), verdict('broken', 5, [7, 19]));
    expect(found?.duties[0]).toMatchObject({
      state: 'broken',
      judged: 3,
      violationCount: 1,
      violations: [{ journalEntry: 19 }],
    });
    expect(found?.exchanges).toBe(30);
  });

  it.each([
    ['met if it was decided again without one', verdict('broken', 4, [7]), 'met'],
    ['not tested if nothing decided it again', verdict('broken', 2, [7]), 'not-tested'],
  ])('states about a duty that was broken before: %s', (_, after, state) => {
    const found = verdictSince(verdict('broken', 2, [7]), after);
    expect(found?.duties[0]).toMatchObject({ state, violations: [], violationCount: 0 });
  });

  it('does not count a duty as met for an earlier scene alone', () => {
    const met = verdict('met', 2, []);
    expect(verdictSince(met, met)?.duties[0]?.state).toBe('not-tested');
  });

  it('is the whole verdict in the first scene', () => {
    const first = verdict('met', 2, []);
    expect(verdictSince(undefined, first)).toBe(first);
  });
});
