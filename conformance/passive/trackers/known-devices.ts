/**
 * The devices and deployments of one case, whose token a request carries, and the choices that
 * the contract leaves to the server.
 */
import { isObject, jsonInOrder, parsedJson } from '../../../fixtures/base/json.ts';
import { entriesOf, membersOf } from '../../target/json-members.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import type { Allows } from './allowances.ts';

/** Records devices from the exchanges of a case. A device is named by its identity as JSON. */
export class KnownDevices {
  /** Says what the contract leaves to the server. */
  readonly allows: Allows;
  readonly #ids = new Map<string, string>();
  readonly #identities = new Map<string, string>();
  readonly #tokens = new Map<string, string>();
  readonly #deployments = new Set<string>();

  constructor(allows: Allows) {
    this.allows = allows;
  }

  /** Records an exchange, before it is judged. */
  record(exchange: JudgedExchange): void {
    switch (exchange.operation.id) {
      case 'preauthorize-device':
        this.#recordId(membersOf(exchange.requestJson).identity_data, locationOf(exchange));
        break;
      case 'list-devices':
      case 'search-devices':
        for (const each of entriesOf(exchange.responseJson)) this.#recordDevice(each);
        break;
      case 'get-device':
        this.#recordDevice(exchange.responseJson);
        break;
      case 'create-deployment':
        this.#deployments.add(locationOf(exchange) ?? '');
        break;
      case 'post-auth-request':
        this.#recordToken(exchange);
    }
  }

  /** Returns the ID of the device whose token the request carries; undefined if not known. */
  idOf(exchange: JudgedExchange): string | undefined {
    const identity = this.ofToken(exchange);
    return identity === undefined ? undefined : this.#ids.get(identity);
  }

  /** Returns the identity of the device whose token the request carries; undefined if not known. */
  ofToken({ token }: JudgedExchange): string | undefined {
    return token === undefined ? undefined : this.#tokens.get(token);
  }

  /** Returns the identity of a device by its ID; undefined if not known. */
  ofId(id: unknown): string | undefined {
    return typeof id === 'string' ? this.#identities.get(id) : undefined;
  }

  /** Returns an ID that users know as a deployment's; null for another, which may mean any. */
  deployment(id: string): string | null {
    return this.#deployments.has(id) ? id : null;
  }

  #recordDevice(device: unknown): void {
    const { id, identity_data } = membersOf(device);
    if (typeof id === 'string') this.#recordId(identity_data, id);
  }

  #recordId(identity: unknown, id: string | undefined): void {
    if (!isObject(identity) || id === undefined) return;
    this.#ids.set(jsonInOrder(identity), id);
    this.#identities.set(id, jsonInOrder(identity));
  }

  #recordToken({ status, requestJson, response }: JudgedExchange): void {
    const { id_data } = membersOf(requestJson);
    if (status !== 200 || typeof id_data !== 'string') return;
    this.#tokens.set(response.text, jsonInOrder(parsedJson(id_data)));
  }
}

/** Returns the ID of what the request created, from the Location of the response. */
export function locationOf({ response, isSuccess }: JudgedExchange): string | undefined {
  return isSuccess ? response.headers.location?.split('/').at(-1) : undefined;
}
