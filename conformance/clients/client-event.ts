/**
 * The types of what a judge of device clients sees and says. The judge is a pure reader: whoever has
 * exchanges (a server, an examination, a recording) hands them over in the order in which they ended.
 */

/** Names and values as sent, in order; names in the letter case of the wire. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** One request of a device with what was answered, unmasked and in memory only. */
export interface ClientExchange {
  readonly kind: 'exchange';
  /** Number of the exchange in the journal or file; evidence refers to it. */
  readonly sequence: number;
  /**
   * The device: its id, else a digest of its identity, else its connection. All exchanges with one
   * value are judged together.
   */
  readonly client: string;
  readonly method: string;
  /** Absolute URL as requested, query included. */
  readonly url: string;
  readonly requestHeaders: HeaderList;
  /** The body as sent; undefined if it was not kept. */
  readonly requestBody: Buffer | undefined;
  /** False if only the value of the body is known, not its bytes, as in a journal. */
  readonly isVerbatim?: boolean;
  /** Status that was sent; 0 if none was. */
  readonly status: number;
  readonly responseHeaders: HeaderList;
  /** The body as sent; undefined if it was not kept. */
  readonly responseBody: Buffer | undefined;
  /** Bytes of the answer's body that were written. */
  readonly responseBytes: number;
  /** False if the connection closed before the whole answer was written, or if it was altered in length. */
  readonly isDelivered: boolean;
  /** When the request was complete and when the answer was, on a monotonic clock, in milliseconds. */
  readonly sentMs: number;
  readonly endedMs: number;
  /** The server's own time at the answer, in milliseconds since the Unix epoch. */
  readonly serverNowMs: number;
  /** Names of the planned faults and of the variations that changed this answer. */
  readonly interference: readonly string[];
  /** A name of the connection, equal for all requests on it. */
  readonly connection: string;
}

/** Something that happened on a /connect socket. */
export interface ClientSocketEvent {
  readonly kind: 'socket';
  readonly sequence: number;
  readonly client: string;
  /** A name of the socket, equal for all its events. */
  readonly socket: string;
  readonly event: 'opened' | 'ping' | 'pong' | 'message' | 'closed';
  readonly from: 'device' | 'server';
  /** Close code, for `closed`. */
  readonly code?: number;
  /** The payload of a ping, pong or message. */
  readonly payload?: Buffer;
  /** A violation of RFC 6455 by the device, as one sentence. */
  readonly violation?: string;
  readonly atMs: number;
}

/** Something that the server, its user or the examiner did, which may excuse a device. */
export interface ServerAct {
  readonly kind: 'act';
  readonly act:
    | 'accepted'
    | 'rejected'
    | 'decommissioned'
    | 'deployed'
    | 'deployment-aborted'
    | 'clock-moved'
    | 'server-restarted'
    | 'events-dropped'
    | 'client-started'
    | 'client-killed'
    | 'folder-cleaned'
    | 'scene-began'
    | 'scene-ended';
  /** The device concerned; undefined if all are. */
  readonly client?: string;
  /** Name of the scene or id of the deployment. */
  readonly subject?: string;
  /** Number of events that were lost before the judge could see them, for `events-dropped`. */
  readonly count?: number;
  readonly atMs: number;
}

/** Whatever a judge may be shown. */
export type ClientEvent = ClientExchange | ClientSocketEvent | ServerAct;

/**
 * What is known about one duty of one device: `kept`, `broken`, `open` (due, but there is still
 * time), `not-met` (nothing exercised it yet), `not-applicable` (a part of the API that the client
 * does not use), `not-observable` (only the device could show it), `not-judged` (exchanges were
 * dropped, or the judge was interrupted), `observed` (the contract leaves it open).
 */
export type DutyState =
  | 'kept'
  | 'broken'
  | 'open'
  | 'not-met'
  | 'not-applicable'
  | 'not-observable'
  | 'not-judged'
  | 'observed';

/** One violation of a duty. */
export interface DutyViolation {
  /** The event that shows it, and the earlier one that it contradicts, if any. */
  readonly sequence: number;
  readonly against?: number;
  /** Id of the operation, or `socket`. */
  readonly operation: string;
  readonly atMs: number;
  /** What is wrong, as a sentence: "the signature must verify over the body, not …". */
  readonly seen: string;
}

/** What would exercise a duty next. */
export interface NextStep {
  /** A sentence for the author of the client. */
  readonly text: string;
  /** A command that does it; undefined if the author has to act. */
  readonly command?: string;
  /** The scene of the examination that does it; undefined if none does. */
  readonly scene?: string;
}

/** What is known about one duty of one device. */
export interface DutyVerdict {
  /** Id of the duty, such as `auth.renews-on-401`. */
  readonly duty: string;
  readonly state: DutyState;
  /** Number of events that decided it. */
  readonly judged: number;
  /** The first violations; the number of all is in `violationCount`. */
  readonly violations: readonly DutyViolation[];
  readonly violationCount: number;
  /** Since when the duty is due, for the state `open`. */
  readonly openSinceMs?: number;
  /** What was observed, for the state `observed`. */
  readonly observation?: string;
  /** What would exercise it, for `not-met`, `not-applicable` and `not-observable`. */
  readonly next?: NextStep;
}

/** What is known about one device. */
export interface ClientVerdict {
  readonly client: string;
  readonly exchanges: number;
  /** Events that were lost before they could be judged. */
  readonly dropped: number;
  /** One row for each duty, in the order of the list of duties. */
  readonly duties: readonly DutyVerdict[];
}
