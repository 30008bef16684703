/** The entries of a journal. */

import type { ExchangeRecord } from '../http/exchange-record.ts';
import type { FrameRecord } from './frame.ts';
import type { UnreadableRecord } from './unreadable.ts';

/** One entry of a journal, discriminated by `kind`. */
export type JournalEntry = ExchangeRecord | FrameRecord | UnreadableRecord;
