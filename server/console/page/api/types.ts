/** The responses of the control API, by the names that the page uses. */
import type { AnswerOf } from '../../../../fixtures/control/operations.ts';

export type DeviceView = AnswerOf<'GET /devices'>['devices'][number];
export type Overview = AnswerOf<'GET /overview'>;
export type RequestCounts = AnswerOf<'GET /request-counts'>;

/** An entry of the journal; with a body only if it was requested whole. */
export type Entry = AnswerOf<'GET /journal/stream'>;

/** Why a device gets no update, or that it gets one. */
export type NoUpdate = AnswerOf<'GET /explanations'>;

/** Why a request was refused, and how it would succeed. */
export type Refused = Exclude<AnswerOf<'GET /explanations/{requestId}'>, NoUpdate>;

/** What the signature doctor found. */
export type SignatureFinding = AnswerOf<'POST /doctor/signature'>;
