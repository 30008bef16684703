/** Holds back the handler's response, so that an action can drop, delay or transform it. */
import type { ServerResponse } from 'node:http';
import type { HeaderPairs } from './wire.ts';

/** Status and headers of a response. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: HeaderPairs;
}

/** Maximum number of held bytes. Beyond it the handler waits until the action has read some. */
const HELD_MAX_BYTES = 65_536;

type Callback = () => void;

/** A method that Node has but its type declarations lack. */
interface ResponseWithRawNames {
  getRawHeaderNames(): string[];
}

/** Replaces the methods `writeHead`, `write` and `end` of a response. */
export class HeldResponse {
  /** Resolves when the handler starts its response; never resolves if it does not respond. */
  readonly head: Promise<ResponseHead>;
  readonly #response: ServerResponse & ResponseWithRawNames;
  readonly #chunks: Buffer[] = [];
  #heldBytes = 0;
  #isEnded = false;
  #isDiscarded = false;
  #begin: (head: ResponseHead) => void = () => undefined;
  #hasBegun = false;
  #wake: () => void = () => undefined;

  constructor(response: ServerResponse) {
    this.#response = response as ServerResponse & ResponseWithRawNames;
    this.head = new Promise((resolve) => {
      this.#begin = resolve;
    });
    response.on('close', () => this.#finish());
    Object.assign(response, {
      writeHead: (status: number, ...furtherArguments: readonly unknown[]) =>
        this.#take(status, furtherArguments.at(-1)),
      write: (chunk: unknown, ...furtherArguments: readonly unknown[]) =>
        this.#write(chunk, furtherArguments),
      end: (...given: readonly unknown[]) => this.#end(given),
    });
  }

  /** Returns the next chunk of the body, waiting for the handler; undefined at the end. */
  async next(): Promise<Buffer | undefined> {
    while (this.#chunks.length === 0 && !this.#isEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const chunk = this.#chunks.shift();
    this.#heldBytes -= chunk?.length ?? 0;
    if (chunk && this.#heldBytes === 0) this.#response.emit('drain');
    return chunk;
  }

  /** Puts back a chunk, or the rest of one, that was not used. */
  putBack(chunk: Buffer): void {
    this.#chunks.unshift(chunk);
    this.#heldBytes += chunk.length;
  }

  /** Lets the handler finish, and discards its response. */
  discard(): void {
    this.#isDiscarded = true;
    this.#chunks.length = 0;
    this.#heldBytes = 0;
    this.#response.emit('drain');
  }

  #take(status: number, headerArgument: unknown): ServerResponse {
    // A second head is a refusal in the middle of a response, so the connection is cut.
    if (this.#hasBegun) return this.#response.destroy();
    this.#hasBegun = true;
    const response = this.#response;
    const presetHeaders = response
      .getRawHeaderNames()
      .map((name) => [name, response.getHeader(name)] as const);
    const headers = pairsOf([...presetHeaders, ...entriesOf(headerArgument)]);
    this.#begin({ status, headers });
    return response;
  }

  #write(chunk: unknown, furtherArguments: readonly unknown[]): boolean {
    if (!this.#hasBegun) this.#take(this.#response.statusCode, undefined);
    const bytes = bytesOf(chunk, furtherArguments[0]);
    if (bytes && !this.#isDiscarded && !this.#isEnded) {
      this.#chunks.push(bytes);
      this.#heldBytes += bytes.length;
    }
    callbackIn(furtherArguments)?.();
    this.#wake();
    return this.#heldBytes < HELD_MAX_BYTES;
  }

  #end(endArguments: readonly unknown[]): ServerResponse {
    this.#write(endArguments[0], endArguments.slice(1));
    if (typeof endArguments[0] === 'function') (endArguments[0] as Callback)();
    this.#finish();
    return this.#response;
  }

  #finish(): void {
    this.#isEnded = true;
    this.#wake();
  }
}

/** Returns the value of a header; undefined if the response does not have it. */
export function headerOf({ headers }: ResponseHead, name: string): string | undefined {
  return headers.find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1];
}

/** Returns the headers with the changed ones replaced. A value of undefined removes a header. */
export function replaceHeaders(
  { headers }: ResponseHead,
  changes: Readonly<Record<string, string | undefined>>,
): HeaderPairs {
  const names = Object.keys(changes).map((name) => name.toLowerCase());
  const otherHeaders = headers.filter(([name]) => !names.includes(name.toLowerCase()));
  const added = Object.entries(changes).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return [...otherHeaders, ...added];
}

/**
 * Returns header entries in any format that `writeHead` accepts: alternating, in pairs, or as an
 * object.
 */
function entriesOf(headerArgument: unknown): (readonly [string, unknown])[] {
  if (!Array.isArray(headerArgument)) return headerArgument ? Object.entries(headerArgument) : [];
  const flat: unknown[] = Array.isArray(headerArgument[0])
    ? headerArgument.flat(1)
    : headerArgument;
  const names = flat.filter((_, index) => index % 2 === 0);
  return names.map((name, index) => [String(name), flat[2 * index + 1]] as const);
}

function pairsOf(entries: readonly (readonly [string, unknown])[]): HeaderPairs {
  return entries.flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => [name, String(one)] as const),
  );
}

function bytesOf(chunk: unknown, encoding: unknown): Buffer | undefined {
  if (typeof chunk === 'string') {
    const isEncoding = typeof encoding === 'string' && Buffer.isEncoding(encoding);
    return Buffer.from(chunk, isEncoding ? encoding : 'utf8');
  }
  return chunk instanceof Uint8Array ? Buffer.from(chunk) : undefined;
}

function callbackIn(furtherArguments: readonly unknown[]): Callback | undefined {
  const last = furtherArguments.at(-1);
  return typeof last === 'function' ? (last as Callback) : undefined;
}
