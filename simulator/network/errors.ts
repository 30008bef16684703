/** Why an exchange with a server came to nothing: one class per cause. Not what to do about it. */
import { printable } from '../../fixtures/printable.ts';

/** The circumstances that every fault of the client carries. */
export interface Circumstances {
  /** Id of the contract's operation, such as `put-deployment-status`. */
  readonly operation: string;
  /** Which device (`device 3`), or `operator`. */
  readonly caller: string;
  /** Milliseconds from the start of the exchange to the fault. */
  readonly elapsedMs: number;
  readonly cause?: unknown;
}

/** Stable names of the causes. */
export type ClientErrorCode = 'transport' | 'timeout' | 'status' | 'answer' | 'download';

/** A fault of one exchange; its message is one line and fit for a terminal. */
export abstract class ClientError extends Error {
  abstract readonly code: ClientErrorCode;
  /** The cause in one stable word or two, for counting: `transport/ECONNREFUSED`, `status/503`. */
  abstract readonly label: string;
  readonly operation: string;
  readonly caller: string;
  readonly elapsedMs: number;

  constructor(what: string, circumstances: Circumstances) {
    const { operation, caller, elapsedMs, cause } = circumstances;
    super(`${operation}: ${printable(what, MESSAGE_MAX_CHARACTERS)}`, { cause });
    this.operation = operation;
    this.caller = caller;
    this.elapsedMs = elapsedMs;
  }

  /** Whether the same request may well succeed later. */
  abstract get passing(): boolean;
}

const MESSAGE_MAX_CHARACTERS = 500;

/** No answer came: no connection, or one that broke. */
export class TransportError extends ClientError {
  override readonly name = 'TransportError';
  readonly code = 'transport';
  /** The system's or the library's name of the fault, such as `ECONNREFUSED`. */
  readonly reason: string;

  constructor(reason: string, circumstances: Circumstances) {
    super(`no answer, ${transportSentences[reason] ?? reason}`, circumstances);
    this.reason = reason;
  }

  get label(): string {
    return `transport/${this.reason}`;
  }

  get passing(): boolean {
    return true;
  }
}

/** Why there was no answer, as it is counted. */
export type Silence = 'timeout' | 'reset' | 'refused' | 'other';

const silences: Readonly<Record<string, Silence>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ETIMEDOUT: 'timeout',
};

/** The kind of a transport's fault by the system's or the library's name of it. */
export function silenceOf(reason: string): Silence {
  return silences[reason] ?? 'other';
}

const untrusted =
  "the server's certificate is not signed by a trusted authority; give the CA's certificate";
const hungUp = 'the server closed the connection before it answered';

const transportSentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at that address (ECONNREFUSED); is the server running?',
  ENOTFOUND: 'there is no host of that name (ENOTFOUND); check the base URL',
  EAI_AGAIN: 'the host name could not be looked up (EAI_AGAIN)',
  EMFILE: 'this process has no file handles left (EMFILE); run fewer devices',
  LINK_LOST: 'the simulated network lost the exchange (LINK_LOST)',
  ECONNRESET: `${hungUp} (ECONNRESET)`,
  UND_ERR_SOCKET: `${hungUp} (UND_ERR_SOCKET)`,
  DEPTH_ZERO_SELF_SIGNED_CERT: `${untrusted} (DEPTH_ZERO_SELF_SIGNED_CERT)`,
  SELF_SIGNED_CERT_IN_CHAIN: `${untrusted} (SELF_SIGNED_CERT_IN_CHAIN)`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `${untrusted} (UNABLE_TO_VERIFY_LEAF_SIGNATURE)`,
};

/** The whole answer did not come within the time limit. */
export class TimeoutError extends ClientError {
  override readonly name = 'TimeoutError';
  readonly code = 'timeout';
  readonly label = 'timeout';

  constructor(limitMs: number, circumstances: Circumstances) {
    super(`no complete answer within ${limitMs} ms`, circumstances);
  }

  get passing(): boolean {
    return true;
  }
}

/** What the server answered when it was not what the operation calls a success. */
export interface RefusedAnswer {
  readonly status: number;
  /** The `error` field of the body, when there is one. */
  readonly serverSays?: string;
  /** The wait that the server asks for. */
  readonly retryAfterMs?: number;
}

/** The server answered with another status than the operation's success. */
export class StatusError extends ClientError {
  override readonly name = 'StatusError';
  readonly code = 'status';
  readonly status: number;
  readonly serverSays: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(answer: RefusedAnswer, circumstances: Circumstances) {
    const said = answer.serverSays ? `: ${answer.serverSays}` : '';
    super(`the server answered ${answer.status}${said}`, circumstances);
    this.status = answer.status;
    this.serverSays = answer.serverSays;
    this.retryAfterMs = answer.retryAfterMs;
  }

  get label(): string {
    return `status/${this.status}`;
  }

  get passing(): boolean {
    return this.status === 429 || this.status === 408 || this.status >= 500;
  }
}

/** What can be wrong with an answer whose status is a success. */
export type AnswerFault = 'not-json' | 'shape' | 'too-large' | 'not-a-token' | 'link';

/** The server answered with success, but with what the operation does not allow. */
export class AnswerError extends ClientError {
  override readonly name = 'AnswerError';
  readonly code = 'answer';
  readonly fault: AnswerFault;

  constructor(fault: AnswerFault, what: string, circumstances: Circumstances) {
    super(what, circumstances);
    this.fault = fault;
  }

  get label(): string {
    return `answer/${this.fault}`;
  }

  get passing(): boolean {
    return false;
  }
}

/** What can go wrong after the first byte of a file has come. */
export type DownloadFault = 'cut-off' | 'range' | 'too-large' | 'changed' | 'length';

/** A file that began to come and did not come whole. */
export class DownloadError extends ClientError {
  override readonly name = 'DownloadError';
  readonly code = 'download';
  readonly fault: DownloadFault;

  constructor(fault: DownloadFault, what: string, circumstances: Circumstances) {
    super(what, circumstances);
    this.fault = fault;
  }

  get label(): string {
    return `download/${this.fault}`;
  }

  get passing(): boolean {
    return this.fault === 'cut-off';
  }
}

/** The device goes dark in the middle of an update. */
export class PowerLoss extends Error {
  override readonly name = 'PowerLoss';
  readonly offMs: number;

  constructor(offMs: number) {
    super(`the device has no power for ${offMs} ms`);
    this.offMs = offMs;
  }
}

/** The end of a run, thrown to whoever still waits or exchanges. Not a fault: it is never counted. */
export class FleetStopped extends Error {
  override readonly name = 'FleetStopped';

  constructor() {
    super('the run is over');
  }
}
