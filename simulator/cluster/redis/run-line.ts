/** The line between coordinator and workers through Redis: two streams of signed JSON messages. */
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Redis } from 'ioredis';
import { printable } from '../../../fixtures/printable.ts';
import { ClusterError } from '../cluster-error.ts';
import type { CoordinatorMessage, WorkerMessage } from '../messages.ts';
import { FORGOTTEN_AFTER_SECONDS } from './run-keys.ts';
import type { RunSigner } from './run-signer.ts';

/** Messages of a worker to the coordinator, about a shard or about the worker. */
export type UpMessage = WorkerRefuses | FromWorker;

/** A message from a worker that runs a shard or requests one. */
export interface FromWorker {
  readonly shard: number;
  /** Display name of the worker. */
  readonly worker: string;
  /** Created for each shard that a worker begins and unique to it. */
  readonly token: string;
  /** Counts from 0, so that no message can be dropped, repeated or reordered. */
  readonly sequence: number;
  readonly message: WorkerMessage | WorkerAsks | WorkerLives | WorkerLost;
}

interface WorkerAsks {
  readonly say: 'asks';
}

/** Heartbeat of the worker's process; the worker may have nothing to report. */
interface WorkerLives {
  readonly say: 'alive';
}

interface WorkerLost {
  readonly say: 'lost';
  readonly because: string;
}

/** A worker declines to take part in the run, or in one of its jobs. */
interface WorkerRefuses {
  readonly worker: string;
  readonly refuses: string;
}

/** Messages of the coordinator to all workers, numbered from 0. */
export interface DownMessage {
  readonly sequence: number;
  readonly message: CoordinatorMessage | OwnerMessage;
}

/** Announces who runs a shard from now on; any other worker running it stops immediately. */
export interface OwnerMessage {
  readonly say: 'owner';
  readonly shard: number;
  /** Absent when no worker runs it. */
  readonly token?: string;
  readonly isTakeover: boolean;
}

const FIELD = 'message';
/** Compression pays off from this size: results and events, not single messages. */
const COMPRESSED_FROM_CHARACTERS = 4096;
const READ_COUNT_MAX = 200;
const READ_BLOCK_MS = 1000;
/** Size in transit; the result of a hundred thousand devices is a few megabytes. */
const SIGNED_MAX_CHARACTERS = 64 * 2 ** 20;
/** Largest size of a message after decompression. */
const MESSAGE_MAX_BYTES = 256 * 2 ** 20;
/** Redis drops the oldest unread messages beyond this; a coordinator that misses one ends. */
const WAITING_MAX = 20_000;

/** One end of one direction of the line. */
export interface LineEnd {
  readonly client: Redis;
  readonly stream: string;
  readonly signer: RunSigner;
  readonly direction: 'up' | 'down';
}

/** Sends a message on the line. */
export async function sendOn(
  { client, stream, signer, direction }: LineEnd,
  message: UpMessage | DownMessage,
): Promise<void> {
  const text = JSON.stringify(message);
  const isLong = text.length >= COMPRESSED_FROM_CHARACTERS;
  const signed = signer.sign([direction], isLong ? gzipSync(text).toString('base64') : text);
  // Workers that join later read the coordinator's messages from the start: the stream is short and
  // stays whole.
  const said =
    direction === 'up'
      ? client.xadd(stream, 'MAXLEN', '~', WAITING_MAX, '*', FIELD, signed)
      : client.xadd(stream, '*', FIELD, signed);
  await Promise.all([said, client.expire(stream, FORGOTTEN_AFTER_SECONDS)]);
}

/** How incoming messages are handled. */
export interface Listening<Message> {
  readonly hear: (message: Message) => void;
  /** Called for a message without a valid signature. */
  readonly refuse: () => void;
  /** Called every time all pending messages have been read. */
  readonly heardAll?: () => void;
  /** Deletes messages once read: there is no other reader. */
  readonly consumes: boolean;
}

/**
 * Reads the line from its start until its dedicated connection is closed.
 * @throws ClusterError when the key of the stream holds something else
 */
export async function listenOn<Message>(
  { client, stream, signer, direction }: LineEnd,
  { hear, refuse, heardAll, consumes }: Listening<Message>,
): Promise<void> {
  for (let lastId = '0'; client.status !== 'end'; ) {
    const entries = await nextEntries(client, stream, lastId);
    if (entries === undefined) return;
    for (const [id, fields] of entries) {
      const text = signer.open([direction], fields[1] ?? '', SIGNED_MAX_CHARACTERS);
      if (text === undefined) refuse();
      else hear(messageIn(text) as Message);
      lastId = id;
    }
    if (consumes && entries.length > 0) client.xdel(stream, ...entries.map(([id]) => id));
    if (entries.length < READ_COUNT_MAX) heardAll?.();
  }
}

async function nextEntries(client: Redis, stream: string, lastId: string) {
  try {
    const block = ['COUNT', READ_COUNT_MAX, 'BLOCK', READ_BLOCK_MS] as const;
    const read = await client.xread(...block, 'STREAMS', stream, lastId);
    return read?.[0]?.[1] ?? [];
  } catch (error) {
    // The connection is closed permanently; its owner reports why it was lost.
    if (!isReply(error)) return undefined;
    throw unreadable(`the stream ${stream}`, error);
  }
}

/** Returns the one-time notice about messages that are ignored. */
export function unsignedAt(shown: string): string {
  return (
    `${shown} holds messages that are not signed with --worker-secret; they are ignored ` +
    '(the sender has another secret, or is not part of this run)'
  );
}

/** Returns true when Redis itself rejected the command because the key holds another type. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Builds the error for keys that hold foreign data. */
export function unreadable(what: string, error: Error): ClusterError {
  const said = printable(error.message);
  const sentence = `${what} cannot be used: Redis says ${said}; give Fleetbed a database of its own`;
  return new ClusterError(sentence, 'set-up', error);
}

function messageIn(text: string): unknown {
  const isPlain = text.startsWith('{');
  if (isPlain) return JSON.parse(text);
  const bytes = gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: MESSAGE_MAX_BYTES });
  return JSON.parse(bytes.toString());
}
