/** The channel between a process that runs a shard and its parent process. */
import type { CoordinatorMessage, ShardAssignment, WorkerMessage } from './messages.ts';
import type { WorkerChannel } from './run-shard.ts';

/** Messages from a parent: first the assignment, then the messages of the coordinator. */
export type ParentMessage =
  | CoordinatorMessage
  | { readonly type: 'assignment'; readonly assignment: ShardAssignment };

/** The channel to the parent process. Messages are buffered until `onMessage` is called. */
export class ParentChannel implements WorkerChannel {
  readonly #bufferedMessages: CoordinatorMessage[] = [];
  #listener: ((message: CoordinatorMessage) => void) | undefined;
  readonly assignment: Promise<ShardAssignment>;
  unsentCount = 0;
  /** Resolves once the parent has received the last message. */
  delivered: Promise<void> = Promise.resolve();

  constructor() {
    this.assignment = new Promise((resolve) => {
      process.on('message', (message: ParentMessage) => {
        if (message.type === 'assignment') resolve(message.assignment);
        else if (this.#listener) this.#listener(message);
        else this.#bufferedMessages.push(message);
      });
    });
  }

  send(message: WorkerMessage): void {
    // An undeliverable message can be ignored: without a channel to its parent, the process ends.
    this.unsentCount++;
    this.delivered = new Promise((resolve) => {
      process.send?.(message, undefined, undefined, () => {
        this.unsentCount--;
        resolve();
      });
    });
  }

  onMessage(listener: (message: CoordinatorMessage) => void): void {
    this.#listener = listener;
    for (const message of this.#bufferedMessages.splice(0)) listener(message);
  }
}
