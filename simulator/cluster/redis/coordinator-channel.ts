/**
 * The messages between a worker and the coordinator of a run. A worker runs a shard only after a
 * live coordinator has assigned it.
 */
import type { Clock } from '../../../fixtures/base/clock.ts';
import type { CoordinatorMessage } from '../messages.ts';
import type { RedisConnection } from './connection.ts';
import {
  type DownMessage,
  type FromWorker,
  listenOn,
  type OwnerMessage,
  sendOn,
  type UpMessage,
} from './run-channel.ts';
import type { RunKeys } from './run-keys.ts';
import type { RunSigner } from './run-signer.ts';

/** Options of the channel to a coordinator. */
export interface CoordinatorChannelOptions {
  readonly redis: RedisConnection;
  readonly clock: Clock;
  readonly keys: RunKeys;
  readonly signer: RunSigner;
  /** Called for every message of the coordinator to its workers. */
  readonly onMessage: (message: CoordinatorMessage) => void;
  /** Called when the coordinator announces which worker runs a shard. */
  readonly onOwner: (message: OwnerMessage) => void;
  /** Called once, at the first message that was not signed by the coordinator. */
  readonly onUnsigned: () => void;
  /** Called once when the channel becomes unusable, with the reason as a clause. */
  readonly onBroken: (reason: string) => void;
}

/** The worker that sends a message, and its shard. */
export type MessageSender = Pick<FromWorker, 'shard' | 'worker' | 'token'>;

/** The connection of a worker's process to the coordinator of one run. */
export class CoordinatorChannel {
  readonly #options: CoordinatorChannelOptions;
  readonly #client;
  /** Next sequence number of each worker, by its token. */
  readonly #sequences = new Map<string, number>();
  readonly #requests = new Map<string, (response: OwnerMessage) => void>();
  readonly #over = new AbortController();
  #next = 0;
  #hasUnsigned = false;
  #isBroken = false;

  constructor(options: CoordinatorChannelOptions) {
    this.#options = options;
    const { redis, keys, signer } = options;
    this.#client = redis.another();
    const channel = { client: this.#client, stream: keys.down, signer, direction: 'down' } as const;
    const listening = listenOn<DownMessage>(channel, {
      onMessage: (message) => this.#receive(message),
      onUnsigned: () => this.#recordUnsigned(),
      consumes: false,
    });
    listening.catch((error: unknown) => this.#break(String(error)));
  }

  /**
   * Requests a shard and waits for the coordinator's reply.
   * @returns undefined when no reply arrives in time or another worker runs the shard
   */
  async requestShard(sender: MessageSender, waitMs: number): Promise<OwnerMessage | undefined> {
    const { clock } = this.#options;
    const { token } = sender;
    const waitEnd = new AbortController();
    const signal = AbortSignal.any([waitEnd.signal, this.#over.signal]);
    const response = new Promise<OwnerMessage>((resolve) => this.#requests.set(token, resolve));
    const late = clock.sleep(waitMs, signal).then(() => undefined);
    try {
      await this.send(sender, { type: 'request' });
      const assignment = await Promise.race([response, late]);
      return assignment?.token === token ? assignment : undefined;
    } finally {
      waitEnd.abort();
      this.#requests.delete(token);
    }
  }

  /** Sends a message of a worker. Messages of one worker are numbered in order. */
  async send(sender: MessageSender, message: FromWorker['message']): Promise<void> {
    const sequence = this.#sequences.get(sender.token) ?? 0;
    this.#sequences.set(sender.token, sequence + 1);
    await this.#send({ ...sender, sequence, message });
  }

  /** Deletes the sequence number of a worker that sends nothing more. */
  forget({ token }: MessageSender): void {
    this.#sequences.delete(token);
  }

  /** Reports to the coordinator that this worker cannot run its shards, and why. */
  async refuse(worker: string, refuses: string): Promise<void> {
    await this.#send({ worker, refuses });
  }

  /** Aborts the wait for replies and closes the connection. */
  close(): void {
    this.#over.abort();
    this.#client.disconnect();
  }

  #receive({ sequence, message }: DownMessage): void {
    if (this.#isBroken || sequence < this.#next) return;
    if (sequence > this.#next) this.#break('messages from its coordinator are missing in Redis');
    else if (message.type === 'owner') this.#onOwner(message);
    else this.#options.onMessage(message);
    this.#next++;
  }

  #onOwner(message: OwnerMessage): void {
    this.#options.onOwner(message);
    if (message.token !== undefined) this.#requests.get(message.token)?.(message);
  }

  #recordUnsigned(): void {
    if (!this.#hasUnsigned) this.#options.onUnsigned();
    this.#hasUnsigned = true;
  }

  #break(reason: string): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#options.onBroken(reason);
  }

  async #send(message: UpMessage): Promise<void> {
    const { redis, keys, signer } = this.#options;
    await sendOn({ client: redis.client, stream: keys.up, signer, direction: 'up' }, message);
  }
}
