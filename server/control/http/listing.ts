/**
 * Sends lists of any length in pieces and in turns, so that a long list does not block other
 * requests.
 */
import type { Response } from 'express';
import { yieldInTurns } from '../../../fixtures/base/clock.ts';

type Lists<Item> = Readonly<Record<string, Iterable<Item>>>;

/**
 * A JSON object with plain members and with lists, whose items are created one by one while they
 * are sent.
 */
export class Listing<out HttpResponse> {
  readonly members: object;
  readonly lists: Lists<unknown>;
  /** Never set; it carries the type of the sent JSON. */
  declare readonly response?: HttpResponse;

  constructor(members: object, lists: Lists<unknown>) {
    this.members = members;
    this.lists = lists;
  }
}

/** Creates a listing from members and lists. */
export function listing<Members extends object, const Name extends string, Item>(
  members: Members,
  lists: Readonly<Record<Name, Iterable<Item>>>,
): Listing<Members & Readonly<Record<Name, readonly Item[]>>> {
  return new Listing(members, lists);
}

/** Sends the listing as a JSON response, in pieces. */
export function sendListing(
  response: Response,
  { members, lists }: Listing<unknown>,
): Promise<void> {
  response.type('json');
  return sendChunks(response, chunksOf(members, lists));
}

/** Sends all pieces and ends the response. Waits while the reader is slow. */
export async function sendChunks(response: Response, chunks: Iterable<string>): Promise<void> {
  for await (const chunk of yieldInTurns(chunks)) {
    if (response.destroyed) return;
    if (!response.write(chunk)) await untilDrained(response);
  }
  response.end();
}

/** Maps the items lazily, each one when it is read. */
export function* mapLazily<Item, Made>(
  items: Iterable<Item>,
  make: (item: Item) => Made,
): Generator<Made> {
  for (const item of items) yield make(item);
}

function* chunksOf(members: object, lists: Lists<unknown>): Generator<string> {
  yield JSON.stringify(members).slice(0, -1);
  let isFirst = Object.keys(members).length === 0;
  for (const [name, items] of Object.entries(lists)) {
    let separator = `${isFirst ? '' : ','}${JSON.stringify(name)}:[`;
    isFirst = false;
    for (const item of items) {
      yield separator + JSON.stringify(item);
      separator = ',';
    }
    yield separator === ',' ? ']' : `${separator}]`;
  }
  yield '}';
}

/** Resolves when the response accepts more data or is closed. */
function untilDrained(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const goOn = (): void => {
      response.off('drain', goOn).off('close', goOn);
      resolve();
    };
    response.on('drain', goOn).on('close', goOn);
  });
}
