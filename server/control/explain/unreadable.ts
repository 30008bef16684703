/** Explaining what came to the protocol listener and was no HTTP. */
import { Refusal } from '../../http/refusal.ts';
import type { UnreadableRecord } from '../journal/unreadable.ts';
import type { RefusedRecord } from './explain.ts';

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/** The record of such a request, as far as it can be told. */
export function refusedRecord(record: UnreadableRecord): RefusedRecord {
  const { atMs, requestId, code, status, line } = record;
  const [method = 'GET', url = '/'] = line?.split(' ') ?? [];
  const told = `the request cannot be read as HTTP: ${reasons[status] ?? status}`;
  return {
    atMs,
    requestId,
    method,
    url,
    headers: [],
    body: undefined,
    bodyBytes: 0,
    operation: undefined,
    refusal: new Refusal(status, told, {
      detail: {
        path: 'request',
        expected: 'a request of HTTP/1.1 (RFC 9112)',
        actual: `${code}${line === undefined ? '' : ` after ${line}`}`,
        rule: 'A request must follow RFC 9112, within the limits of time and size.',
      },
    }),
  };
}
