/** Events collected for a short time, so that a busy server does not make the page render for each of them. */
import { after } from './browser-clock.ts';

const PAUSE_MS = 200;

/** Takes single items, and hands them on together; `cancel` forgets those that wait. */
export interface Batch<Item> {
  add(item: Item): void;
  cancel(): void;
}

/** Gathers items for `deliver`, which gets them in the order in which they came. */
export function gather<Item>(deliver: (items: readonly Item[]) => void): Batch<Item> {
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
