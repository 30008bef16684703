/** The entries of a journal. */

import type { ExchangeRecord } from '../../http/exchange-record.ts';
import type { FrameRecord } from './frame.ts';
import type { UnreadableRecord } from './unreadable.ts';

/** One entry of a journal; `kind` tells them apart. */
export type JournalEntry = ExchangeRecord | FrameRecord | UnreadableRecord;

/** What entries tell of: a request with its answer, a websocket frame, what was no HTTP. */
export const entryKinds = ['exchange', 'frame', 'unreadable'] as const;
export type EntryKind = (typeof entryKinds)[number];
