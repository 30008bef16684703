/** Memory outside of the heap for bytes that are given back in the order in which they came. */

/** More than nearly all entries need. */
const SLAB_BYTES = 65_536;

/** A piece of memory that entries share. */
export class Slab {
  readonly bytes: Buffer;
  /** Number of bytes written so far. */
  used = 0;
  /** Entries in it that are still kept. */
  kept = 0;

  constructor(bytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
  }
}

/** Uses each slab again once none of its entries is kept. */
export class Slabs {
  readonly #free: Slab[] = [];
  #current = new Slab(0);

  /** Returns one that has room for another entry of so many bytes after those used. */
  slabFor(bytes: number): Slab {
    if (this.#current.used + bytes > this.#current.bytes.length) {
      const isLarge = bytes > SLAB_BYTES;
      const next = isLarge ? new Slab(bytes) : (this.#free.pop() ?? new Slab(SLAB_BYTES));
      if (this.#current.kept === 0) this.#release(this.#current);
      this.#current = next;
    }
    this.#current.kept += 1;
    return this.#current;
  }

  /** An entry in this slab is kept no longer. */
  giveBack(slab: Slab): void {
    slab.kept -= 1;
    if (slab.kept === 0 && slab !== this.#current) this.#release(slab);
  }

  #release(slab: Slab): void {
    slab.used = 0;
    if (slab.bytes.length === SLAB_BYTES) this.#free.push(slab);
  }
}
