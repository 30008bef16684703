/** Distributes the server's events to all views, over one stream for the whole page. */
import { effect, signal } from '@preact/signals';
import { after } from './browser-clock.ts';
import { targetOf } from './client.ts';
import { streamState, tenant, token } from './session.ts';
import { followStream } from './stream.ts';

const TICK_MS = 1000;

/**
 * Increments at most once a second while events arrive, and once after the connection is restored.
 */
export const tick = signal(0);

let isTicking = false;

function scheduleTick(): void {
  if (isTicking) return;
  isTicking = true;
  after(TICK_MS, () => {
    isTicking = false;
    tick.value += 1;
  });
}

/** Follows the server's events while the user is logged in. */
export function startLive(): void {
  effect(() => {
    if (token.value === '') return;
    void tenant.value;
    return followStream(() => targetOf('GET /events'), {
      onEvent: scheduleTick,
      onState: (state) => {
        if (state === 'live' && streamState.peek() === 'lost') scheduleTick();
        streamState.value = state;
      },
    });
  });
}
