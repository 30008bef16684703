/**
 * Applies the variation to requests and responses: request IDs, IDs in paths, and how
 * responses are written.
 */
import type { Exchange } from '../http/exchange.ts';
import type { ResponseRewriter, UnsentResponse } from '../http/response.ts';
import { mountedOperations } from '../pipeline/endpoint.ts';
import type { ResponseTransform } from '../pipeline/plug-ins.ts';
import type { HeaderLine } from './response.ts';
import type { Variation } from './variation.ts';

/** Returns the response transform of the variation, which may be switched on and off. */
export function variationTransform(variation: Variation): ResponseTransform {
  const rewrite: ResponseRewriter = (exchange, unsentResponse) =>
    writeVaried(variation, exchange, unsentResponse);
  return {
    newRequestId: (uuid) => variation.newRequestId(uuid),
    readParameters: (operation, parameters) => variation.readParameters(operation, parameters),
    get rewrite() {
      return variation.isOn ? rewrite : undefined;
    },
  };
}

/**
 * Writes the varied response, and records the applied variations. A chunked body is sent in two
 * halves, which may split a character.
 */
function writeVaried(
  variation: Variation,
  exchange: Exchange,
  unsentResponse: UnsentResponse,
): void {
  const { record, requestId, response } = exchange;
  const { status, rawHeaders, body, isRequestIdGenerated } = unsentResponse;
  const headers = linesOf(rawHeaders);
  const isJson = typeof body === 'string' && isJsonType(headers);
  const { text, chunked, applied, ...varied } = variation.vary({
    operation: mountedOperations[record.operation ?? ''],
    requestId,
    isRequestIdGenerated,
    status,
    headers,
    ...(isJson && { body: JSON.parse(body) as unknown }),
  });
  const sentBody = text ?? body;
  const lines = varied.headers.flat();
  record.status = status;
  record.responseHeaders = lines;
  record.responseBody = sentBody;
  record.varied = applied;
  response.writeHead(status, lines);
  if (chunked && sentBody !== undefined) {
    const bytes = Buffer.from(sentBody);
    const middle = Math.ceil(bytes.length / 2);
    response.write(bytes.subarray(0, middle));
    response.end(bytes.subarray(middle));
  } else response.end(sentBody);
}

function linesOf(rawHeaders: UnsentResponse['rawHeaders']): HeaderLine[] {
  const lines: HeaderLine[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = String(rawHeaders[at]);
    const values = [rawHeaders[at + 1] ?? ''].flat();
    for (const value of values) lines.push([name, value]);
  }
  return lines;
}

function isJsonType(headers: readonly HeaderLine[]): boolean {
  return headers.some(
    ([name, value]) => name === 'Content-Type' && value.startsWith('application/json'),
  );
}
