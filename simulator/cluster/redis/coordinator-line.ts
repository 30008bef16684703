/**
 * The messages between a worker and the coordinator of a run. A worker runs a shard only after a
 * live coordinator has assigned it.
 */
import type { Clock } from '../../../fixtures/clock.ts';
import type { CoordinatorMessage } from '../messages.ts';
import type { RedisLink } from './connection.ts';
import type { RunKeys } from './run-keys.ts';
import {
  type DownMessage,
  type FromWorker,
  listenOn,
  type OwnerMessage,
  sendOn,
  type UpMessage,
} from './run-line.ts';
import type { RunSigner } from './run-signer.ts';

/** Options of a coordinator line. */
export interface CoordinatorLineOptions {
  readonly link: RedisLink;
  readonly clock: Clock;
  readonly keys: RunKeys;
  readonly signer: RunSigner;
  /** Called for every message of the coordinator to its workers. */
  readonly hear: (message: CoordinatorMessage) => void;
  /** Called when the coordinator announces which worker runs a shard. */
  readonly onOwner: (message: OwnerMessage) => void;
  /** Called once, at the first message that was not signed by the coordinator. */
  readonly refused: () => void;
  /** Called once when the line becomes unusable, with the reason as a clause. */
  readonly broken: (reason: string) => void;
}

/** The worker that sends a message, and its shard. */
export type MessageSender = Pick<FromWorker, 'shard' | 'worker' | 'token'>;

/** The connection of a worker's process to the coordinator of one run. */
export class CoordinatorLine {
  readonly #options: CoordinatorLineOptions;
  readonly #lines;
  /** Next sequence number of each worker, by its token. */
  readonly #sequences = new Map<string, number>();
  readonly #asking = new Map<string, (answer: OwnerMessage) => void>();
  readonly #over = new AbortController();
  #next = 0;
  #hasRefused = false;
  #isBroken = false;

  constructor(options: CoordinatorLineOptions) {
    this.#options = options;
    const { link, keys, signer } = options;
    this.#lines = link.another();
    const line = { client: this.#lines, stream: keys.down, signer, direction: 'down' } as const;
    const listening = listenOn<DownMessage>(line, {
      hear: (message) => this.#hear(message),
      refuse: () => this.#refuse(),
      consumes: false,
    });
    listening.catch((error: unknown) => this.#break(String(error)));
  }

  /**
   * Requests a shard and waits for the coordinator's reply.
   * @returns undefined when no reply arrives in time or another worker runs the shard
   */
  async asked(speaker: MessageSender, waitMs: number): Promise<OwnerMessage | undefined> {
    const { clock } = this.#options;
    const { token } = speaker;
    const given = new AbortController();
    const signal = AbortSignal.any([given.signal, this.#over.signal]);
    const answer = new Promise<OwnerMessage>((resolve) => this.#asking.set(token, resolve));
    const late = clock.sleep(waitMs, signal).then(() => undefined);
    try {
      await this.say(speaker, { say: 'asks' });
      const answered = await Promise.race([answer, late]);
      return answered?.token === token ? answered : undefined;
    } finally {
      given.abort();
      this.#asking.delete(token);
    }
  }

  /** Sends a message of a worker. Messages of one worker are numbered in order. */
  async say(speaker: MessageSender, message: FromWorker['message']): Promise<void> {
    const sequence = this.#sequences.get(speaker.token) ?? 0;
    this.#sequences.set(speaker.token, sequence + 1);
    await this.#say({ ...speaker, sequence, message });
  }

  /** Deletes the sequence number of a worker that sends nothing more. */
  forget({ token }: MessageSender): void {
    this.#sequences.delete(token);
  }

  /** Reports to the coordinator that this worker cannot run its shards, and why. */
  async refuse(worker: string, refuses: string): Promise<void> {
    await this.#say({ worker, refuses });
  }

  /** Aborts the wait for replies and closes the connection. */
  close(): void {
    this.#over.abort();
    this.#lines.disconnect();
  }

  #hear({ sequence, message }: DownMessage): void {
    if (this.#isBroken || sequence < this.#next) return;
    if (sequence > this.#next) this.#break('messages from its coordinator are missing in Redis');
    else if (message.say === 'owner') this.#onOwner(message);
    else this.#options.hear(message);
    this.#next++;
  }

  #onOwner(message: OwnerMessage): void {
    this.#options.onOwner(message);
    if (message.token !== undefined) this.#asking.get(message.token)?.(message);
  }

  #refuse(): void {
    if (!this.#hasRefused) this.#options.refused();
    this.#hasRefused = true;
  }

  #break(reason: string): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#options.broken(reason);
  }

  async #say(message: UpMessage): Promise<void> {
    const { link, keys, signer } = this.#options;
    await sendOn({ client: link.client, stream: keys.up, signer, direction: 'up' }, message);
  }
}
