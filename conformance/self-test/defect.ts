/**
 * The form of a planted defect: a value that says what a server does wrong, which requirements that
 * breaks, and how a proxy before a good server brings it about.
 */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { Headers } from '../target/exchange.ts';
import type { Frame } from '../target/frames.ts';
import type { KnownOperation } from '../target/operation-at.ts';

/** Every operation that the proxy knows by its path. */
export type ProxiedOperation = KnownOperation;

/** What a request and an answer have in common. */
export interface Message {
  /** Names in lower case; one that came several times is joined by commas. */
  readonly headers: Headers;
  /** The whole body; empty when there is none. */
  readonly body: Buffer;
}

/** A request between suite and target. */
export interface ProxiedRequest extends Message {
  /** The operation whose method and path it has; none when the contract knows no such request. */
  readonly operation: ProxiedOperation | undefined;
  /** The operations that have its path, whatever the method. */
  readonly operationsAtPath: readonly ProxiedOperation[];
  /** The parts of the path that stand for the parameters of the operation, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly method: string;
  /** The whole path without the query, encoded as it was sent. */
  readonly path: string;
  /** The query without its question mark, encoded as it was sent; empty when there is none. */
  readonly query: string;
}

/** An answer between target and suite. Headers that follow from the body are kept in step with it. */
export interface ProxiedAnswer extends Message {
  readonly status: number;
}

/**
 * Sends one more request to the target and reads its whole answer; no hook sees it. Start from
 * the request at hand, or from `requestFor` in requests.ts.
 */
export interface Ask {
  (request: ProxiedRequest): Promise<ProxiedAnswer>;
  /** A user's token of the management API, as the suite itself has it; empty without a user. */
  readonly userToken: string;
}

/** An open /connect between device and target, for the hook that sees its frames. */
export interface Line {
  /** Sends a frame of our own to one side. */
  send(to: Side, frame: Frame): void;
  /** Ends both connections at once, without a close frame. */
  destroy(): void;
}

/** Who sent a frame, or gets one. */
export type Side = 'device' | 'target';

/**
 * What a defect does. Each hook sees the exchanges of the defect's operations only. Giving back what
 * came in changes nothing, and the bytes then pass as they are. Hooks are also asked what they would
 * do while a run without a defect passes by, so that they act by what they give back and by `ask`
 * alone; one that merely waits would be taken for one that does nothing.
 */
export interface Mutation {
  /** Changes a request, or answers it in the target's place. An upgrade request comes here too. */
  request?(
    request: ProxiedRequest,
    ask: Ask,
  ): ProxiedRequest | ProxiedAnswer | Promise<ProxiedRequest | ProxiedAnswer>;
  /**
   * Changes an answer. The request is the one that the suite sent. Also called for the answer to an
   * upgrade: a status other than 101 then closes the connection after it.
   */
  answer?(
    answer: ProxiedAnswer,
    request: ProxiedRequest,
    ask: Ask,
  ): ProxiedAnswer | Promise<ProxiedAnswer>;
  /** Frames of an open /connect: gives what goes on in place of the frame, perhaps nothing. */
  frame?(frame: Frame, from: Side, line: Line): Frame | readonly Frame[];
  /** One side of an open /connect has ended its connection: false keeps the other one open. */
  ended?(from: Side, line: Line): boolean;
  /** Answers are passed on chunk by chunk by this, in place of `answer`; bytes in, bytes out. */
  chunk?(chunk: Buffer, request: ProxiedRequest): Buffer;
}

/** One planted defect. */
export interface Defect {
  /** Stable name, such as `status-report-after-abort-is-204`. */
  readonly id: string;
  /** A full sentence: what the server does wrong. */
  readonly title: string;
  /** Every requirement that it breaks; a case that fails must name at least one of them. */
  readonly breaks: readonly [RequirementId, ...RequirementId[]];
  /** Whose exchanges it may touch; `all` takes in requests that are no operation. */
  readonly operations: readonly ProxiedOperation[] | 'all';
  /** Makes the hooks, with a fresh memory for each run. */
  readonly mutation: () => Mutation;
  /** The kind of mistake; only those have one that are made of the contract's rows. */
  readonly kind?: string;
  /** How many of the cases that it touches are played, chosen by its id; all when absent. */
  readonly sample?: number;
  /** Why nothing outside can see it; it must then survive. */
  readonly equivalent?: string;
}
