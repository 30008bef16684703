/** The entries of a journal. */

import type { ExchangeRecord } from '../http/exchange-record.ts';
import type { FrameRecord } from './frame.ts';
import type { UnreadableRecord } from './unreadable.ts';

/** One entry of a journal, discriminated by `kind`. */
export type JournalEntry = ExchangeRecord | FrameRecord | UnreadableRecord;

/** The kinds of entries: a request with its answer, a websocket frame, bytes that were not HTTP. */
export const entryKinds = ['exchange', 'frame', 'unreadable'] as const;
export type EntryKind = (typeof entryKinds)[number];
