/** All actions, and the named actions: actions with preset fields. */
import type { Action } from './action.ts';
import { answerActions } from './answers.ts';
import { connectionActions } from './connections.ts';
import { downloadActions } from './downloads.ts';
import { socketActions } from './sockets.ts';
import { stateActions } from './states.ts';

/** All actions, in the order of the documentation. */
export const actions: readonly Action[] = [
  ...answerActions,
  ...connectionActions,
  ...downloadActions,
  ...socketActions,
  ...stateActions,
];

/** Frequent failures of real servers and networks as named actions. */
export const readyActions = {
  'empty-401': { kind: 'answer', status: 401, body: 'empty' },
  'error-500': { kind: 'answer', status: 500 },
  'object-error-500': { kind: 'answer', status: 500, body: 'object-error' },
  'gateway-502': { kind: 'answer', status: 502, body: 'html' },
  'gateway-503': { kind: 'answer', status: 503, body: 'html', headers: { 'Retry-After': '5' } },
  'gateway-504': { kind: 'answer', status: 504, body: 'html' },
  'captive-portal': { kind: 'answer', status: 200, body: 'html' },
} as const;
