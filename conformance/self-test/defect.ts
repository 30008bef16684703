/**
 * The type of a defect: wrong behaviour of a server, the requirements that it violates, and the
 * alterations by which a proxy in front of a good server produces it.
 */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { Headers } from '../target/exchange.ts';
import type { Frame } from '../target/frames.ts';
import type { KnownOperation } from '../target/operation-at.ts';

/** An operation that the proxy recognizes: of the contract, management or artifact storage. */
export type ProxiedOperation = KnownOperation;

/** Common fields of a request and a response. */
export interface ProxiedMessage {
  /** Names in lower case; repeated ones are joined by commas. */
  readonly headers: Headers;
  /** The whole body; empty when there is none. */
  readonly body: Buffer;
}

/** A request from the suite to the target. */
export interface ProxiedRequest extends ProxiedMessage {
  /** The operation matched by method and path; undefined when the contract has no such request. */
  readonly operation: ProxiedOperation | undefined;
  /** The operations at the path of the request, with any method. */
  readonly operationsAtPath: readonly ProxiedOperation[];
  /** The path segments that fill the parameters of the operation, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly method: string;
  /** The HTTP version, such as `1.1`; absent from a request that an alteration builds. */
  readonly version?: string;
  /** The whole path without the query, as encoded by the sender. */
  readonly path: string;
  /** The query without its question mark, as encoded by the sender; empty if there is none. */
  readonly query: string;
}

/**
 * A response from the target to the suite. Headers derived from the body are kept consistent with
 * it.
 */
export interface ProxiedResponse extends ProxiedMessage {
  readonly status: number;
}

/**
 * Sends one more request to the target and reads its whole response; alterations do not see it.
 * Start from the current request, or from `requestFor` in requests.ts.
 */
export interface SendToTarget {
  (request: ProxiedRequest): Promise<ProxiedResponse>;
  /** The suite's user token for the management API; empty without a user. */
  readonly userToken: string;
}

/** An open /connect between device and target, for the alteration that sees its frames. */
export interface FrameTunnel {
  /** Sends an additional frame to one side. */
  send(to: FrameSide, frame: Frame): void;
  /** Ends both connections at once, without a close frame. */
  destroy(): void;
}

/** The sender or receiver of a frame. */
export type FrameSide = 'device' | 'target';

/**
 * The alterations of a defect. Each sees only the exchanges of the defect's operations. Returning
 * the input changes nothing, and the bytes are then forwarded unchanged. The baseline run also
 * calls the alterations to find out what they would change, so an alteration must act only through
 * its return value and `send`. An alteration that only delays messages would count as having no
 * effect.
 */
export interface Alteration {
  /** Changes a request, or answers it in place of the target. Also called for upgrade requests. */
  request?(
    request: ProxiedRequest,
    send: SendToTarget,
  ): ProxiedRequest | ProxiedResponse | Promise<ProxiedRequest | ProxiedResponse>;
  /**
   * Changes a response to the request that the suite sent. Also called for the response to an
   * upgrade: a status other than 101 then closes the connection after it.
   */
  response?(
    response: ProxiedResponse,
    request: ProxiedRequest,
    send: SendToTarget,
  ): ProxiedResponse | Promise<ProxiedResponse>;
  /**
   * Handles a frame of an open /connect; returns the frames to forward in its place, possibly none.
   */
  frame?(frame: Frame, from: FrameSide, tunnel: FrameTunnel): Frame | readonly Frame[];
  /**
   * Called when one side of an open /connect ends its connection: false keeps the other one open.
   */
  ended?(from: FrameSide, tunnel: FrameTunnel): boolean;
  /**
   * True if the effect shows only when exchanges overlap. The baseline run examines them one after
   * another, so each exchange of the defect's operations counts as changed.
   */
  readonly needsOverlap?: true;
  /** Forwards a response chunk by chunk, in place of `response`; bytes in, bytes out. */
  chunk?(chunk: Buffer, request: ProxiedRequest): Buffer;
}

/** A defect of a server. */
export interface Defect {
  /** Stable name, such as `status-report-after-abort-is-204`. */
  readonly id: string;
  /** A full sentence that states what the server does wrong. */
  readonly title: string;
  /** Every requirement that the defect violates; a failing case must name at least one. */
  readonly violates: readonly [RequirementId, ...RequirementId[]];
  /**
   * The operations whose exchanges it may change; `all` includes requests that match no operation.
   */
  readonly operations: readonly ProxiedOperation[] | 'all';
  /** Creates the alterations, with fresh state for each run. */
  readonly alter: () => Alteration;
  /** The kind of defect; present on defects that are generated from the contract's rows. */
  readonly kind?: string;
  /** Number of affected cases to run, chosen by the ID of the defect; see `chosenCases`. */
  readonly sample?: number;
  /** The reason why no client can observe the defect; present only if it must survive. */
  readonly equivalent?: string;
}
