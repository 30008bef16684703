/** Listings of any length, written piece by piece and in turns: nothing else waits for a long one. */
import type { Response } from 'express';
import { inTurns } from '../../../fixtures/clock.ts';

/** Answers with a JSON object: its members, and lists whose items are made one by one. */
export function sendListing(
  response: Response,
  members: object,
  lists: Readonly<Record<string, Iterable<unknown>>>,
): Promise<void> {
  response.type('json');
  return sendPieces(response, piecesOf(members, lists));
}

/** Sends all pieces, and ends; waits for a reader who takes them slowly. */
export async function sendPieces(response: Response, pieces: Iterable<string>): Promise<void> {
  for await (const piece of inTurns(pieces)) {
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response);
  }
  response.end();
}

/** What is made of each item, one by one as it is asked for. */
export function* mapped<Item, Made>(
  items: Iterable<Item>,
  make: (item: Item) => Made,
): Generator<Made> {
  for (const item of items) yield make(item);
}

function* piecesOf(
  members: object,
  lists: Readonly<Record<string, Iterable<unknown>>>,
): Generator<string> {
  yield JSON.stringify(members).slice(0, -1);
  for (const [name, items] of Object.entries(lists)) {
    let before = `,${JSON.stringify(name)}:[`;
    for (const item of items) {
      yield before + JSON.stringify(item);
      before = ',';
    }
    yield before === ',' ? ']' : `${before}]`;
  }
  yield '}';
}

/** Resolves when the response takes more, or will take nothing any more. */
function drained(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const goOn = (): void => {
      response.off('drain', goOn).off('close', goOn);
      resolve();
    };
    response.on('drain', goOn).on('close', goOn);
  });
}
