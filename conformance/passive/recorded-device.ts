/** Which device sent a recorded exchange: what is remembered of one must not be mixed with another. */

import { operations } from '../../fixtures/contract/operations.ts';
import { parsedJson } from '../../fixtures/json.ts';
import type { FullExchange } from '../recordings/recording.ts';
import { membersOf } from '../target/json-members.ts';

/** What recorders put in the place of a secret; our own server among them. */
const masked = /\[masked\]|\*{3}|redacted/i;

/** Tells the devices of a recording apart, in the order in which their exchanges ended. */
export class RecordedDevices {
  readonly #indexes = new Map<string, number>();
  readonly #identityOfToken = new Map<string, string>();
  readonly #indexOfLink = new Map<string, number>();
  #next = 0;

  /** Number of devices that were identified. */
  get count(): number {
    return this.#indexes.size;
  }

  /** The index of the device; undefined where the exchange does not show which it is. */
  find(exchange: FullExchange): number | undefined {
    const key = this.#keyOf(exchange);
    if (key === undefined) return undefined;
    const index = this.#indexes.get(key) ?? this.another();
    this.#indexes.set(key, index);
    return index;
  }

  /** Returns a new index, for an exchange whose device is not known. */
  another(): number {
    this.#next += 1;
    return this.#next - 1;
  }

  /** The device that was given the link to a file; undefined for other URLs. */
  ofLink(url: string): number | undefined {
    return this.#indexOfLink.get(url);
  }

  /** Takes in a token, and the link in instructions, that the device was given. */
  learn(exchange: FullExchange, device: number): void {
    const text = exchange.responseBytes()?.toString('utf8') ?? '';
    const identity = identityIn(exchange);
    if (identity !== undefined && exchange.status === 200) {
      if (text !== '' && !masked.test(text)) this.#identityOfToken.set(text, identity);
      return;
    }
    const { source } = membersOf(membersOf(parsedJson(text)).artifact);
    const { uri } = membersOf(source);
    // With its signature masked it may be any of several links to the file.
    if (typeof uri !== 'string' || masked.test(uri) || !URL.canParse(uri)) return;
    this.#indexOfLink.set(new URL(uri).href, device);
  }

  #keyOf(exchange: FullExchange): string | undefined {
    if (exchange.device !== undefined) return `id ${exchange.device}`;
    const { authorization } = exchange.requestHeaders();
    const token = authorization?.replace(/^Bearer /i, '');
    const identity = token === undefined ? identityIn(exchange) : this.#identityOfToken.get(token);
    if (identity !== undefined) return masked.test(identity) ? undefined : `identity ${identity}`;
    return token === undefined || masked.test(token) ? undefined : `token ${token}`;
  }
}

/** The identity in a request for authentication; undefined in others. */
function identityIn({ requestBody, pathname }: FullExchange): string | undefined {
  if (!pathname.endsWith(operations['post-auth-request'].path)) return undefined;
  const body = requestBody();
  const { id_data: identity } = membersOf(typeof body === 'string' ? parsedJson(body) : body);
  return typeof identity === 'string' ? identity : undefined;
}
