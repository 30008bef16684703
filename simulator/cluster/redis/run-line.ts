/** The line between coordinator and workers through Redis: two streams of signed JSON messages. */
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Redis } from 'ioredis';
import { printable } from '../../../fixtures/printable.ts';
import { ClusterError } from '../cluster-error.ts';
import type { CoordinatorMessage, WorkerMessage } from '../messages.ts';
import { FORGOTTEN_AFTER_SECONDS } from './run-keys.ts';
import type { RunSigner } from './run-signer.ts';

/** What a worker says to the coordinator, about a shard or about itself. */
export type UpMessage = WorkerRefuses | FromWorker;

/** What somebody says who runs a shard, or asks to. */
export interface FromWorker {
  readonly shard: number;
  /** Its name, for people. */
  readonly worker: string;
  /** Made anew for each shard that a worker begins: no two workers have the same. */
  readonly token: string;
  /** Counts from 0 on, so that nothing can be left out, repeated or moved. */
  readonly sequence: number;
  readonly message: WorkerMessage | WorkerAsks | WorkerLives | WorkerLost;
}

interface WorkerAsks {
  readonly say: 'asks';
}

/** Its worker lives; the worker itself may have nothing to say. */
interface WorkerLives {
  readonly say: 'alive';
}

interface WorkerLost {
  readonly say: 'lost';
  readonly because: string;
}

/** A worker does not take part in the run, or in one job of it. */
interface WorkerRefuses {
  readonly worker: string;
  readonly refuses: string;
}

/** What the coordinator says to all workers; numbered from 0 on. */
export interface DownMessage {
  readonly sequence: number;
  readonly message: CoordinatorMessage | PlaysMessage;
}

/** Who runs a shard from now on: whoever else does ends at once. */
export interface PlaysMessage {
  readonly say: 'plays';
  readonly shard: number;
  /** Absent: nobody does. */
  readonly token?: string;
  readonly isTakeover: boolean;
}

const FIELD = 'message';
/** From here on it pays to compress: results and events, not a word in between. */
const COMPRESSED_FROM_CHARACTERS = 4096;
const READ_COUNT_MAX = 200;
const READ_BLOCK_MS = 1000;
/** As it travels; some megabytes are a result of a hundred thousand devices. */
const SIGNED_MAX_CHARACTERS = 64 * 2 ** 20;
/** What it may come to when it is unpacked. */
const MESSAGE_MAX_BYTES = 256 * 2 ** 20;
/** Of messages that nobody takes away Redis forgets the earlier ones; a coordinator that misses one ends. */
const WAITING_MAX = 20_000;

/** One end of one direction of the line. */
export interface LineEnd {
  readonly client: Redis;
  readonly stream: string;
  readonly signer: RunSigner;
  readonly direction: 'up' | 'down';
}

/** Says something on the line. */
export async function sayOn(
  { client, stream, signer, direction }: LineEnd,
  message: UpMessage | DownMessage,
): Promise<void> {
  const text = JSON.stringify(message);
  const isLong = text.length >= COMPRESSED_FROM_CHARACTERS;
  const signed = signer.sign([direction], isLong ? gzipSync(text).toString('base64') : text);
  // Whoever comes later hears what the coordinator said from the beginning: that is short, and stays whole.
  const said =
    direction === 'up'
      ? client.xadd(stream, 'MAXLEN', '~', WAITING_MAX, '*', FIELD, signed)
      : client.xadd(stream, '*', FIELD, signed);
  await Promise.all([said, client.expire(stream, FORGOTTEN_AFTER_SECONDS)]);
}

/** What is done with what is read. */
export interface Listening<Message> {
  readonly hear: (message: Message) => void;
  /** Called for what is not signed as it has to be. */
  readonly refuse: () => void;
  /** Called again and again, whenever all has been heard that was said. */
  readonly heardAll?: () => void;
  /** What was read is taken away: there is no other reader. */
  readonly consumes: boolean;
}

/**
 * Reads the line from its beginning until the connection, which is its own, is closed.
 * @throws ClusterError when there is something else in the stream's place
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
    // The connection is closed for good; what it was lost by is told by its owner.
    if (!isReply(error)) return undefined;
    throw unreadable(`the stream ${stream}`, error);
  }
}

/** What is said once of messages that are not heard. */
export function unsignedAt(shown: string): string {
  return (
    `${shown} holds messages that are not signed with --worker-secret; they are ignored ` +
    '(the sender has another secret, or is not part of this run)'
  );
}

/** Whether Redis itself refused a command: what lies at a key is not what it is asked for. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** The fault of keys that somebody else has put something into. */
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
