/** One request with its answer, from the first byte to the last. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { SteeredClock } from '../../fixtures/steered-clock.ts';
import { ExchangeRecord } from './exchange-record.ts';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Path as sent, without the query. */
  readonly path: string;
  /** Query as sent, without the question mark. */
  readonly search: string;
  readonly requestId: string;
  /** Parameters of the path, once the operation is matched. */
  parameters: Record<string, string>;
  /** Its record, complete once the exchange is over. */
  readonly record: ExchangeRecord;
  /** The clock of the answer's Date; the writer's own when absent. */
  clock?: SteeredClock;
  /** Headers added to any answer. */
  notices?: readonly (readonly [string, string])[];
  /** The raw connection of an upgrade request, and the bytes already read from it. */
  readonly upgrade?: { readonly socket: Duplex; readonly head: Buffer };
}

/** The target form used by proxies (RFC 9112, section 3.2.2); the path follows. */
const absoluteForm = /^https?:\/\/[^/?]*/i;
const printableId = /^[\x20-\x7e]{1,256}$/;

/** Splits a request's URL and determines its id: the caller's own, or a new one. Spec: Error */
export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { names, newRequestId }: { names: VendorNames; newRequestId: () => string },
): Exchange {
  const url = originForm(request.url ?? '');
  // Express and the links of a list read it from here.
  request.url = url;
  const mark = url.indexOf('?');
  const id = request.headers[names.requestId.toLowerCase()];
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

/** The target as a path with its query, whatever its form. */
export function originForm(given: string): string {
  if (given.startsWith('/')) return given;
  const target = given.replace(absoluteForm, '');
  return target.startsWith('/') ? target : `/${target}`;
}

const noParameters: Record<string, string> = Object.freeze({});
