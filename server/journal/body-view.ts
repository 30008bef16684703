/**
 * Decides how a stored body is shown: as a JSON value, as text, or in base64. Secrets are masked.
 */
import { parsedJson } from '../../fixtures/base/json.ts';
import { BODY_KEPT_BYTES } from '../http/exchange-record.ts';
import { isSecretBody, maskBytes, masked, maskJson, maskText } from '../http/masking.ts';

/** A body as a view shows it. */
export interface BodyView {
  /** A JSON value, a string, or the bytes in base64. */
  readonly value: unknown;
  readonly encoding: 'json' | 'text' | 'base64' | 'masked';
  /** Number of bytes shown, if the body was longer. */
  readonly cutAt?: number;
}

/** A stored body with its size and media type. */
interface StoredBody {
  readonly content: Buffer | string;
  /** Length of the whole body in bytes, even if only its beginning is stored. */
  readonly bytes: number;
  /** Value of Content-Type; empty if absent. */
  readonly mediaType: string;
}

/** Returns the view of a body, according to its headers; undefined if none was stored. */
export function viewOf(
  headers: readonly (string | readonly string[])[],
  content: Buffer | string | undefined,
  bytes: number,
): BodyView | undefined {
  if (content === undefined || content.length === 0) return undefined;
  return bodyView({ content, bytes, mediaType: headerOf(headers, 'content-type') });
}

/** Returns the first value of a header; empty if absent. */
export function headerOf(flat: readonly (string | readonly string[])[], name: string): string {
  for (let at = 0; at + 1 < flat.length; at += 2) {
    if (String(flat[at]).toLowerCase() === name) return String(flat[at + 1]);
  }
  return '';
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function bodyView({ content, bytes, mediaType }: StoredBody): BodyView {
  const buffer = Buffer.from(content);
  const isTruncated = bytes > buffer.length;
  const view = { ...shownAs(buffer, { isTruncated, mediaType }) };
  return isTruncated ? { ...view, cutAt: BODY_KEPT_BYTES } : view;
}

function shownAs(
  content: Buffer,
  { isTruncated, mediaType }: { isTruncated: boolean; mediaType: string },
): Pick<BodyView, 'value' | 'encoding'> {
  if (isSecretBody(mediaType)) return { value: masked, encoding: 'masked' };
  const text = textOf(content, isTruncated);
  if (text === undefined) {
    return { value: maskBytes(content).toString('base64'), encoding: 'base64' };
  }
  const json = isTruncated ? undefined : jsonOf(text);
  if (json !== undefined) return { value: maskJson(json), encoding: 'json' };
  return { value: maskText(text), encoding: 'text' };
}

function textOf(content: Buffer, isTruncated: boolean): string | undefined {
  // The cut may be in the middle of a character.
  const fitting = isTruncated ? content.subarray(0, lastWhole(content)) : content;
  try {
    return decoder.decode(fitting);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function lastWhole(content: Buffer): number {
  for (let back = 1; back <= 4; back += 1) {
    const byte = content[content.length - back] ?? 0;
    if (byte >= 0xc0) return content.length - back;
    if (byte < 0x80) return content.length;
  }
  return content.length;
}

/**
 * Returns the JSON value of a string; undefined if it is not JSON. The first character excludes most
 * other texts, which is cheaper than an exception.
 */
function jsonOf(text: string): unknown {
  return /^\s*[[{"\dtfn-]/.test(text) ? parsedJson(text) : undefined;
}
