/** The channel between a process that plays a shard and the process that started it. */
import type { CoordinatorMessage, ShardOrder, WorkerMessage } from './messages.ts';
import type { WorkerLine } from './run-shard.ts';

/** What a parent says: first the order, then whatever the coordinator says. */
export type ParentMessage =
  | CoordinatorMessage
  | { readonly say: 'order'; readonly order: ShardOrder };

/** The channel to the parent. What is said before anybody listens is kept. */
export class ParentLine implements WorkerLine {
  readonly #said: CoordinatorMessage[] = [];
  #hear: ((message: CoordinatorMessage) => void) | undefined;
  readonly order: Promise<ShardOrder>;
  underway = 0;
  /** Settled once the last message is with the parent. */
  delivered: Promise<void> = Promise.resolve();

  constructor() {
    this.order = new Promise((resolve) => {
      process.on('message', (message: ParentMessage) => {
        if (message.say === 'order') resolve(message.order);
        else if (this.#hear) this.#hear(message);
        else this.#said.push(message);
      });
    });
  }

  say(message: WorkerMessage): void {
    // A message that does not get through has no receiver, and the process ends with its channel.
    this.underway++;
    this.delivered = new Promise((resolve) => {
      process.send?.(message, undefined, undefined, () => {
        this.underway--;
        resolve();
      });
    });
  }

  listen(hear: (message: CoordinatorMessage) => void): void {
    this.#hear = hear;
    for (const message of this.#said.splice(0)) hear(message);
  }
}
