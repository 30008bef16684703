/**
 * A list of any length as the body of a response. Its JSON is generated in turns while the client
 * reads.
 */
import { type LongTaskCaller, yieldInTurns } from '../../fixtures/base/clock.ts';

/**
 * A response up to this length is sent in one piece with Content-Length; a longer one in chunks.
 */
const ONE_CHUNK_CHARACTERS = 262_144;
/** Minimum length of a chunk of a longer list. */
const CHUNK_CHARACTERS = 65_536;

/** A JSON list of which the beginning is already generated. */
export class JsonList<Item> {
  /** Carries the element type at compile time; the property does not exist at run time. */
  declare readonly item?: Item;
  /** The whole JSON when `isWhole`, otherwise its beginning. */
  readonly start: string;
  readonly #furtherChunks: AsyncGenerator<string> | undefined;

  private constructor(start: string, furtherChunks?: AsyncGenerator<string>) {
    this.start = start;
    this.#furtherChunks = furtherChunks;
  }

  /**
   * Generates the JSON of these elements up to the size of one piece. Further elements are read
   * when the client reads them. Rejects with what `items` or `throwIfDisconnected` throws.
   */
  static async of<Item>(items: Iterable<Item>, caller: LongTaskCaller): Promise<JsonList<Item>> {
    const chunks = chunksOf(items, caller);
    let start = '';
    while (start.length <= ONE_CHUNK_CHARACTERS) {
      const { done, value } = await chunks.next();
      if (done) return new JsonList<Item>(start);
      start += value;
    }
    return new JsonList<Item>(start, chunks);
  }

  /** Generates a list from elements that are read by key; omits elements that no longer exist. */
  static ofEach<Key, Item>(
    keys: Iterable<Key>,
    read: (key: Key) => Item | undefined,
    caller: LongTaskCaller,
  ): Promise<JsonList<Item>> {
    return JsonList.of(present(keys, read), caller);
  }

  get isWhole(): boolean {
    return this.#furtherChunks === undefined;
  }

  /** Yields the beginning, then the rest. Can be iterated only once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    yield this.start;
    if (this.#furtherChunks) yield* this.#furtherChunks;
  }
}

function* present<Key, Item>(
  keys: Iterable<Key>,
  read: (key: Key) => Item | undefined,
): Generator<Item> {
  for (const key of keys) {
    const item = read(key);
    if (item !== undefined) yield item;
  }
}

async function* chunksOf(items: Iterable<unknown>, caller: LongTaskCaller): AsyncGenerator<string> {
  let chunk = '[';
  let separator = '';
  for await (const item of yieldInTurns(items, caller)) {
    chunk += separator + JSON.stringify(item);
    separator = ',';
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = '';
  }
  yield `${chunk}]`;
}
