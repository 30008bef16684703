/**
 * A device's state towards the server, and its transitions.
 * Spec: States and transitions, "Device identity (authentication) flow"
 */

export const lifeStates = [
  'unstarted',
  'pending',
  'no-contact',
  'off',
  'idle',
  'updating',
] as const;
/**
 * `unstarted`: has not sent a request; `pending`: not accepted by the server yet;
 * `no-contact`: gets no response; `off`: without power, as planned; `idle`: signed in; `updating`:
 * has a deployment in progress.
 */
export type LifeState = (typeof lifeStates)[number];

export const lifeEvents = [
  'refused',
  'unanswered',
  'answered',
  'offered',
  'ended',
  'switched-off',
] as const;
/** `ended`: the update is finished or given up; `switched-off`: without power for a while. */
export type LifeEvent = (typeof lifeEvents)[number];

/** State x event -> next state; `null` where the event cannot happen. */
const lifeTable: Readonly<Record<LifeState, Readonly<Record<LifeEvent, LifeState | null>>>> = {
  unstarted: {
    refused: 'pending',
    unanswered: 'no-contact',
    answered: 'idle',
    offered: null,
    ended: null,
    'switched-off': 'off',
  },
  pending: {
    refused: 'pending',
    unanswered: 'no-contact',
    answered: 'idle',
    offered: null,
    ended: null,
    'switched-off': 'off',
  },
  'no-contact': {
    refused: 'pending',
    unanswered: 'no-contact',
    answered: 'idle',
    offered: null,
    ended: null,
    'switched-off': 'off',
  },
  off: {
    refused: 'pending',
    unanswered: 'no-contact',
    answered: 'idle',
    offered: null,
    ended: null,
    'switched-off': 'off',
  },
  idle: {
    refused: 'pending',
    unanswered: 'no-contact',
    answered: 'idle',
    offered: 'updating',
    ended: null,
    'switched-off': 'off',
  },
  // A device that loses the server continues its update and retries.
  updating: {
    refused: 'updating',
    unanswered: 'updating',
    answered: 'updating',
    offered: null,
    ended: 'idle',
    'switched-off': 'updating',
  },
};

/**
 * Returns the next state.
 * @throws Error when the event cannot happen in that state: a bug in the simulator
 */
export function nextLifeState(state: LifeState, event: LifeEvent): LifeState {
  const next = lifeTable[state][event];
  if (next === null) throw new Error(`a device that is ${state} cannot be ${event}`);
  return next;
}
