/** A request as fault rules see it. Expensive facts are computed only when a rule needs them. */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { parsedJson } from '../../fixtures/base/json.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import { readPublicKey } from '../crypto/public-key.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Caller } from '../pipeline/callers.ts';
import { excessOf } from '../pipeline/input.ts';
import { readIdentity } from '../rules/identity.ts';
import type { Store } from '../store/store.ts';

/** The facts about a request that are known before it is checked. */
interface CallFacts {
  readonly operation: Operation;
  readonly exchange: Exchange;
  /** Has no device and no user if the token is invalid. */
  readonly caller: Caller;
  /** The body, if the operation has one that is not streamed. */
  readonly raw: Buffer | undefined;
  readonly store: Store;
  readonly requestIdHeader: string;
}

/** Facts about the device that sent a request. */
interface RequestingDevice {
  /** The identity as canonical JSON text. */
  readonly identity: string;
  readonly keyType?: KeyType;
}

const authBody = v.object({ id_data: v.string(), pubkey: v.optional(v.unknown()) });

/** A request that matched an operation. */
export class FaultCall {
  readonly operation: Operation;
  readonly exchange: Exchange;
  readonly caller: Caller;
  readonly raw: Buffer | undefined;
  readonly store: Store;
  readonly #requestIdHeader: string;
  #device: RequestingDevice | 'not looked up' | undefined = 'not looked up';

  constructor(facts: CallFacts) {
    this.operation = facts.operation;
    this.exchange = facts.exchange;
    this.caller = facts.caller;
    this.raw = facts.raw;
    this.store = facts.store;
    this.#requestIdHeader = facts.requestIdHeader.toLowerCase();
  }

  /** The device that calls, or for which the link was issued, if known. */
  get deviceId(): string | undefined {
    return this.caller.device?.id ?? this.caller.linkedDeviceId;
  }

  /**
   * The identity as canonical JSON text. For an authentication request it is read from the body.
   */
  get identity(): string | undefined {
    return this.#seenDevice()?.identity;
  }

  get keyType(): KeyType | undefined {
    return this.#seenDevice()?.keyType;
  }

  /**
   * The caller for which the request is counted. A device is identified by its identity, because
   * that is the same in every run.
   */
  get callerKey(): string {
    return this.identity ?? (this.caller.user ? 'users' : 'unauthenticated');
  }

  /** The request ID, if the caller chose it. */
  get chosenRequestId(): string | undefined {
    const sentId = this.exchange.request.headers[this.#requestIdHeader];
    return sentId === this.exchange.requestId ? this.exchange.requestId : undefined;
  }

  get json(): unknown {
    return jsonOf(this.raw, this.operation.bodyValuesMax);
  }

  #seenDevice(): RequestingDevice | undefined {
    if (this.#device === 'not looked up') {
      this.#device =
        this.operation.authorization === 'signature' ? this.#deviceOfBody() : this.#knownDevice();
    }
    return this.#device;
  }

  #knownDevice(): RequestingDevice | undefined {
    const { devices } = this.store;
    const device = this.deviceId === undefined ? undefined : devices.find(this.deviceId);
    if (!device) return undefined;
    const authSetId = this.caller.device?.authSetId ?? '';
    const pem = devices.findAuthSetById(authSetId)?.publicKeyPem;
    return { identity: device.identity, ...keyTypeOf(pem) };
  }

  #deviceOfBody(): RequestingDevice | undefined {
    const body = v.safeParse(authBody, this.json);
    const identity = body.success && readIdentity(body.output.id_data);
    if (!identity || 'reason' in identity) return undefined;
    return { identity: identity.canonical, ...keyTypeOf(body.output.pubkey) };
  }
}

function keyTypeOf(pem: unknown): Pick<RequestingDevice, 'keyType'> {
  const key = typeof pem === 'string' ? readPublicKey(pem) : undefined;
  return key && 'keyType' in key ? { keyType: key.keyType } : {};
}

/**
 * Returns the value of a JSON body; undefined if it is absent, not JSON, or has too many values.
 */
export function jsonOf(raw: Buffer | undefined, valuesMax?: number): unknown {
  return raw && excessOf(raw, valuesMax) === undefined ? parsedJson(raw.toString()) : undefined;
}

const FRACTION_STEPS = 2 ** 48;

/**
 * Maps a string to a number from 0 (included) to 1 (excluded) under a seed. The result is the same in
 * every run.
 */
export function positionOf(text: string, seed: string): number {
  const digest = createHash('sha256').update(`${seed}/${text}`).digest();
  return digest.readUIntBE(0, 6) / FRACTION_STEPS;
}
