/**
 * Masks secrets; all output of a journal passes through here. Values of secret names are replaced
 * by `[masked]`; tokens, private keys and signatures of links are recognized by their form
 * anywhere. Terminal input has neither a name nor such a form, and is shown.
 */
import { tokenMediaType } from '../../fixtures/contract/operations.ts';

/** Limits recursion: deeper nesting would overflow the stack. */
const DEPTH_MAX = 64;

/** Maximum length of an unquoted name; of a longer name only the end is examined. */
const NAME_MAX = 60;

/** The text that replaces a secret. */
export const masked = '[masked]';

const secretHeaders = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
]);

/** Names of members, parameters and attributes whose values are secrets. */
const secretWord =
  /pass(word|wd|phrase)|secret|token|jwt|signature|private_?key|credential|api_?key|^(pwd|cookie|authorization|set-cookie)$/i;
/**
 * Names that match `secretWord` but are not secret: metadata of tokens, and signatures of
 * artifacts.
 */
const harmlessName =
  /^(tokens?_?(id|ids|type|name|count|max|lifetime.*|expir.*)|.*_(expires?_(in|at|ts)|ttl))$/i;

/**
 * The expressions below run on text of untrusted clients, so none may scan a stretch of text
 * repeatedly. A final part that could fail after a long stretch is therefore optional, and
 * `replace` leaves matches without that part unchanged.
 */

