/**
 * A limit on the bytes that all connections together may hold: incomplete bodies and WebSocket
 * messages, relayed data, the rest of refused requests, and bodies that wait for their turn. When
 * the limit is exceeded, the oldest holder is dropped, so that a stalled client cannot block the
 * others.
 */

/** The bytes held by one connection. */
export interface Holding {
  /** Sets the number of bytes held; 0 when the message is complete or dropped. */
  set(bytes: number): void;
}

/** A byte budget that the listeners of a server share. */
export class ByteBudget {
  readonly #maxBytes: number;
  #heldBytes = 0;
  /** Holdings above 0 bytes with their `dropHeldBytes`, in the order in which they became so. */
  readonly #holdings = new Map<Holding, () => void>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Opens an empty holding. `dropHeldBytes` must drop the held bytes at once. */
  open(dropHeldBytes: () => void): Holding {
    let heldBytes = 0;
    const holding: Holding = {
      set: (bytes) => {
        const more = bytes - heldBytes;
        if (more === 0) return;
        this.#heldBytes += more;
        heldBytes = bytes;
        if (bytes === 0) this.#holdings.delete(holding);
        else this.#holdings.set(holding, dropHeldBytes);
        if (more > 0 && this.#heldBytes > this.#maxBytes) this.#makeRoom();
      },
    };
    return holding;
  }

  #makeRoom(): void {
    for (const [oldest, dropHeldBytes] of this.#holdings) {
      oldest.set(0);
      dropHeldBytes();
      if (this.#heldBytes <= this.#maxBytes) return;
    }
  }
}
