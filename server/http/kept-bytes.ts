/** How much of a body is kept. */

/** Bytes of each body that are kept; the rest is counted only. */
export const BODY_KEPT_BYTES = 16_384;

/** The beginning as a copy, so that the rest can go; what fits is kept as it is. */
export function keptBytes(bytes: Buffer): Buffer {
  return bytes.length <= BODY_KEPT_BYTES ? bytes : Buffer.from(bytes.subarray(0, BODY_KEPT_BYTES));
}

/** The beginning of a text in bytes; a text that fits is kept as it is. */
export function keptText(text: string): string | Buffer {
  // A part of a string would hold on to the whole of it.
  return text.length <= BODY_KEPT_BYTES / 4 || Buffer.byteLength(text) <= BODY_KEPT_BYTES
    ? text
    : keptBytes(Buffer.from(text.slice(0, BODY_KEPT_BYTES)));
}
