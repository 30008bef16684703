/** Identifies the device that sent a recorded exchange, so that each device has its own history. */
import { parsedJson } from '../../fixtures/base/json.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { FullExchange } from '../recordings/recording.ts';
import { membersOf } from '../target/json-members.ts';

/** Texts with which recorders, such as Fleetbed's server, replace a secret. */
const masked = /\[masked\]|\*{3}|redacted/i;

/** Assigns an index to each device. Exchanges must be added in the order in which they ended. */
export class RecordedDevices {
  readonly #indexes = new Map<string, number>();
  readonly #identityOfToken = new Map<string, string>();
  readonly #indexOfLink = new Map<string, number>();
  #nextIndex = 0;

  /** Number of devices that were identified. */
  get count(): number {
    return this.#indexes.size;
  }

  /** Returns the index of the device; undefined if the exchange does not identify it. */
  find(exchange: FullExchange): number | undefined {
    const key = this.#keyOf(exchange);
    if (key === undefined) return undefined;
    const index = this.#indexes.get(key) ?? this.another();
    this.#indexes.set(key, index);
    return index;
  }

  /** Returns a new index, for an exchange whose device is unknown. */
  another(): number {
    this.#nextIndex += 1;
    return this.#nextIndex - 1;
  }

  /** Returns the device to which the link to a file was offered; undefined for other URLs. */
  ofLink(url: string): number | undefined {
    return this.#indexOfLink.get(url);
  }

  /** Records the token, or the link in the instructions, that the response gives to the device. */
  record(exchange: FullExchange, device: number): void {
    const text = exchange.responseBytes()?.toString('utf8') ?? '';
    const identity = identityIn(exchange);
    if (identity !== undefined && exchange.status === 200) {
      if (text !== '' && !masked.test(text)) this.#identityOfToken.set(text, identity);
      return;
    }
    const { source } = membersOf(membersOf(parsedJson(text)).artifact);
    const { uri } = membersOf(source);
    // A link whose signature is masked cannot be distinguished from other links to the file.
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

/** Returns the identity in an authentication request; undefined for other requests. */
function identityIn({ requestBody, pathname }: FullExchange): string | undefined {
  if (!pathname.endsWith(operations['post-auth-request'].path)) return undefined;
  const body = requestBody();
  const { id_data: identity } = membersOf(typeof body === 'string' ? parsedJson(body) : body);
  return typeof identity === 'string' ? identity : undefined;
}
