/**
 * How a device stands with the server, and what leads from one standing to the next.
 * Spec: States and transitions, "Device identity (authentication) flow"
 */

export const lifeStates = ['unstarted', 'waiting', 'silent', 'idle', 'updating'] as const;
/**
 * `unstarted`: has not yet asked; `waiting`: refused, an operator has to accept it; `silent`: gets
 * no answer; `idle`: signed in; `updating`: has a deployment underway.
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
/** `ended`: the update is over or given up; `switched-off`: it has no power for a while. */
export type LifeEvent = (typeof lifeEvents)[number];

/** State x event -> next state; `null` where the event cannot happen. */
const lifeTable: Readonly<Record<LifeState, Readonly<Record<LifeEvent, LifeState | null>>>> = {
  unstarted: {
    refused: 'waiting',
    unanswered: 'silent',
    answered: 'idle',
    offered: null,
    ended: null,
    'switched-off': 'silent',
  },
  waiting: {
    refused: 'waiting',
    unanswered: 'silent',
    answered: 'idle',
    offered: null,
    ended: null,
    'switched-off': 'silent',
  },
  silent: {
    refused: 'waiting',
    unanswered: 'silent',
    answered: 'idle',
    offered: null,
    ended: null,
    'switched-off': 'silent',
  },
  idle: {
    refused: 'waiting',
    unanswered: 'silent',
    answered: 'idle',
    offered: 'updating',
    ended: null,
    'switched-off': 'silent',
  },
  // A device that loses the server goes on with its update and tries again.
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
 * The state that follows.
 * @throws Error when the event cannot happen in that state: a fault of the simulator itself
 */
export function nextLifeState(state: LifeState, event: LifeEvent): LifeState {
  const next = lifeTable[state][event];
  if (next === null) throw new Error(`a device that is ${state} cannot be ${event}`);
  return next;
}
