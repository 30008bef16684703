/** The responses of the control API, by the names that the page uses. */
import type { ResponseOf } from '../../../../fixtures/control/operations.ts';

export type DeviceView = ResponseOf<'GET /devices'>['devices'][number];
export type Overview = ResponseOf<'GET /overview'>;
export type RequestCountsView = ResponseOf<'GET /request-counts'>;

/** An entry of the journal. It includes bodies only if the entry was requested completely. */
export type EntryView = ResponseOf<'GET /journal/stream'>;

/** The explanation of a poll: why the device gets no update, or that it gets one. */
export type NoUpdateView = ResponseOf<'GET /explanations'>;

/** The explanation of a refused request: the reason, and a request that would succeed. */
export type RefusalView = Exclude<ResponseOf<'GET /explanations/{requestId}'>, NoUpdateView>;

/** A finding of the signature doctor. */
export type SignatureFinding = ResponseOf<'POST /doctor/signature'>;
