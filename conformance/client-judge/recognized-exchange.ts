/** Recognizes what a request of a device is, and reads it for the duties. */
import { apiPrefixes } from '../../fixtures/contract/deprecations.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { defaultHeaderPrefix, vendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { ClientExchange, HeaderList } from '../../fixtures/control/client-event.ts';
import { JudgedExchange } from '../passive/judged-exchange.ts';
import { recognizeRequest } from '../target/operation-at.ts';
import type { ClientHistory } from './client-history.ts';
import { isDeviceOperation, linkOf } from './exchange-facts.ts';

const { requestId: requestIdHeader } = vendorNames(defaultHeaderPrefix);

/** The operations that devices call, by ID. */
const deviceRows = new Map<string, Operation>(
  Object.entries({ ...operations, ...storageOperations }).filter(([, row]) =>
    isDeviceOperation(row),
  ),
);
const download = storageOperations['download-artifact'];

/** Stands for a request that no operation takes. */
const UNKNOWN_OPERATION = 'unknown';
const unknownRow: Operation = {
  ...operations['list-artifacts'],
  id: UNKNOWN_OPERATION,
  authorization: 'secret',
};

/** Returns the operation of an exchange; undefined for one that is no business of devices. */
export function rowOf(
  event: ClientExchange,
  client: ClientHistory | undefined,
): Operation | undefined {
  const { method, url } = event;
  if (!URL.canParse(url)) return undefined;
  const { pathname } = new URL(url);
  const starts = Object.values(apiPrefixes).map((prefix) => pathname.indexOf(prefix));
  const { row, rowsAtPath } = recognizeRequest(method, pathname.slice(Math.max(0, ...starts)));
  const deviceRow = row ? deviceRows.get(row.id) : undefined;
  if (deviceRow) return deviceRow;
  // A link points to wherever the server stores its files, and is used with GET only.
  const link = rowsAtPath.find(({ authorization }) => authorization === 'link');
  if (link) return deviceRows.get(link.id);
  if ((client?.deployments.offers.values ?? []).some((offer) => offer.link === linkOf(url)))
    return download;
  return row === undefined && pathname.includes(apiPrefixes.device) ? unknownRow : undefined;
}

/** Returns an exchange as duties look at it. */
export function judgedExchange(row: Operation, event: ClientExchange): JudgedExchange {
  const { status, sentMs, endedMs, url, requestBody: body, responseBody } = event;
  const headers = flat(event.requestHeaders);
  const bytes = responseBody ?? Buffer.alloc(0);
  const response = {
    status,
    headers: flat(event.responseHeaders),
    bytes,
    text: bytes.toString('utf8'),
  };
  const isChunked = /chunked/i.test(headers['transfer-encoding'] ?? '');
  const bodyBytes = body?.length ?? Number(headers['content-length'] ?? 0);
  return new JudgedExchange(
    row,
    { url, headers, body, bodyBytes, isChunked, sentMs, endedMs },
    { response, requestIdHeader, isWhole: responseBody !== undefined },
  );
}

function flat(headers: HeaderList): Readonly<Record<string, string>> {
  const valuesByKey = new Map<string, string>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const earlierValue = valuesByKey.get(key);
    valuesByKey.set(key, earlierValue === undefined ? value : `${earlierValue}, ${value}`);
  }
  return Object.fromEntries(valuesByKey);
}
