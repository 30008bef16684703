/**
 * Bytes that all connections together may hold of incomplete transfers (bodies, websocket messages,
 * relayed data, the rest of refused requests) and of bodies that wait for their turn. When they are
 * used up, the one longest in progress is dropped, so that a stalled client cannot block the others.
 */

/** The bytes held by one connection. */
export interface Holding {
  /** Replaces the held number; 0 when the message is complete or dropped. */
  set(bytes: number): void;
}

/** Shared by the listeners of a server. */
export class ByteBudget {
  readonly #maxBytes: number;
  #heldBytes = 0;
  /** Ordered from the oldest to the newest. */
  readonly #underway = new Map<Holding, () => void>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Opens an empty holding; `giveWay` must immediately drop what it holds. */
  open(giveWay: () => void): Holding {
    let held = 0;
    const holding: Holding = {
      set: (bytes) => {
        const more = bytes - held;
        if (more === 0) return;
        this.#heldBytes += more;
        held = bytes;
        if (bytes === 0) this.#underway.delete(holding);
        else this.#underway.set(holding, giveWay);
        if (more > 0 && this.#heldBytes > this.#maxBytes) this.#makeRoom();
      },
    };
    return holding;
  }

  #makeRoom(): void {
    for (const [oldest, giveWay] of this.#underway) {
      oldest.set(0);
      giveWay();
      if (this.#heldBytes <= this.#maxBytes) return;
    }
  }
}
