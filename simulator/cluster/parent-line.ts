/** The channel between a process that runs a shard and the process that started it. */
import type { CoordinatorMessage, ShardOrder, WorkerMessage } from './messages.ts';
import type { WorkerLine } from './run-shard.ts';

/** Messages of a parent: first the order, then the coordinator's messages. */
export type ParentMessage =
  | CoordinatorMessage
  | { readonly say: 'order'; readonly order: ShardOrder };

/** The channel to the parent. Messages are buffered until there is a listener. */
export class ParentLine implements WorkerLine {
  readonly #said: CoordinatorMessage[] = [];
  #hear: ((message: CoordinatorMessage) => void) | undefined;
  readonly order: Promise<ShardOrder>;
  underway = 0;
  /** Settles once the parent has received the last message. */
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
    // A message that cannot be delivered has no receiver, and the process ends with its channel.
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
