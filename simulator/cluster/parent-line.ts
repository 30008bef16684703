/** The channel between a process that runs a shard and its parent process. */
import type { CoordinatorMessage, ShardOrder, WorkerMessage } from './messages.ts';
import type { WorkerLine } from './run-shard.ts';

/** Messages from a parent: first the order, then the messages of the coordinator. */
export type ParentMessage =
  | CoordinatorMessage
  | { readonly say: 'order'; readonly order: ShardOrder };

/** The channel to the parent process. Messages are buffered until `listen` is called. */
export class ParentLine implements WorkerLine {
  readonly #bufferedMessages: CoordinatorMessage[] = [];
  #hear: ((message: CoordinatorMessage) => void) | undefined;
  readonly order: Promise<ShardOrder>;
  underway = 0;
  /** Resolves once the parent has received the last message. */
  delivered: Promise<void> = Promise.resolve();

  constructor() {
    this.order = new Promise((resolve) => {
      process.on('message', (message: ParentMessage) => {
        if (message.say === 'order') resolve(message.order);
        else if (this.#hear) this.#hear(message);
        else this.#bufferedMessages.push(message);
      });
    });
  }

  say(message: WorkerMessage): void {
    // An undeliverable message can be ignored: without a channel to its parent, the process ends.
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
    for (const message of this.#bufferedMessages.splice(0)) hear(message);
  }
}
