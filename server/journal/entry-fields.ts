/** The common fields of journal entries. */

/** Fields that the journal itself needs. */
export interface EntryFields {
  /** Number of the entry in the order of its journal, from 1. */
  sequence: number;
  /** The size that was counted when the entry was added. The journal sets it. */
  countedBytes: number;
  /** The tenant's time, in milliseconds since the Unix epoch. */
  atMs: number;
  /** Approximate size in memory, in bytes. */
  readonly sizeBytes: number;
  /** Drops content that exceeds the limits. Called once, before the size is counted. */
  settle(): void;
}
