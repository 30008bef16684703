/** A list of any length as the body of a response: its JSON is generated in turns while it is read. */
import { inTurns, type LongTaskOf } from '../../fixtures/clock.ts';

/** Up to this length, an answer is in one piece, with its length; longer ones are sent in chunks. */
const ONE_PIECE_CHARACTERS = 262_144;
/** Length of the pieces of a longer list; a longer element is a separate piece. */
const PIECE_CHARACTERS = 65_536;

/** A JSON list whose beginning is made. */
export class JsonList<Item> {
  /** Type of its elements; there is no such property. */
  declare readonly item?: Item;
  /** All of it, unless there is a rest. */
  readonly beginning: string;
  readonly #rest: AsyncGenerator<string> | undefined;

  private constructor(beginning: string, rest?: AsyncGenerator<string>) {
    this.beginning = beginning;
    this.#rest = rest;
  }

  /**
   * Makes the JSON of these elements, as much of it as is sent in one piece. The elements behind are
   * taken when the client reads them. Rejects with what `items` or `stopIfGone` throws.
   */
  static async of<Item>(items: Iterable<Item>, of: LongTaskOf): Promise<JsonList<Item>> {
    const pieces = piecesOf(items, of);
    let beginning = '';
    while (beginning.length <= ONE_PIECE_CHARACTERS) {
      const { done, value } = await pieces.next();
      if (done) return new JsonList<Item>(beginning);
      beginning += value;
    }
    return new JsonList<Item>(beginning, pieces);
  }

  /** The same for elements that are read one by one; removed ones are left out. */
  static ofEach<Key, Item>(
    keys: Iterable<Key>,
    read: (key: Key) => Item | undefined,
    of: LongTaskOf,
  ): Promise<JsonList<Item>> {
    return JsonList.of(present(keys, read), of);
  }

  get isWhole(): boolean {
    return this.#rest === undefined;
  }

  /** The beginning and the rest; to be read once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    yield this.beginning;
    if (this.#rest) yield* this.#rest;
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

async function* piecesOf(items: Iterable<unknown>, of: LongTaskOf): AsyncGenerator<string> {
  let piece = '[';
  let separator = '';
  for await (const item of inTurns(items, of)) {
    piece += separator + JSON.stringify(item);
    separator = ',';
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}]`;
}
