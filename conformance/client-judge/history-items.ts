/**
 * The items in the history of a device: offers, reactions that are due, failures, waits and
 * authentication requests.
 */
import type { DownloadProgress } from './download-progress.ts';
import type { Times } from './exchange-facts.ts';

/** Maximum number of recorded items of each kind; a new item replaces the oldest. */
export const ITEMS_MAX = 8;

/** A reaction that is due. */
export interface DueReaction {
  /** Number of the event since which it is due, and its time. */
  readonly journalEntry: number;
  readonly sinceMs: number;
  /** Number of exchanges of the device since then. */
  exchanges: number;
  /** Number of polls of the device since then. */
  polls: number;
}

/** A deployment that was offered to the device. */
export interface Offer {
  readonly id: string;
  /** The operation and the data of the request to which it was offered; undefined if it is long. */
  readonly operation: string;
  readonly pollText: string | undefined;
  /** The artifact that the device had then, and the one that is offered. */
  readonly formerName: unknown;
  readonly name: unknown;
  readonly isConfiguration: boolean;
  /** False if the types of the artifact lack the type of the device. */
  readonly isForType: boolean;
  /**
   * States in which the control map pauses, as the device knows; undefined if there is no map, or
   * it is not for the device.
   */
  pauses: readonly string[] | undefined;
  /** The link to the file, as `linkOf` returns it; undefined if the instructions had none. */
  readonly link: string | undefined;
  /** Digests of the targets of the links that were given, the newest last. */
  readonly linkDigests: readonly string[];
  readonly offeredMs: number;
  readonly progress: DownloadProgress;
  /** Statuses that were reported, in order, up to a limit, and those before the first download. */
  readonly reports: unknown[];
  reportsBeforeDownload: readonly unknown[];
  /** Number of times that its control map was fetched since the last report. */
  mapFetches: number;
  /** The final status that was reported and accepted. */
  final: unknown;
  /** True if the device got the response that accepted it, and when that was complete. */
  isFinalKnown: boolean;
  endedMs: number | undefined;
  /**
   * Number of reports that were answered with 409, and when the first such response was complete.
   */
  conflicts: number;
  conflictMs: number | undefined;
  isConflictOfFinal: boolean;
  /** True once a response has said that the deployment is finished for the device: 404, 409, or no update. */
  isWithdrawn: boolean;
  hasLog: boolean;
}

/** The last poll; a repeat changes its times. */
export interface LastPoll extends Pick<Offer, 'pollText' | 'operation'> {
  sentMs: number;
  endedMs: number;
  readonly status: number;
}

/** A fetch of a control map. */
export interface LastMapFetch extends Times {
  readonly deploymentId: string;
  /** The number of fetches of this map in a row that followed one hastily. */
  readonly tooFrequentCount: number;
  /** True if it brought a map. */
  readonly isRead: boolean;
}

/** A request that the server asked to repeat later. */
export interface Wait extends Times {
  readonly seconds: number;
}

/**
 * Requests of one operation in a row that failed: 429, 5xx, or a cut connection. Those after a
 * Retry-After are not counted.
 */
export interface FailureRun extends Times {
  readonly count: number;
  readonly tooFrequentCount: number;
  readonly firstPauseMs: number | undefined;
  /** The longest pause after the first one. */
  readonly longestPauseMs: number;
}

/** A log that was answered with 413 or 400. */
export interface RefusedLog {
  readonly content: string;
  readonly bytes: number;
  readonly status: number;
  /** How often it was sent in a row, unchanged or no shorter. */
  readonly times: number;
  readonly endedMs: number;
}

/** The identity and the key of an authentication request, and the token of its response. */
export interface Authentication extends Times {
  readonly status: number;
  readonly isAnswered: boolean;
  readonly identity: string | undefined;
  readonly key: string | undefined;
  readonly tenantToken: unknown;
}
