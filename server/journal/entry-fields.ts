/** The common fields of journal entries. */

/** Fields that the journal itself needs. */
export interface EntryFields {
  /** Place in the order of all entries of a journal, from 1. */
  sequence: number;
  /** The counted size when it was added; set by the journal. */
  countedBytes: number;
  /** The tenant's time, milliseconds since the Unix epoch. */
  atMs: number;
  /** Approximate size in memory, in bytes. */
  readonly sizeBytes: number;
  /** Drops what exceeds the bounds; called once, before it is counted. */
  settle(): void;
}
