/**
 * Converts headers between the wire form (order, spelling, repetition) and the form for
 * alterations.
 */
import type { Headers } from '../target/exchange.ts';
import type { ProxiedMessage } from './defect.ts';

/** A flat list of alternating names and values, as in Node's `rawHeaders`. */
export type RawHeaders = readonly string[];

/** Returns the headers as alterations see them: names in lower case, repeated ones joined. */
export function seenHeaders(raw: RawHeaders): Headers {
  const headers: Record<string, string> = {};
  for (const [name, value] of pairsOf(raw)) {
    const key = name.toLowerCase();
    const earlierValue = headers[key];
    headers[key] = earlierValue === undefined ? value : `${earlierValue}, ${value}`;
  }
  return headers;
}

/**
 * Returns the wire headers after an alteration changed some; the others stay identical in every
 * byte.
 */
export function rewrittenHeaders(raw: RawHeaders, changed: Headers): string[] {
  const originalHeaders = seenHeaders(raw);
  const unchangedKeys = new Set<string>();
  const keptPairs = pairsOf(raw).flatMap(([name, value]) => {
    const key = name.toLowerCase();
    const changedValue = changed[key];
    if (changedValue === originalHeaders[key]) {
      unchangedKeys.add(key);
      return [name, value];
    }
    if (changedValue === undefined || unchangedKeys.has(key)) return [];
    unchangedKeys.add(key);
    return [name, changedValue];
  });
  const addedPairs = Object.entries(changed).filter(([key]) => !unchangedKeys.has(key));
  return [...keptPairs, ...addedPairs.flat()];
}

/**
 * Returns the headers of a changed message. A chunked message stays chunked. Any other gets the
 * length of its body as Content-Length, unless the alteration itself has set another length.
 */
export function framedHeaders(
  originalHeaders: Headers,
  { headers, body }: ProxiedMessage,
): Headers {
  const { 'content-length': reported, ...rest } = headers;
  if (rest['transfer-encoding'] !== undefined) return rest;
  if (reported !== originalHeaders['content-length']) return headers;
  const hadBody = reported !== undefined || originalHeaders['transfer-encoding'] !== undefined;
  return hadBody || body.length > 0 ? { ...rest, 'content-length': String(body.length) } : rest;
}

/** Removes the body headers, which a response without a body must not have. */
export function bodilessHeaders(headers: Headers): Headers {
  const { 'content-length': _, 'transfer-encoding': __, 'content-type': ___, ...rest } = headers;
  return rest;
}

function pairsOf(raw: RawHeaders): [name: string, value: string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [
    raw[2 * index] ?? '',
    raw[2 * index + 1] ?? '',
  ]);
}
