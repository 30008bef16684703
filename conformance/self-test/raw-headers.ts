/** Headers as on the wire (order, spelling, repetition) and as hooks see them. */
import type { Headers } from '../target/exchange.ts';
import type { Message } from './defect.ts';

/** Name, value, name, value …, as in Node's `rawHeaders`. */
export type RawHeaders = readonly string[];

/** Returns the headers as hooks see them: names in lower case, repeated ones joined. */
export function seenHeaders(raw: RawHeaders): Headers {
  const seen: Record<string, string> = {};
  for (const [name, value] of pairsOf(raw)) {
    const key = name.toLowerCase();
    const before = seen[key];
    seen[key] = before === undefined ? value : `${before}, ${value}`;
  }
  return seen;
}

/** Returns the wire headers after a change of the seen ones; unchanged ones stay byte by byte. */
export function rewrittenHeaders(raw: RawHeaders, changed: Headers): string[] {
  const before = seenHeaders(raw);
  const written = new Set<string>();
  const kept = pairsOf(raw).flatMap(([name, value]) => {
    const key = name.toLowerCase();
    const now = changed[key];
    if (now === before[key]) {
      written.add(key);
      return [name, value];
    }
    if (now === undefined || written.has(key)) return [];
    written.add(key);
    return [name, now];
  });
  const added = Object.entries(changed).filter(([key]) => !written.has(key));
  return [...kept, ...added.flat()];
}

/**
 * Returns the headers of a changed message with a known body: chunked if it was, otherwise with its
 * length, unless the hook itself sets another length.
 */
export function framedHeaders(before: Headers, { headers, body }: Message): Headers {
  const { 'content-length': reported, ...rest } = headers;
  if (rest['transfer-encoding'] !== undefined) return rest;
  if (reported !== before['content-length']) return headers;
  const hadBody = reported !== undefined || before['transfer-encoding'] !== undefined;
  return hadBody || body.length > 0 ? { ...rest, 'content-length': String(body.length) } : rest;
}

/** Removes the body headers, which an answer without a body must not have. */
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
