/** Events of the server for all views: one stream for the whole page. */
import { effect, signal } from '@preact/signals';
import type { AnswerOf } from '../../../../fixtures/control/operations.ts';
import { after } from './browser-clock.ts';
import { targetOf } from './client.ts';
import { link, tenant, token } from './session.ts';
import { followStream } from './stream.ts';

type Activity = AnswerOf<'GET /events'>;

const TICK_MS = 1000;

/** Rises at most once a second while something happens, and once after the link was restored. */
export const tick = signal(0);

type Listener = (activity: Activity) => void;
const listeners = new Set<Listener>();

/** Calls the listener for every answered request; returns what ends it. */
export function onActivity(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let isTicking = false;

function tickSoon(): void {
  if (isTicking) return;
  isTicking = true;
  after(TICK_MS, () => {
    isTicking = false;
    tick.value += 1;
  });
}

/** Follows the server while the user is signed in. */
export function startLive(): void {
  effect(() => {
    if (token.value === '') return;
    void tenant.value;
    return followStream(() => targetOf('GET /events'), {
      onEvent: (_, data) => {
        for (const listener of listeners) listener(data as Activity);
        tickSoon();
      },
      onState: (state) => {
        if (state === 'live' && link.peek() === 'lost') tickSoon();
        link.value = state;
      },
    });
  });
}
