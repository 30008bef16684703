/** All actions, and the named actions: actions with preset fields. */
import type { Action } from './action.ts';
import { connectionActions } from './connections.ts';
import { downloadActions } from './downloads.ts';
import { responseActions } from './responses.ts';
import { socketActions } from './sockets.ts';
import { stateActions } from './states.ts';

/** All actions, in the order of the documentation. */
export const actions: readonly Action[] = [
  ...responseActions,
  ...connectionActions,
  ...downloadActions,
  ...socketActions,
  ...stateActions,
];

/** Frequent failures of real servers and networks as named actions. */
export const readyActions = {
  'empty-401': { kind: 'respond', status: 401, body: 'empty' },
  'error-500': { kind: 'respond', status: 500 },
  'object-error-500': { kind: 'respond', status: 500, body: 'object-error' },
  'gateway-502': { kind: 'respond', status: 502, body: 'html' },
  'gateway-503': { kind: 'respond', status: 503, body: 'html', headers: { 'Retry-After': '5' } },
  'gateway-504': { kind: 'respond', status: 504, body: 'html' },
  'captive-portal': { kind: 'respond', status: 200, body: 'html' },
} as const;

/** An action as lists show it. */
export interface ListedAction {
  readonly kind: string;
  readonly does: string;
  /** Fields that a plan must give. */
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly when: readonly string[];
}

/** Returns all actions for the list of the command line and the table of the guide. */
export function listActions(): readonly ListedAction[] {
  return actions.map(({ kind, does, entries, injectionPoints: when }) => {
    const names = Object.keys(entries);
    const isOptional = (name: string): boolean => entries[name]?.type === 'optional';
    return {
      kind,
      does,
      when,
      required: names.filter((name) => !isOptional(name)),
      optional: names.filter(isOptional),
    };
  });
}

/** Returns the named actions as they are written in a plan without their names, in YAML. */
export function listReadyActions(): readonly { readonly name: string; readonly act: string }[] {
  return Object.entries(readyActions).map(([name, act]) => ({ name, act: flowText(act) }));
}

function flowText(value: unknown): string {
  // Unquoted, such as the value of a header, it would be a number.
  if (typeof value === 'string') return /^[a-z]/.test(value) ? value : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(([name, each]) => `${name}: ${flowText(each)}`);
  return `{ ${members.join(', ')} }`;
}
