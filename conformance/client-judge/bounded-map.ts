/**
 * A map with a limit, in which a new item replaces the oldest. Most maps of most devices stay
 * empty, so the map itself is made with the first item.
 */
export class BoundedMap<Value> {
  readonly #itemsMax: number;
  #items: Map<string, Value> | undefined;

  constructor(itemsMax: number) {
    this.#itemsMax = itemsMax;
  }

  get size(): number {
    return this.#items?.size ?? 0;
  }

  get(key: string): Value | undefined {
    return this.#items?.get(key);
  }

  has(key: string): boolean {
    return this.#items?.has(key) ?? false;
  }

  /** Sets an item, which becomes the newest. */
  keep(key: string, value: Value): void {
    this.#items ??= new Map();
    this.#items.delete(key);
    this.#items.set(key, value);
    const [oldest] = this.#items.keys();
    if (this.#items.size > this.#itemsMax && oldest !== undefined) this.#items.delete(oldest);
  }

  delete(key: string): void {
    this.#items?.delete(key);
  }

  clear(): void {
    this.#items = undefined;
  }

  /** The keys, the oldest first. */
  get keys(): readonly string[] {
    return this.#items ? [...this.#items.keys()] : [];
  }

  /** The values, the oldest first. */
  get values(): readonly Value[] {
    return this.#items ? [...this.#items.values()] : [];
  }

  /** The newest item with its key; undefined if there is none. */
  get newest(): readonly [key: string, value: Value] | undefined {
    return this.#items && [...this.#items].at(-1);
  }
}
