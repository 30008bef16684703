/**
 * The one place that hides secrets: whatever leaves a journal goes through here. What is masked by
 * its name stays as `[masked]`; tokens, private keys and signatures of links are known by their form
 * wherever they stand. What users type into a terminal has neither, and is shown.
 */
import { tokenMediaType } from '../../fixtures/contract/operations.ts';

/** A view of anything nested deeper would need more stack than there is. */
const DEPTH_MAX = 64;

/** Of a name without quotes; what is longer counts by its end. */
const NAME_MAX = 60;

/** What stands in place of a secret. */
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
/** They only sound so: what one may know of a token, and what artifacts are signed with. */
const harmlessName =
  /^(tokens?_?(id|ids|type|name|count|max|lifetime.*|expir.*)|.*_(expires?_(in|at|ts)|ttl))$/i;

/*
 * Texts come from strangers, so no expression may read a stretch again and again: what could fail
 * only after a long stretch is optional instead, and `replace` leaves alone what has no such end.
 */

const jsonWebToken = /\beyJ[\w-]{4,}(\.[\w-]+\.[\w-]*)?/g;
const privateKey =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(-----END [A-Z0-9 ]*-----|$)/g;
const basicOrBearer = /\b(basic|bearer)( +|%20)[\w.~+/=-]+/gi;
/** A parameter of a query or a form, wherever in a text. */
const parameter = /(^|[?&;\s])([^\s?&;=#"'<>\\]{1,200})=([^\s&;#"'<>\\]*)/g;
/** A member of what is JSON, nearly JSON, or a piece of it. */
const member =
  /((["'])[\w. -]{0,60}?\2|[\w.-]+)(?:(\s{0,20}:\s{0,20})("(?:[^"\\]|\\.)*(?:"|\\?$)|'(?:[^'\\]|\\.)*(?:'|\\?$)|[^\s,;{}[\]]+)|(?<=[\w.-]))/g;
/** The same within a text of JSON that is itself a text of JSON. */
const escapedMember = /\\"([\w. -]{1,60})\\"(\s*:\s*)\\"((?:[^"\\]|\\\\.)*)(?:\\"|\\?$)/g;
/** An attribute, whose name and value are two members of one object in either order. */
const attribute =
  /("name"\s{0,20}:\s{0,20}"([^"\\]{1,100})"[^{}]{0,300}?"value"\s{0,20}:\s{0,20})("(?:[^"\\]|\\.)*(?:"|\\?$)|[^\s",}\]]+)/g;
const attributeTurned =
  /("value"\s{0,20}:\s{0,20})("(?:[^"\\]|\\.)*"|[^\s",}\]]+(?![^\s",}\]]))([^{}]{0,300}?"name"\s{0,20}:\s{0,20}"([^"\\]{1,100})")/g;
/** A part of a form: its headers, and after a blank line its body. */
const part = /(name="([^"]{1,200})"[^\r\n]*(?:\r?\n[^\r\n]+)*)(\r?\n\r?\n[\s\S]*?(?=\r?\n--|$))?/g;

const blankLine = /^\r?\n\r?\n/;

/** Whether the value of this name is a secret. */
export function isSecretName(name: string): boolean {
  return secretWord.test(name) && !harmlessName.test(name);
}

/** The text without what is known by its form or by the name in front of it. */
export function maskText(text: string): string {
  return text
    .replace(privateKey, masked)
    .replace(jsonWebToken, (whole, rest?: string) => (rest === undefined ? whole : masked))
    .replace(basicOrBearer, (_, scheme: string) => `${scheme} ${masked}`)
    .replace(part, (whole, head: string, name: string, body?: string) =>
      body !== undefined && isSecretName(name) ? head + blankLine.exec(body)?.[0] + masked : whole,
    )
    .replace(attribute, (whole, head: string, name: string) =>
      isSecretName(name) ? `${head}"${masked}"` : whole,
    )
    .replace(attributeTurned, (whole, head: string, _value, rest: string, name: string) =>
      isSecretName(name) ? `${head}"${masked}"${rest}` : whole,
    )
    .replace(escapedMember, (whole, name: string, between: string) =>
      isSecretName(name) ? `\\"${name}\\"${between}\\"${masked}\\"` : whole,
    )
    .replace(member, (whole, name: string, _quote, between?: string, value = '') =>
      between !== undefined &&
      isSecretName(name.slice(-NAME_MAX).replace(/["']/g, '')) &&
      !isMaskedAlready(value)
        ? `${name}${between}"${masked}"`
        : whole,
    )
    .replace(parameter, (whole, before: string, name: string) =>
      isSecretName(decoded(name)) ? `${before}${name}=${masked}` : whole,
    );
}

/** The same for bytes that are no text: what is known by its form is plain ASCII. */
export function maskBytes(bytes: Uint8Array): Buffer {
  return Buffer.from(maskText(Buffer.from(bytes).toString('latin1')), 'latin1');
}

/** Each header with its value, secrets masked; an array has a line for each value. */
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

/** The signature of a request is no secret: whoever has it can only repeat the request. */
function isSecretHeader(name: string): boolean {
  return isSecretName(name.replaceAll('-', '_')) && !/signature$/i.test(name);
}

/** The value of a JSON text with the values of secret names masked, down to `DEPTH_MAX` levels. */
export function maskJson(value: unknown, isSecret = false, depth = 0): unknown {
  if (depth > DEPTH_MAX) return '[left out: nested too deep]';
  if (typeof value === 'string') return isSecret ? masked : maskText(value);
  if (typeof value === 'number') return isSecret ? masked : value;
  // Of msgpack, which knows more than JSON.
  if (typeof value === 'bigint') return isSecret ? masked : String(value);
  if (value instanceof Uint8Array) {
    return isSecret ? masked : maskBytes(value).toString('base64');
  }
  if (Array.isArray(value)) return value.map((one) => maskJson(one, isSecret, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  // An attribute has its name in one member, its value in another.
  const { name } = value as { name?: unknown };
  const isAttribute = typeof name === 'string' && isSecretName(name);
  const members = Object.entries(value).map(([key, member]): [string, unknown] => {
    const isHidden = isSecret || isSecretName(key) || (isAttribute && key === 'value');
    return [key, maskJson(member, isHidden, depth + 1)];
  });
  // Not by assignment: a member may be named __proto__.
  return Object.fromEntries(members);
}

/** Whether a whole body is a secret: tokens come as bare texts. */
export function isSecretBody(mediaType: string): boolean {
  return mediaType.toLowerCase().startsWith(tokenMediaType);
}

function isMaskedAlready(value: string): boolean {
  return value.startsWith('[masked') || value.startsWith(`"${masked}`);
}

/** A name may be spelled with escapes. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch (fault) {
    if (fault instanceof URIError) return name;
    throw fault;
  }
}
