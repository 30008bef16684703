import { describe, expect, it } from 'vitest';
import { reportableStatuses } from '../../fixtures/contract/vocabulary.ts';
import {
  type LifeEvent,
  type LifeState,
  lifeEvents,
  lifeStates,
  nextLifeState,
} from './life-states.ts';
import {
  isFinal,
  nextUpdateState,
  type UpdateEvent,
  type UpdateState,
  updateEvents,
  updateStates,
} from './update-states.ts';

type Cells<State extends string, Event extends string> = Partial<
  Record<State, Partial<Record<Event, State>>>
>;

/** The allowed transitions, repeated by hand. Every other transition must be refused. */
const updateCells: Cells<UpdateState, UpdateEvent> = {
  offered: {
    recognise: 'already-installed',
    claim: 'success',
    download: 'downloading',
    fail: 'failure',
    abort: 'aborted',
  },
  downloading: {
    'hold-install': 'pause_before_installing',
    install: 'installing',
    fail: 'failure',
    abort: 'aborted',
  },
  pause_before_installing: { install: 'installing', fail: 'failure', abort: 'aborted' },
  installing: {
    'hold-reboot': 'pause_before_rebooting',
    reboot: 'rebooting',
    'hold-commit': 'pause_before_committing',
    commit: 'success',
    fail: 'failure',
    abort: 'aborted',
  },
  pause_before_rebooting: { reboot: 'rebooting', fail: 'failure', abort: 'aborted' },
  rebooting: {
    reboot: 'rebooting',
    'hold-commit': 'pause_before_committing',
    commit: 'success',
    fail: 'failure',
    abort: 'aborted',
  },
  pause_before_committing: { commit: 'success', fail: 'failure', abort: 'aborted' },
  success: { abort: 'aborted' },
  failure: { abort: 'aborted' },
  'already-installed': { abort: 'aborted' },
};

const outside = {
  refused: 'pending',
  unanswered: 'no-contact',
  authenticated: 'idle',
  'switched-off': 'off',
} as const;
const lifeCells: Cells<LifeState, LifeEvent> = {
  unstarted: outside,
  pending: outside,
  'no-contact': outside,
  off: outside,
  idle: { ...outside, offered: 'updating' },
  updating: {
    refused: 'updating',
    unanswered: 'updating',
    authenticated: 'updating',
    ended: 'idle',
    'switched-off': 'updating',
  },
};

const updatePairs = updateStates.flatMap((state) =>
  updateEvents.map((event) => [state, event] as const),
);
const lifePairs = lifeStates.flatMap((state) => lifeEvents.map((event) => [state, event] as const));

describe('the state machine of an update', () => {
  it.each(updatePairs)(
    'handles in state %s the event %s as listed in this test',
    (state, event) => {
      const wanted = updateCells[state]?.[event];
      if (wanted) expect(nextUpdateState(state, event)).toBe(wanted);
      else expect(() => nextUpdateState(state, event)).toThrow(`that is ${state} cannot ${event}`);
    },
  );

  it('has every status that a device can report', () => {
    expect(updateStates).toEqual(expect.arrayContaining([...reportableStatuses]));
    expect(updateStates).toHaveLength(reportableStatuses.length + 2);
  });

  it('is final in four states and in no other', () => {
    const finals = updateStates.filter(isFinal);
    expect(finals).toEqual(['success', 'failure', 'already-installed', 'aborted']);
  });
});

describe('the state machine of a device', () => {
  it.each(lifePairs)('handles in state %s the event %s as listed in this test', (state, event) => {
    const wanted = lifeCells[state]?.[event];
    if (wanted) expect(nextLifeState(state, event)).toBe(wanted);
    else expect(() => nextLifeState(state, event)).toThrow(`that is ${state} cannot be ${event}`);
  });
});
