/** What every entry of a journal has, whatever it tells of. */

/** Fields that the journal itself needs. */
export interface EntryFields {
  /** Place in the order of all entries of a journal, from 1. */
  sequence: number;
  /** What it was counted with when it was added; set by the journal. */
  countedBytes: number;
  /** The tenant's time, milliseconds since the Unix epoch. */
  atMs: number;
  /** About what it costs to keep, in bytes. */
  readonly sizeBytes: number;
  /** Gives up what is beyond the bounds; called once, before it is counted. */
  settle(): void;
}
