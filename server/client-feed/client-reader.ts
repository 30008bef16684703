/**
 * The interface through which the server shows what devices do to a client judge, and
 * reads what it says. The server has no judge of its own: whoever starts the server brings one.
 */
import type * as v from 'valibot';
import type { ClientEvent } from '../../fixtures/control/client-event.ts';
import type {
  clientDutyResponse,
  DutyState,
  judgedDutyResponse,
} from '../../fixtures/control/clients.ts';
import type { ReadOnly } from '../../fixtures/control/operations.ts';

/** A duty of device clients, as lists show it. */
export type ClientDuty = ReadOnly<v.InferOutput<typeof clientDutyResponse>>;

/** The verdict on one duty of one client; times are those of the events. */
export type JudgedDuty = Omit<
  ReadOnly<v.InferOutput<typeof judgedDutyResponse>>,
  'openSeconds' | 'violations'
> & {
  readonly openSinceMs?: number;
  readonly violations: readonly {
    /** Number of the event in the journal; 0 for what did not happen. */
    readonly journalEntry: number;
    readonly contradicts?: number;
    readonly operation: string;
    readonly message: string;
    readonly atMs: number;
  }[];
};

/** One client with the state of each duty, in the order of the list of duties. */
export interface ClientStates {
  readonly client: string;
  readonly exchanges: number;
  /** Number of events that were lost before they could be judged. */
  readonly dropped: number;
  readonly states: readonly DutyState[];
}

/** One client with its duties. */
interface JudgedClient extends Pick<ClientStates, 'exchanges' | 'dropped'> {
  readonly duties: readonly JudgedDuty[];
}

/** The IDs that the reader may name in a next step. */
export interface ClientFacts {
  /** ID of the device; undefined while the server knows none. */
  readonly device: string | undefined;
  /** ID of the deployment that is open for the device. */
  readonly deployment: string | undefined;
}

/** Judges the clients of one tenant by what it is shown. */
export interface ClientReader {
  /** Every duty, in a fixed order. */
  readonly duties: readonly ClientDuty[];
  /** Judges an event. May throw; the event then counts as lost. */
  observe(event: ClientEvent): void;
  /**
   * Notes a poll that is equal to the last one of the client and was answered alike, without an
   * update. Returns false if it has to be observed like any other event.
   */
  recordRepeat(
    client: string,
    times: { readonly sentMs: number; readonly endedMs: number },
  ): boolean;
  /** Gives a client its final name, once the server knows the device. */
  rename(former: string, client: string): void;
  /** Forgets a client; all of them without a name. */
  forget(client?: string): void;
  /** Yields every client. */
  clients(): Iterable<ClientStates>;
  /** Returns what is known about a client; undefined for one that did nothing. */
  client(client: string, facts: ClientFacts): JudgedClient | undefined;
}

/** Loads the judge, and returns a function that makes a reader for a tenant. */
export type LoadClientReader = () => Promise<() => ClientReader>;
