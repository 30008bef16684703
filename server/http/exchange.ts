/** One request with its response. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AdjustableClock } from '../../fixtures/base/adjustable-clock.ts';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import { ExchangeRecord } from './exchange-record.ts';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Request path as sent, without the query. */
  readonly path: string;
  /** Request query as sent, without the question mark. */
  readonly search: string;
  readonly requestId: string;
  /** Path parameters; empty until an operation matched. */
  parameters: Record<string, string>;
  /** The record of this exchange, complete when the exchange is over. */
  readonly record: ExchangeRecord;
  /** The clock of the response's Date header; the response writer's clock when absent. */
  clock?: AdjustableClock;
  /** Headers that are added to every response of this exchange. */
  addedHeaders?: readonly (readonly [string, string])[];
  /** The raw connection of an upgrade request, and the bytes already read from it. */
  readonly upgrade?: { readonly socket: Duplex; readonly head: Buffer };
}

/**
 * Scheme and authority of a target in absolute form, as proxies use it (RFC 9112, section 3.2.2).
 */
const absoluteForm = /^https?:\/\/[^/?]*/i;
const printableId = /^[\x20-\x7e]{1,256}$/;

/**
 * Splits a request's URL, and determines the request ID: the caller's ID, or a new one.
 * Spec: Error
 */
export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { headerNames, newRequestId }: { headerNames: VendorNames; newRequestId: () => string },
): Exchange {
  const url = originForm(request.url ?? '');
  // Express and the pagination links read the URL from the request.
  request.url = url;
  const mark = url.indexOf('?');
  const id = request.headers[headerNames.requestId.toLowerCase()];
  const requestId = typeof id === 'string' && printableId.test(id) ? id : newRequestId();
  return {
    request,
    response,
    path: mark < 0 ? url : url.slice(0, mark),
    search: mark < 0 ? '' : url.slice(mark + 1),
    requestId,
    parameters: noParameters,
    record: new ExchangeRecord(request, requestId),
  };
}

/** Returns the request target as a path with its query; removes scheme and authority if present. */
export function originForm(given: string): string {
  if (given.startsWith('/')) return given;
  const target = given.replace(absoluteForm, '');
  return target.startsWith('/') ? target : `/${target}`;
}

const noParameters: Record<string, string> = Object.freeze({});
