/**
 * The connection between coordinator and workers through Redis: two streams of signed JSON
 * messages.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Redis } from 'ioredis';
import { printable } from '../../../fixtures/base/printable.ts';
import { ClusterError } from '../cluster-error.ts';
import type { CoordinatorMessage, WorkerMessage } from '../messages.ts';
import { FORGOTTEN_AFTER_SECONDS } from './run-keys.ts';
import type { RunSigner } from './run-signer.ts';

/** A message from a worker to the coordinator, about a shard or about the worker itself. */
export type UpMessage = WorkerRefusal | FromWorker;

/** A message from a worker that runs or requests a shard. */
export interface FromWorker {
  readonly shard: number;
  /** Display name of the worker. */
  readonly worker: string;
  /** Random ID that a worker creates for each shard that it requests. */
  readonly token: string;
  /** Number of the message, from 0, which reveals dropped, repeated and reordered messages. */
  readonly sequence: number;
  readonly message: WorkerMessage | WorkerRequest | WorkerHeartbeat | WorkerLoss;
}

interface WorkerRequest {
  readonly type: 'request';
}

/** Heartbeat of a worker's process, which is sent even when there is nothing to report. */
interface WorkerHeartbeat {
  readonly type: 'heartbeat';
}

interface WorkerLoss {
  readonly type: 'lost';
  readonly reason: string;
}

/** A worker refuses to take part in the run, or to run one of its jobs. */
interface WorkerRefusal {
  readonly worker: string;
  readonly refuses: string;
}

/** A message from the coordinator to all workers, numbered from 0. */
export interface DownMessage {
  readonly sequence: number;
  readonly message: CoordinatorMessage | OwnerMessage;
}

/**
 * Announces which worker runs a shard. Any other worker that is running the shard must stop at
 * once.
 */
export interface OwnerMessage {
  readonly type: 'owner';
  readonly shard: number;
  /** Token of the worker; absent when no worker runs the shard. */
  readonly token?: string;
  readonly isTakeover: boolean;
}

const FIELD = 'message';
/**
 * Length from which a message is compressed: results and batches of events reach it, other messages
 * do not.
 */
const COMPRESSED_FROM_CHARACTERS = 4096;
const READ_COUNT_MAX = 200;
const READ_BLOCK_MS = 1000;
/** Maximum length of a message in transit. The result of 100,000 devices has a few megabytes. */
const SIGNED_MAX_CHARACTERS = 64 * 2 ** 20;
/** Maximum size of a message after decompression, in bytes. */
const MESSAGE_MAX_BYTES = 256 * 2 ** 20;
/**
 * Maximum number of unread messages, beyond which Redis drops the oldest. A coordinator that misses
 * a message ends the run.
 */
const WAITING_MAX = 20_000;

/** One end of the connection, for one direction. */
export interface ChannelEnd {
  readonly client: Redis;
  readonly stream: string;
  readonly signer: RunSigner;
  readonly direction: 'up' | 'down';
}

/** Appends a signed message to the stream. */
export async function sendOn(
  { client, stream, signer, direction }: ChannelEnd,
  message: UpMessage | DownMessage,
): Promise<void> {
  const text = JSON.stringify(message);
  const isLong = text.length >= COMPRESSED_FROM_CHARACTERS;
  const signedText = signer.sign([direction], isLong ? gzipSync(text).toString('base64') : text);
  // The stream of the coordinator is not trimmed: it is short, and workers that join later read it
  // from the start.
  const addition =
    direction === 'up'
      ? client.xadd(stream, 'MAXLEN', '~', WAITING_MAX, '*', FIELD, signedText)
      : client.xadd(stream, '*', FIELD, signedText);
  await Promise.all([addition, client.expire(stream, FORGOTTEN_AFTER_SECONDS)]);
}

/** Receives the messages of a stream. */
export interface ChannelListener<Message> {
  readonly onMessage: (message: Message) => void;
  /** Called for a message without a valid signature. */
  readonly onUnsigned: () => void;
  /** Called each time all pending messages have been read. */
  readonly onAllRead?: () => void;
  /** True deletes each message once it has been read, for a stream with a single reader. */
  readonly consumes: boolean;
}

/**
 * Reads a stream from its start until `client`, which must be used for nothing else, is closed.
 * @throws ClusterError when the key of the stream contains other data
 */
export async function listenOn<Message>(
  { client, stream, signer, direction }: ChannelEnd,
  { onMessage, onUnsigned, onAllRead, consumes }: ChannelListener<Message>,
): Promise<void> {
  for (let lastId = '0'; client.status !== 'end'; ) {
    const entries = await nextEntries(client, stream, lastId);
    if (entries === undefined) return;
    for (const [id, fields] of entries) {
      const text = signer.open([direction], fields[1] ?? '', SIGNED_MAX_CHARACTERS);
      if (text === undefined) onUnsigned();
      else onMessage(messageIn(text) as Message);
      lastId = id;
    }
    if (consumes && entries.length > 0) client.xdel(stream, ...entries.map(([id]) => id));
    if (entries.length < READ_COUNT_MAX) onAllRead?.();
  }
}

async function nextEntries(client: Redis, stream: string, lastId: string) {
  try {
    const block = ['COUNT', READ_COUNT_MAX, 'BLOCK', READ_BLOCK_MS] as const;
    const streams = await client.xread(...block, 'STREAMS', stream, lastId);
    return streams?.[0]?.[1] ?? [];
  } catch (error) {
    // The connection has been closed; its owner reports the loss.
    if (!isReply(error)) return undefined;
    throw unreadable(`the stream ${stream}`, error);
  }
}

/** Returns the notice about ignored messages without a valid signature. */
export function unsignedAt(shownUrl: string): string {
  return (
    `${shownUrl} holds messages that are not signed with --worker-secret; they are ignored ` +
    '(the sender has another secret, or is not part of this run)'
  );
}

/** Returns true for an error reply of Redis, such as for a command on a key of another type. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Returns the error for a key that contains foreign data. */
export function unreadable(subject: string, error: Error): ClusterError {
  const reply = printable(error.message);
  const sentence = `${subject} cannot be used: Redis says ${reply}; give Fleetbed a database of its own`;
  return new ClusterError(sentence, 'set-up', error);
}

function messageIn(text: string): unknown {
  const isPlain = text.startsWith('{');
  if (isPlain) return JSON.parse(text);
  const bytes = gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: MESSAGE_MAX_BYTES });
  return JSON.parse(bytes.toString());
}
