/** The line between head and players through Redis: two streams of JSON messages. */
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Redis } from 'ioredis';
import type { PlayerMessage } from '../../../simulator/shards/messages.ts';
import { FORGOTTEN_AFTER_SECONDS } from './run-keys.ts';

/** What a worker says to the head about a shard. */
export interface UpMessage {
  readonly shard: number;
  readonly player: string;
  readonly message: PlayerMessage | { readonly say: 'begun' } | PlayerLost | WorkerRefuses;
}

interface PlayerLost {
  readonly say: 'lost';
  readonly because: string;
}

/** A worker does not take part; `shard` and `player` mean nothing then. */
interface WorkerRefuses {
  readonly say: 'refused';
  readonly because: string;
}

const FIELD = 'message';
/** From here on it pays to compress: results and events, not a word in between. */
const COMPRESSED_FROM_CHARACTERS = 4096;
const READ_COUNT_MAX = 200;
const READ_BLOCK_MS = 1000;
/** What a message may come to when it is unpacked; a result of a hundred thousand devices fits. */
const MESSAGE_MAX_BYTES = 256 * 2 ** 20;

/** Says something on a stream. */
export async function sayOn(client: Redis, stream: string, message: unknown): Promise<void> {
  const text = JSON.stringify(message);
  const isLong = text.length >= COMPRESSED_FROM_CHARACTERS;
  const said = client.xadd(stream, '*', FIELD, isLong ? gzipSync(text).toString('base64') : text);
  await Promise.all([said, client.expire(stream, FORGOTTEN_AFTER_SECONDS)]);
}

/** What a stream is read with. */
export interface StreamReading<Message> {
  /** A connection of its own. */
  readonly client: Redis;
  readonly stream: string;
  readonly hear: (message: Message) => void;
  /** What was read is taken away: there is no other reader. */
  readonly consumes: boolean;
}

/** Reads the stream from its beginning until the connection is closed. */
export async function listenOn<Message>(reading: StreamReading<Message>): Promise<void> {
  const { client, stream, hear, consumes } = reading;
  for (let lastId = '0'; client.status !== 'end'; ) {
    const entries = await nextEntries(client, stream, lastId);
    if (entries === undefined) return;
    for (const [id, fields] of entries) {
      hear(messageIn(fields[1] ?? '') as Message);
      lastId = id;
    }
    if (consumes && entries.length > 0) client.xdel(stream, ...entries.map(([id]) => id));
  }
}

async function nextEntries(client: Redis, stream: string, lastId: string) {
  try {
    const block = ['COUNT', READ_COUNT_MAX, 'BLOCK', READ_BLOCK_MS] as const;
    const read = await client.xread(...block, 'STREAMS', stream, lastId);
    return read?.[0]?.[1] ?? [];
  } catch {
    // The connection is closed for good; what it was lost by is told by its owner.
    return undefined;
  }
}

function messageIn(text: string): unknown {
  const isPlain = text.startsWith('{');
  if (isPlain) return JSON.parse(text);
  const bytes = gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: MESSAGE_MAX_BYTES });
  return JSON.parse(bytes.toString());
}
