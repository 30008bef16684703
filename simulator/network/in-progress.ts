/** A collection of what is in progress, for many short-lived items. */

/** An item that stores its place in the collection. */
export interface Placed {
  /** Kept by `InProgress`; absent while the item is not in it. */
  place?: number | undefined;
}

/**
 * A set without an order. A `Set` whose items change all the time is replaced by a larger or smaller
 * table every few hundred changes, and each old table still refers to the items of that moment and to
 * the next table: once one of them is old to the garbage collector, all that was ever in progress
 * stays until a full collection. A fleet that polled as fast as it could spent a third of its CPU time
 * on that.
 */
export class InProgress<Item extends Placed> {
  readonly #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    item.place = this.#items.length;
    this.#items.push(item);
  }

  /** Returns false when it was not in progress. */
  delete(item: Item): boolean {
    const { place } = item;
    if (place === undefined) return false;
    item.place = undefined;
    const last = this.#items.pop();
    if (last === undefined || last === item) return true;
    last.place = place;
    this.#items[place] = last;
    return true;
  }

  /** Returns a snapshot of all items. */
  now(): readonly Item[] {
    return [...this.#items];
  }
}
