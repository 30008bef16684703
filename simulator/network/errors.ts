/** Errors of an exchange with a server: one class for each kind of failure. */
import { printable } from '../../fixtures/base/printable.ts';

/** Context included in every client error. */
export interface ErrorContext {
  /** ID of the contract's operation, such as `put-deployment-status`. */
  readonly operation: string;
  /** The device (`device 3`), or `user`. */
  readonly caller: string;
  /** Milliseconds from the start of the exchange to the error. */
  readonly elapsedMs: number;
  readonly cause?: unknown;
}

/** Stable codes of the kinds of failure. */
export type ClientErrorCode = 'transport' | 'timeout' | 'status' | 'response' | 'download';

/** Base class of the errors of an exchange. The message is one line without control characters. */
export abstract class ClientError extends Error {
  abstract readonly code: ClientErrorCode;
  /** Stable short name of the cause for counting: `transport/ECONNREFUSED`, `status/503`. */
  abstract readonly label: string;
  /** True when the same request may succeed later. */
  abstract readonly isTransient: boolean;
  readonly operation: string;
  readonly caller: string;
  readonly elapsedMs: number;

  constructor(problem: string, circumstances: ErrorContext) {
    const { operation, caller, elapsedMs, cause } = circumstances;
    super(`${operation}: ${printable(problem, MESSAGE_MAX_CHARACTERS)}`, { cause });
    this.operation = operation;
    this.caller = caller;
    this.elapsedMs = elapsedMs;
  }
}

const MESSAGE_MAX_CHARACTERS = 500;

/** Thrown when no response arrived, because there was no connection or the connection broke. */
export class TransportError extends ClientError {
  override readonly name = 'TransportError';
  readonly code = 'transport';
  /** Error code from the system or library, such as `ECONNREFUSED`. */
  readonly reason: string;
  readonly label: string;
  readonly isTransient = true;

  constructor(reason: string, circumstances: ErrorContext) {
    super(`no response, ${transportSentences[reason] ?? reason}`, circumstances);
    this.reason = reason;
    this.label = `transport/${reason}`;
  }
}

/** Category under which an exchange without a response is counted. */
export type NoResponseKind = 'timeout' | 'reset' | 'refused' | 'other';

const noResponses: Readonly<Record<string, NoResponseKind>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ETIMEDOUT: 'timeout',
};

/** Returns the category of an error code from the system or library. */
export function noResponseKindOf(reason: string): NoResponseKind {
  return noResponses[reason] ?? 'other';
}

const untrusted =
  "the server's certificate is not signed by a trusted authority; give the CA certificate";
const hungUp = 'the server closed the connection before it answered';

const transportSentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at that address (ECONNREFUSED); is the server running?',
  ENOTFOUND: 'no host has that name (ENOTFOUND); check the base URL',
  EAI_AGAIN: 'the host name could not be looked up (EAI_AGAIN)',
  EMFILE: 'this process has too many open files (EMFILE); run fewer devices or raise ulimit -n',
  NETWORK_LOSS: 'the simulated network lost the exchange (NETWORK_LOSS)',
  ECONNRESET: `${hungUp} (ECONNRESET)`,
  UND_ERR_SOCKET: `${hungUp} (UND_ERR_SOCKET)`,
  DEPTH_ZERO_SELF_SIGNED_CERT: `${untrusted} (DEPTH_ZERO_SELF_SIGNED_CERT)`,
  SELF_SIGNED_CERT_IN_CHAIN: `${untrusted} (SELF_SIGNED_CERT_IN_CHAIN)`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `${untrusted} (UNABLE_TO_VERIFY_LEAF_SIGNATURE)`,
};

/** Thrown when the whole response did not arrive within the time limit. */
export class TimeoutError extends ClientError {
  override readonly name = 'TimeoutError';
  readonly code = 'timeout';
  readonly label = 'timeout';
  readonly isTransient = true;

  constructor(limitMs: number, circumstances: ErrorContext) {
    super(`no complete response within ${limitMs} ms`, circumstances);
  }
}

/** A response whose status is not one of the operation's success statuses. */
export interface RefusedResponse {
  readonly status: number;
  /** The `error` field of the body, if any. */
  readonly serverSays?: string;
  /** The wait that the server requests with Retry-After, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** Thrown for a response whose status is not one of the operation's success statuses. */
export class StatusError extends ClientError {
  override readonly name = 'StatusError';
  readonly code = 'status';
  readonly status: number;
  readonly serverSays: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly label: string;
  readonly isTransient: boolean;

  constructor(response: RefusedResponse, circumstances: ErrorContext) {
    const suffix = response.serverSays ? `: ${response.serverSays}` : '';
    super(`the server answered with ${response.status}${suffix}`, circumstances);
    this.status = response.status;
    this.serverSays = response.serverSays;
    this.retryAfterMs = response.retryAfterMs;
    this.label = `status/${response.status}`;
    this.isTransient = response.status === 429 || response.status === 408 || response.status >= 500;
  }
}

/** Problems of a response that has a success status. */
export type ResponseProblem =
  | ('not-json' | 'shape' | 'too-large' | 'not-a-token' | 'link')
  | 'other-server';

/** Thrown for a response with content that the operation does not allow. */
export class ResponseError extends ClientError {
  override readonly name = 'ResponseError';
  readonly code = 'response';
  readonly problem: ResponseProblem;
  readonly label: string;
  readonly isTransient = false;

  constructor(problem: ResponseProblem, sentence: string, circumstances: ErrorContext) {
    super(sentence, circumstances);
    this.problem = problem;
    this.label = `response/${problem}`;
  }
}

/** Problems that occur after a download has started. */
export type DownloadProblem = 'cut-off' | 'range' | 'too-large' | 'changed' | 'length';

/** Thrown when a download started but did not complete. */
export class DownloadError extends ClientError {
  override readonly name = 'DownloadError';
  readonly code = 'download';
  readonly problem: DownloadProblem;
  readonly label: string;
  readonly isTransient: boolean;

  constructor(problem: DownloadProblem, sentence: string, circumstances: ErrorContext) {
    super(sentence, circumstances);
    this.problem = problem;
    this.label = `download/${problem}`;
    this.isTransient = problem === 'cut-off';
  }
}

/** Thrown when the device loses power in the middle of an update. */
export class PowerLoss extends Error {
  override readonly name = 'PowerLoss';
  readonly offMs: number;

  constructor(offMs: number) {
    super(`the device has no power for ${offMs} ms`);
    this.offMs = offMs;
  }
}

/** Thrown into pending waits and exchanges when a run ends. Metrics do not count it as an error. */
export class FleetStopped extends Error {
  override readonly name = 'FleetStopped';

  constructor() {
    super('the run is over');
  }
}
