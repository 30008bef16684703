/** Every act there is, and the ready plans: acts with their fields filled in, under the field's names. */
import type { Act } from './action.ts';
import { answerActs } from './answers.ts';
import { connectionActs } from './connections.ts';
import { downloadActs } from './downloads.ts';
import { socketActs } from './sockets.ts';
import { stateActs } from './states.ts';

/** In the order of the documentation. */
export const acts: readonly Act[] = [
  ...answerActs,
  ...connectionActs,
  ...downloadActs,
  ...socketActs,
  ...stateActs,
];

/** What clients of the family meet in the field, ready to use by its name. */
export const readyActs = {
  'empty-401': { kind: 'answer', status: 401, body: 'empty' },
  'error-500': { kind: 'answer', status: 500 },
  'object-error-500': { kind: 'answer', status: 500, body: 'object-error' },
  'gateway-502': { kind: 'answer', status: 502, body: 'html' },
  'gateway-503': { kind: 'answer', status: 503, body: 'html', headers: { 'Retry-After': '5' } },
  'gateway-504': { kind: 'answer', status: 504, body: 'html' },
  'captive-portal': { kind: 'answer', status: 200, body: 'html' },
} as const;
