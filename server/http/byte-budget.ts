/**
 * Bytes that all connections together may hold of what has not arrived, or not left, whole: bodies,
 * websocket messages, what is relayed. When they are used up, the one that has been underway the
 * longest gives way, so that nobody can hold the others up by not going on.
 */

/** What one connection holds. */
export interface Holding {
  /** Replaces what was held before; 0 when the message is whole or gone. */
  set(bytes: number): void;
}

/** Shared by the listeners of a server. */
export class ByteBudget {
  readonly #mostBytes: number;
  #heldBytes = 0;
  /** From the oldest to the newest. */
  readonly #underway = new Map<Holding, () => void>();

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** What is held at the moment. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** A holding of nothing yet; `giveWay` has to drop at once what is held by then. */
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
        if (more > 0 && this.#heldBytes > this.#mostBytes) this.#makeRoom();
      },
    };
    return holding;
  }

  #makeRoom(): void {
    for (const [oldest, giveWay] of this.#underway) {
      oldest.set(0);
      giveWay();
      if (this.#heldBytes <= this.#mostBytes) return;
    }
  }
}
