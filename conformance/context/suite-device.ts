/** A device that the suite simulates: an identity, a key, and the calls that a device makes. */
import type { OperationId, operations } from '../../fixtures/contract/operations.ts';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { SigningKey } from '../signing/signing-key.ts';
import { ApiCaller, bearer, type CallArguments } from '../target/call.ts';
import type { Headers } from '../target/exchange.ts';
import type { HttpResponse } from '../target/response.ts';
import type { TargetClient, WireRequest } from '../target/target.ts';

/** Differences from a valid authentication request. */
export interface AuthenticationChanges {
  /** Members added to or replaced in the AuthRequest; undefined removes one. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** The body as it is sent; overrides `members`. */
  readonly text?: string;
  /** The text to sign instead of the sent body. */
  readonly signedText?: string;
  /** Signs with this key instead of the device's own. */
  readonly signedBy?: SigningKey;
  /** The signature header as it is sent; null omits the header. */
  readonly signature?: string | null;
  readonly headers?: Headers;
}

/** The identity of a suite device; the serial number alone makes it unique. */
type SuiteIdentity = Readonly<Record<string, unknown>> & { readonly serial: string };

/** A device of the suite. */
export class SuiteDevice {
  readonly identity: SuiteIdentity;
  readonly key: SigningKey;
  /** The device's token; empty until one is granted. */
  token = '';
  /** True when the server may have recorded the device. */
  known = false;
  #id = '';
  readonly #onId: ((id: string) => void) | undefined;
  readonly #client: TargetClient;
  readonly #names: VendorNames;
  readonly #tenantToken: string | undefined;
  readonly #maskSecret: (secret: string) => void;

  constructor(
    client: TargetClient,
    options: {
      readonly identity: SuiteIdentity;
      readonly key: SigningKey;
      readonly names: VendorNames;
      /** The device's `tenant_token`; absent when it sends none. */
      readonly tenantToken?: string | undefined;
      /** Called with each token that the device is granted. */
      readonly maskSecret: (secret: string) => void;
      /** Called when the device's ID on the server becomes known. */
      readonly onId?: (id: string) => void;
    },
  ) {
    this.#client = client;
    this.identity = options.identity;
    this.key = options.key;
    this.#names = options.names;
    this.#tenantToken = options.tenantToken;
    this.#maskSecret = options.maskSecret;
    this.#onId = options.onId;
  }

  /** The ID of the device on the server; empty until it is known. */
  get id(): string {
    return this.#id;
  }

  set id(id: string) {
    this.#id = id;
    this.#onId?.(id);
  }

  /** Returns the body of a valid authentication request, as text. Spec: AuthRequest */
  authRequest(members: AuthenticationChanges['members'] = {}): string {
    return JSON.stringify({
      id_data: JSON.stringify(this.identity),
      pubkey: this.key.publicKeyPem,
      ...(this.#tenantToken === undefined ? {} : { tenant_token: this.#tenantToken }),
      ...members,
    });
  }

  /** Sends an authentication request. Spec: Device authentication */
  async authenticate(changes: AuthenticationChanges = {}): Promise<HttpResponse> {
    this.known = true;
    const response = await this.#client.send(this.authenticationRequest(changes));
    if (response.status === 200) this.#maskSecret(response.text);
    return response;
  }

  /** The request that `authenticate` would send. */
  authenticationRequest(changes: AuthenticationChanges = {}): WireRequest {
    const text = changes.text ?? this.authRequest(changes.members);
    const signer = changes.signedBy ?? this.key;
    const signature =
      changes.signature === undefined
        ? signer.sign(Buffer.from(changes.signedText ?? text)).toString('base64')
        : changes.signature;
    const signatureHeader =
      signature === null ? {} : { [this.#names.signature.toLowerCase()]: signature };
    return new ApiCaller(this.#client).request('post-auth-request', {
      raw: text,
      headers: { ...signatureHeader, ...changes.headers },
    });
  }

  /** Calls an operation with the device's token. */
  call<Id extends OperationId>(
    id: Id,
    ...given: CallArguments<(typeof operations)[Id]['path']>
  ): Promise<HttpResponse> {
    return this.#caller().call(id, ...given);
  }

  /** Returns the request that `call` would send. */
  request<Id extends OperationId>(
    id: Id,
    ...given: CallArguments<(typeof operations)[Id]['path']>
  ): WireRequest {
    return this.#caller().request(id, ...given);
  }

  #caller(): ApiCaller {
    return new ApiCaller(this.#client, this.token === '' ? {} : bearer(this.token));
  }
}