const jsonWebToken = /\beyJ[\w-]{4,}(\.[\w-]+\.[\w-]*)?/g;
const privateKey =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(-----END [A-Z0-9 ]*-----|$)/g;
const basicOrBearer = /\b(basic|bearer)( +|%20)[\w.~+/=-]+/gi;
/** A parameter of a query or form, anywhere in a string. */
const parameter = /(^|[?&;\s])([^\s?&;=#"'<>\\]{1,200})=([^\s&;#"'<>\\]*)/g;
/** A base64 text ends with `=`; the text before it may happen to contain a secret word. */
const padding = /^=?$/;
/** A member of JSON, also of malformed or incomplete JSON. */
const member =
  /((["'])[\w. -]{0,60}?\2|[\w.-]+)(?:(\s{0,20}:\s{0,20})("(?:[^"\\]|\\.)*(?:"|\\?$)|'(?:[^'\\]|\\.)*(?:'|\\?$)|[^\s,;{}[\]]+)|(?<=[\w.-]))/g;
/** A member of JSON that is itself encoded in a JSON string. */
const escapedMember = /\\"([\w. -]{1,60})\\"(\s*:\s*)\\"((?:[^"\\]|\\\\.)*)(?:\\"|\\?$)/g;
/** An inventory attribute: name and value are two members of one object, in either order. */
const attribute =
  /("name"\s{0,20}:\s{0,20}"([^"\\]{1,100})"[^{}]{0,300}?"value"\s{0,20}:\s{0,20})("(?:[^"\\]|\\.)*(?:"|\\?$)|[^\s",}\]]+)/g;
const attributeTurned =
  /("value"\s{0,20}:\s{0,20})("(?:[^"\\]|\\.)*"|[^\s",}\]]+(?![^\s",}\]]))([^{}]{0,300}?"name"\s{0,20}:\s{0,20}"([^"\\]{1,100})")/g;
/** A part of a multipart form: its headers, a blank line, and its body. */
const part = /(name="([^"]{1,200})"[^\r\n]*(?:\r?\n[^\r\n]+)*)(\r?\n\r?\n[\s\S]*?(?=\r?\n--|$))?/g;

const blankLine = /^\r?\n\r?\n/;

/** Returns true when a value of this name is a secret. */
export function isSecretName(name: string): boolean {
  return secretWord.test(name) && !harmlessName.test(name);
}

/**
 * Returns the text with secrets masked; secrets are recognized by their form or by the name before
 * them.
 */
export function maskText(text: string): string {
  return text
    .replace(privateKey, masked)
    .replace(jsonWebToken, (whole, furtherParts?: string) =>
      furtherParts === undefined ? whole : masked,
    )
    .replace(basicOrBearer, (_, scheme: string) => `${scheme} ${masked}`)
    .replace(part, (whole, head: string, name: string, body?: string) =>
      body !== undefined && isSecretName(name) ? head + blankLine.exec(body)?.[0] + masked : whole,
    )
    .replace(attribute, (whole, head: string, name: string) =>
      isSecretName(name) ? `${head}"${masked}"` : whole,
    )
    .replace(attributeTurned, (whole, head: string, _value, tail: string, name: string) =>
      isSecretName(name) ? `${head}"${masked}"${tail}` : whole,
    )
    .replace(escapedMember, (whole, name: string, between: string) =>
      isSecretName(name) ? `\\"${name}\\"${between}\\"${masked}\\"` : whole,
    )
    .replace(member, (match, name: string, _quote, between?: string, value = '') =>
      between !== undefined &&
      isSecretName(name.slice(-NAME_MAX).replace(/["']/g, '')) &&
      !isMaskedAlready(value)
        ? `${name}${between}"${masked}"`
        : match,
    )
    .replace(parameter, (whole, head: string, name: string, value: string) =>
      isSecretName(decodeName(name)) && !padding.test(value) ? `${head}${name}=${masked}` : whole,
    );
}

/** Masks secrets in binary data: the patterns that are recognized are plain ASCII. */
export function maskBytes(bytes: Uint8Array): Buffer {
  return Buffer.from(maskText(Buffer.from(bytes).toString('latin1')), 'latin1');
}

/**
 * Returns each header as a name and a value, with secrets masked; an array yields one entry per
 * value.
 */
export function maskHeaders(
  flat: readonly (string | readonly string[])[],
): [name: string, value: string][] {
  const lines: [string, string][] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const name = String(flat[at]);
    for (const value of [flat[at + 1] ?? ''].flat()) lines.push([name, maskHeader(name, value)]);
  }
  return lines;
}

function maskHeader(name: string, value: string): string {
  const isSecret = secretHeaders.has(name.toLowerCase()) || isSecretHeader(name);
  return isSecret ? masked : maskText(value);
}

/** The signature of a request is not a secret: it only allows the same request to be repeated. */
function isSecretHeader(name: string): boolean {
  return isSecretName(name.replaceAll('-', '_')) && !/signature$/i.test(name);
}

/** Returns a JSON value with the values of secret names masked, down to `DEPTH_MAX` levels. */
export function maskJson(value: unknown, isSecret = false, depth = 0): unknown {
  if (depth > DEPTH_MAX) return '[left out: nested too deep]';
  if (typeof value === 'string') return isSecret ? masked : maskText(value);
  if (typeof value === 'number') return isSecret ? masked : value;
  // Values of msgpack, which has more types than JSON.
  if (typeof value === 'bigint') return isSecret ? masked : String(value);
  if (value instanceof Uint8Array) {
    return isSecret ? masked : maskBytes(value).toString('base64');
  }
  if (Array.isArray(value)) return value.map((one) => maskJson(one, isSecret, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  // An inventory attribute has its name in one member and its value in another.
  const { name } = value as { name?: unknown };
  const isAttribute = typeof name === 'string' && isSecretName(name);
  const members = Object.entries(value).map(([key, member]): [string, unknown] => {
    const isHidden = isSecret || isSecretName(key) || (isAttribute && key === 'value');
    return [key, maskJson(member, isHidden, depth + 1)];
  });
  // `fromEntries` instead of assignment, because a member may be named __proto__.
  return Object.fromEntries(members);
}

/**
 * Returns true when the whole body of this media type is a secret: tokens are sent as plain text.
 */
export function isSecretBody(mediaType: string): boolean {
  return mediaType.toLowerCase().startsWith(tokenMediaType);
}

function isMaskedAlready(value: string): boolean {
  return value.startsWith('[masked') || value.startsWith(`"${masked}`);
}

/** Decodes percent-escapes in a name; returns a malformed name unchanged. */
function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch (error) {
    if (error instanceof URIError) return name;
    throw error;
  }
}
