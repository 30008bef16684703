/** The journal of a tenant: the newest exchanges, limited by number and by bytes. */
import {
  type OnSubscriptionEnd,
  type Subscriber,
  Subscribers,
} from '../../fixtures/base/subscribers.ts';
import type { ExchangeRecord } from '../http/exchange-record.ts';
import type { JournalEntry } from './entry.ts';
import { PackedExchange } from './packed-exchange.ts';
import { Slabs } from './slabs.ts';

/** The limits of a journal. The oldest entry is dropped first. */
export interface JournalBounds {
  /** Maximum number of entries; 0 turns the journal off. */
  readonly entriesMax: number;
  readonly bytesMax: number;
}

/** Counts of a journal's entries. */
export interface JournalSize {
  readonly added: number;
  readonly kept: number;
  /** Approximate size of the stored entries in bytes. */
  readonly bytes: number;
  /** Number of entries that were dropped because of the limits. */
  readonly dropped: number;
}

/** A stored entry. Nearly all exchanges are packed, so that they need no objects of their own. */
type StoredEntry = JournalEntry | PackedExchange;

/** Stores entries in a ring in their order. Adding an entry takes constant time. */
export class Journal {
  readonly bounds: JournalBounds;
  readonly #ring: (StoredEntry | undefined)[];
  /** One object for each place in the ring, reused for later exchanges. */
  readonly #packed: PackedExchange[] = [];
  #slabs = new Slabs();
  readonly #subscribers = new Subscribers<JournalEntry>();
  #added = 0;
  #kept = 0;
  #bytes = 0;
  #dropped = 0;

  constructor(bounds: JournalBounds) {
    this.bounds = bounds;
    this.#ring = new Array<StoredEntry | undefined>(bounds.entriesMax);
  }

  /** True if the journal stores nothing. */
  get isOff(): boolean {
    return this.bounds.entriesMax === 0;
  }

  get size(): JournalSize {
    return {
      added: this.#added,
      kept: this.#kept,
      bytes: this.#bytes,
      dropped: this.#dropped,
    };
  }

  add(entry: JournalEntry): void {
    if (this.isOff) return;
    if (this.#kept === this.bounds.entriesMax) this.#dropOldest();
    this.#added += 1;
    entry.settle();
    entry.sequence = this.#added;
    const storedEntry = this.#keptOf(entry);
    this.#ring[this.#added % this.bounds.entriesMax] = storedEntry;
    this.#kept += 1;
    this.#bytes += storedEntry.countedBytes;
    while (this.#bytes > this.bounds.bytesMax && this.#kept > 1) this.#dropOldest();
    this.#subscribers.publish(entry);
  }

  /** Yields the stored entries after the sequence number `afterSequence`, oldest first. */
  *entries(afterSequence = 0): Generator<JournalEntry> {
    const first = Math.max(afterSequence, this.#added - this.#kept) + 1;
    for (let sequence = first; sequence <= this.#added; sequence += 1) {
      const entry = this.at(sequence);
      if (entry) yield entry;
    }
  }

  /** Yields the stored entries, newest first. */
  *newestFirst(): Generator<JournalEntry> {
    const oldest = this.#added - this.#kept + 1;
    for (let sequence = this.#added; sequence >= oldest; sequence -= 1) {
      const entry = this.at(sequence);
      if (entry) yield entry;
    }
  }

  /** Returns the entry with a sequence number; undefined if it is not stored. */
  at(sequence: number): JournalEntry | undefined {
    const storedEntry = this.#ring[sequence % this.bounds.entriesMax];
    if (storedEntry?.sequence !== sequence) return undefined;
    return storedEntry.kind === 'packed' ? storedEntry.unpacked() : storedEntry;
  }

  /** Returns the newest exchange with this request ID. */
  find(requestId: string): ExchangeRecord | undefined {
    const oldest = this.#added - this.#kept + 1;
    for (let sequence = this.#added; sequence >= oldest; sequence -= 1) {
      const storedEntry = this.#ring[sequence % this.bounds.entriesMax];
      if (storedEntry?.kind === 'packed' && storedEntry.isOf(requestId))
        return storedEntry.unpacked();
      if (storedEntry?.kind === 'exchange' && storedEntry.requestId === requestId)
        return storedEntry;
    }
    return undefined;
  }

  /**
   * Calls the subscriber for every later entry.
   * @returns a function that ends the subscription
   */
  subscribe(subscriber: Subscriber<JournalEntry>, ended: OnSubscriptionEnd): () => void {
    return this.#subscribers.add(subscriber, ended);
  }

  /** Removes all entries. Sequence numbers continue. */
  clear(): void {
    this.#ring.fill(undefined);
    this.#packed.length = 0;
    this.#slabs = new Slabs();
    this.#kept = 0;
    this.#bytes = 0;
  }

  #keptOf(entry: JournalEntry): StoredEntry {
    if (entry.kind === 'exchange' && !entry.fault && !entry.varied) {
      const slot = this.#added % this.bounds.entriesMax;
      const packed = this.#packed[slot] ?? new PackedExchange();
      this.#packed[slot] = packed;
      packed.pack(entry, this.#slabs);
      return packed;
    }
    entry.countedBytes = entry.sizeBytes;
    return entry;
  }

  #dropOldest(): void {
    const slot = (this.#added - this.#kept + 1) % this.bounds.entriesMax;
    const storedEntry = this.#ring[slot];
    this.#bytes -= storedEntry?.countedBytes ?? 0;
    if (storedEntry?.kind === 'packed') storedEntry.release(this.#slabs);
    this.#ring[slot] = undefined;
    this.#kept -= 1;
    this.#dropped += 1;
  }
}
