/**
 * Collects events for a short time, so that a busy server does not make the page render for each
 * event.
 */
import { after } from './browser-clock.ts';

const PAUSE_MS = 200;

/**
 * Collects items and delivers them together. `cancel` discards the items that are not delivered
 * yet.
 */
export interface Batch<Item> {
  add(item: Item): void;
  cancel(): void;
}

/** Returns a batch that passes its items to `deliver`, in the order of arrival. */
export function createBatch<Item>(deliver: (items: readonly Item[]) => void): Batch<Item> {
  let waiting: Item[] = [];
  let cancel: (() => void) | undefined;
  return {
    add: (item) => {
      waiting.push(item);
      cancel ??= after(PAUSE_MS, () => {
        cancel = undefined;
        const items = waiting;
        waiting = [];
        deliver(items);
      });
    },
    cancel: () => {
      cancel?.();
      cancel = undefined;
      waiting = [];
    },
  };
}
