/** The entries of a journal. */
import type { ExchangeRecord } from '../http/exchange-record.ts';
import type { FrameRecord } from './frame.ts';
import type { UnparsableRecord } from './unparsable.ts';

/** One entry of a journal, discriminated by `kind`. */
export type JournalEntry = ExchangeRecord | FrameRecord | UnparsableRecord;
