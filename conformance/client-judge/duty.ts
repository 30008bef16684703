/**
 * The type of a duty of a device client: a passive check about the requests of one device, instead
 * of about the responses of a server. IDs and sentences are those of the list of client duties.
 */
import type {
  ClientExchange,
  ClientSocketEvent,
  ServerEvent,
} from '../../fixtures/control/client-event.ts';
import type { DutyLevel } from '../../fixtures/control/clients.ts';
import type { PassiveCheck, Violation } from '../passive/check.ts';
import type { JudgedExchange } from '../passive/judged-exchange.ts';
import type { ClientHistory } from './client-history.ts';
import type { FleetHistory } from './fleet-history.ts';
import type { DueReaction } from './history-items.ts';
import type { SceneName } from './scene-names.ts';

/** The history that a duty reads when it judges an exchange. */
export interface DutyHistory {
  /** The device before this exchange. */
  readonly client: ClientHistory;
  /** All devices before this exchange. */
  readonly fleet: FleetHistory;
  /** The exchange as it was seen, with what the server did to it. */
  readonly event: ClientExchange;
}

/** The history that a duty reads when it judges an event of a WebSocket. */
type SocketHistory = Pick<DutyHistory, 'client' | 'fleet'>;

/** Events that a reaction waits for. An exchange is seen before the device's history records it. */
export interface EventMatcher {
  readonly exchange?: (exchange: JudgedExchange, history: DutyHistory) => boolean;
  readonly socket?: (event: ClientSocketEvent, history: SocketHistory) => boolean;
  readonly serverEvents?: readonly ServerEvent['event'][];
  /** Restricts `serverEvents` to devices of which it is true. */
  readonly when?: (client: ClientHistory) => boolean;
}

/**
 * A reaction that is a duty: an event makes it due, and another one meets it. It is open
 * between the two; `brokenBy` shows that the device did something else instead, and the end of a
 * scene shows that it did nothing.
 */
export interface Reaction {
  readonly dueAfter: EventMatcher;
  readonly metBy: EventMatcher;
  readonly brokenBy?: (
    exchange: JudgedExchange,
    history: DutyHistory,
    due: DueReaction,
  ) => Violation | undefined;
  /** Events after which the reaction is no longer due. */
  readonly cancelledBy?: EventMatcher;
  /** The reaction, phrased to follow "must". */
  readonly expected: string;
}

/**
 * One duty. Like every passive check it does not apply to an exchange that it cannot decide without
 * doubt, and its violation reads "`part` must `expected`, not `actual`". A duty that has neither
 * check nor reaction is observed, or only the device could show it.
 */
export interface Duty
  extends Partial<Pick<PassiveCheck<DutyHistory>, 'operations' | 'applies' | 'violation'>> {
  /** Area and name, such as `get.method-get`; never changes. */
  readonly id: string;
  readonly level: DutyLevel;
  /** The duty as a sentence with the device as its subject. */
  readonly sentence: string;
  /** Heading of the contract, or section of an RFC. */
  readonly source: string;
  /** The part of the traffic that decides it. */
  readonly evidence: string;
  /** Exempt exchanges, as a phrase, besides the exemptions of all duties (`exemptions.ts`). */
  readonly exemptions?: string;
  /** The change that the author of the client makes, as an imperative. */
  readonly remedy: string;
  /** False for a device that has no such duty, by what it sends. */
  readonly appliesToClient?: (client: ClientHistory) => boolean;
  /** The scene that tests it; absent if ordinary traffic does. */
  readonly scene?: SceneName;
  /** Returns what an event of a WebSocket shows: `met`, a violation, or nothing. */
  readonly socket?: (
    event: ClientSocketEvent,
    history: SocketHistory,
  ) => Violation | 'met' | undefined;
  readonly reaction?: Reaction;
  /** Why its scene may leave it inconclusive, as the end of a sentence about the scene. */
  readonly inconclusiveReason?: string;
  /** The scene whose end without a violation meets the duty. */
  readonly metAtEndOfScene?: SceneName;
  /** Returns what was observed so far; undefined if nothing was. */
  readonly observation?: (client: ClientHistory) => string | undefined;
}

/** A duty that an exchange breaks. */
export interface DutyFinding {
  readonly duty: string;
  readonly level: DutyLevel;
  readonly sentence: string;
  readonly source: string;
  /** Number of the exchange in the journal. */
  readonly journalEntry: number;
  /** ID of the operation. */
  readonly operation: string;
  /** The violation as a sentence. */
  readonly message: string;
  readonly remedy: string;
}
