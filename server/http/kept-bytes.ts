/** How much of a body is kept. */

/** Bytes kept of each body; the rest is only counted. */
export const BODY_KEPT_BYTES = 16_384;

/**
 * Returns the beginning as a copy, so that the rest can be freed; returns a short body as it is.
 */
export function keptBytes(bytes: Buffer): Buffer {
  return bytes.length <= BODY_KEPT_BYTES ? bytes : Buffer.from(bytes.subarray(0, BODY_KEPT_BYTES));
}

/** Returns the beginning of a text as bytes; a short text is returned as it is. */
export function keptText(text: string): string | Buffer {
  // A substring would keep the whole string in memory.
  return text.length <= BODY_KEPT_BYTES / 4 || Buffer.byteLength(text) <= BODY_KEPT_BYTES
    ? text
    : keptBytes(Buffer.from(text.slice(0, BODY_KEPT_BYTES)));
}
