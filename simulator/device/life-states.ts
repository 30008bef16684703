/**
 * The states of a device in relation to the server, and their transitions.
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
 * `unstarted`: the device has sent no request. `pending`: the server has not accepted it.
 * `no-contact`: it gets no response. `off`: it has no power. `idle`: it has a token. `updating`:
 * it has a deployment in progress.
 */
export type LifeState = (typeof lifeStates)[number];

export const lifeEvents = [
  'refused',
  'unanswered',
  'authenticated',
  'offered',
  'ended',
  'switched-off',
] as const;
/**
 * Events that change the state. `ended`: the update has finished or was given up; `switched-off`:
 * the device has no power for a while.
 */
export type LifeEvent = (typeof lifeEvents)[number];

/**
 * Maps each state and event to the next state; `null` when the event cannot happen in that state.
 */
const lifeTable: Readonly<Record<LifeState, Readonly<Record<LifeEvent, LifeState | null>>>> = {
  unstarted: {
    refused: 'pending',
    unanswered: 'no-contact',
    authenticated: 'idle',
    offered: null,
    ended: null,
    'switched-off': 'off',
  },
  pending: {
    refused: 'pending',
    unanswered: 'no-contact',
    authenticated: 'idle',
    offered: null,
    ended: null,
    'switched-off': 'off',
  },
  'no-contact': {
    refused: 'pending',
    unanswered: 'no-contact',
    authenticated: 'idle',
    offered: null,
    ended: null,
    'switched-off': 'off',
  },
  off: {
    refused: 'pending',
    unanswered: 'no-contact',
    authenticated: 'idle',
    offered: null,
    ended: null,
    'switched-off': 'off',
  },
  idle: {
    refused: 'pending',
    unanswered: 'no-contact',
    authenticated: 'idle',
    offered: 'updating',
    ended: null,
    'switched-off': 'off',
  },
  // A device that loses contact during an update stays in this state and retries.
  updating: {
    refused: 'updating',
    unanswered: 'updating',
    authenticated: 'updating',
    offered: null,
    ended: 'idle',
    'switched-off': 'updating',
  },
};

/**
 * Returns the next state.
 * @throws Error when the event cannot happen in this state, which is a bug in the simulator
 */
export function nextLifeState(state: LifeState, event: LifeEvent): LifeState {
  const next = lifeTable[state][event];
  if (next === null) throw new Error(`a device that is ${state} cannot be ${event}`);
  return next;
}
