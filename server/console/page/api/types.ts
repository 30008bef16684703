/** The responses of the control API, by the names that the page uses. */
import type { AnswerOf } from '../../../../fixtures/control/operations.ts';

export type DeviceView = AnswerOf<'GET /devices'>['devices'][number];
export type Overview = AnswerOf<'GET /overview'>;
export type RequestCountsView = AnswerOf<'GET /request-counts'>;

/** An entry of the journal. It includes bodies only if the entry was requested completely. */
export type EntryView = AnswerOf<'GET /journal/stream'>;

/** The explanation of a poll: why the device gets no update, or that it gets one. */
export type NoUpdateView = AnswerOf<'GET /explanations'>;

/** The explanation of a refused request: the reason, and a form that would succeed. */
export type RefusalView = Exclude<AnswerOf<'GET /explanations/{requestId}'>, NoUpdateView>;

/** A finding of the signature doctor. */
export type SignatureFinding = AnswerOf<'POST /doctor/signature'>;
