/**
 * Memory outside the JavaScript heap. Its bytes are released in the order in which they were
 * allocated.
 */

/** Size of a slab. Nearly all entries need less. */
const SLAB_BYTES = 65_536;

/** A block of memory that several entries share. */
export class Slab {
  readonly bytes: Buffer;
  /** Number of bytes written so far. */
  used = 0;
  /** Number of entries in the slab that are still stored. */
  storedEntries = 0;

  constructor(bytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
  }
}

/** Allocates slabs, and reuses a slab once none of its entries is stored. */
export class Slabs {
  readonly #free: Slab[] = [];
  #current = new Slab(0);

  /** Returns a slab that has room for another `bytes` bytes, and counts one more entry in it. */
  slabFor(bytes: number): Slab {
    if (this.#current.used + bytes > this.#current.bytes.length) {
      const isLarge = bytes > SLAB_BYTES;
      const next = isLarge ? new Slab(bytes) : (this.#free.pop() ?? new Slab(SLAB_BYTES));
      if (this.#current.storedEntries === 0) this.#release(this.#current);
      this.#current = next;
    }
    this.#current.storedEntries += 1;
    return this.#current;
  }

  /**
   * Counts one entry less in the slab. Frees the slab after the last one, unless it is in use for
   * new entries.
   */
  giveBack(slab: Slab): void {
    slab.storedEntries -= 1;
    if (slab.storedEntries === 0 && slab !== this.#current) this.#release(slab);
  }

  #release(slab: Slab): void {
    slab.used = 0;
    if (slab.bytes.length === SLAB_BYTES) this.#free.push(slab);
  }
}
