/** Hostile values, drawn by a seed: texts, JSON, nested and large bodies. */
import fc from 'fast-check';

const words = [
  ...['', ' ', '\u0000', 'a\u0000b', '\ud83d', '\u{FEFF}', '__proto__', 'constructor', 'toString'],
  ...['../../etc/passwd', '%', '%00', '%2e%2e%2f', "'; DROP TABLE devices; --", '=1+1', '\r\nX: y'],
  ...['-1', '1e999', 'NaN', 'null', '9'.repeat(400), 'x'.repeat(5000), '🙂'.repeat(300), '*', '"'],
];

/** Pieces on which backtracking regular expressions are slow. */
const pieces = [
  'eyJ-',
  'eyJa.',
  'name="',
  '"name":"a",',
  'a:',
  ' ',
  '\\"',
  "'",
  '=',
  ',',
  '((',
  '/',
];

/** A text of some thousand characters; its end does not match. */
export const longText = fc
  .tuple(fc.constantFrom(...pieces), fc.integer({ min: 200, max: 12_000 }))
  .map(([piece, length]) => piece.repeat(Math.ceil(length / piece.length)));

export const text = fc.oneof(
  { weight: 9, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 9, arbitrary: fc.constantFrom(...words) },
  longText,
);

const fieldNames = [
  ...['__proto__', 'constructor', 'prototype', 'status', 'name', 'value', 'devices', 'id_data'],
  ...['pubkey', 'artifact_name', 'device_type', 'device_provides', 'messages', 'filters'],
  ...['retries', 'toString', 'valueOf', 'toJSON', 'email', 'password', 'attributes', 'sort'],
];

/** Any JSON value, with names that our own bodies use. */
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    text,
    fc.constantFrom(null, true, [], {}),
    fc.double(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...fieldNames), text), tie('value'), { maxKeys: 6 }),
  ),
})).value;

const nested = fc
  .tuple(fc.constantFrom('[', '{"a":'), fc.integer({ min: 1, max: 20_000 }), fc.boolean())
  .map(([open, depth, isClosed]) => {
    const close = open === '[' ? ']' : '}';
    return open.repeat(depth) + (isClosed ? `1${close.repeat(depth)}` : '');
  });

const patterns = [
  '^(a+)+$',
  '(a?){400}b$',
  '(?i)([a-z]|[A-Z]|\\d)*!$',
  '(.*a){20}$',
  '((((',
  'x{1000}',
];

/** Bodies that are valid by their shape, and large or costly. */
const costly = fc.oneof(
  fc.array(fc.constantFrom(...patterns), { minLength: 1, maxLength: 100 }).map((values) => ({
    filters: values.map((value) => ({
      scope: 'inventory',
      attribute: 'blob',
      type: '$regex',
      value,
    })),
  })),
  fc.integer({ min: 1, max: 100 }).map((count) => ({
    filters: Array.from({ length: count }, (_, index) => ({
      scope: 'identity',
      attribute: 'serial',
      type: '$in',
      value: Array.from({ length: 1000 }, (__, value) => `${index}-${value}`),
    })),
  })),
  fc.integer({ min: 1, max: 6000 }).map((count) => ({
    messages: Array.from({ length: count }, () => ({
      timestamp: '2027-01-01T00:00:00Z',
      level: 'info',
      message: 'eyJ-'.repeat(20),
    })),
  })),
  fc.integer({ min: 1, max: 900_000 }).map((length) => ({ id_data: 'x'.repeat(length) })),
  fc.integer({ min: 1, max: 20_000 }).map((count) => ({
    id_data: JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [n, n]))),
    pubkey: 'x',
  })),
  fc
    .integer({ min: 1, max: 1200 })
    .map((count) =>
      Array.from({ length: count }, (_, name) => ({ name: `a${name}`, value: 'a'.repeat(500) })),
    ),
);

/** Generates the bytes of a body. */
export const body = fc.oneof(
  {
    weight: 40,
    arbitrary: json.map((value) => Buffer.from(JSON.stringify(value) ?? '')),
  },
  { weight: 5, arbitrary: nested.map((deep) => Buffer.from(deep)) },
  {
    weight: 5,
    arbitrary: fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
  },
  { weight: 5, arbitrary: fc.constant(Buffer.alloc(0)) },
  { weight: 2, arbitrary: costly.map((value) => Buffer.from(JSON.stringify(value))) },
);

const boundary = 'x';
const partHeaders = [
  'Content-Disposition: form-data; name="artifact"; filename="a.mender"',
  'Content-Disposition: form-data; name="size"',
  'Content-Disposition: form-data; name="__proto__"',
  `Content-Disposition: form-data; name="${'name="'.repeat(500)}"`,
  'Content-Type: application/octet-stream',
  'Content-Disposition: attachment',
  'X',
];

/** Generates the bytes of a form with the boundary `x`, complete or truncated. */
export const form = fc
  .array(
    fc.tuple(fc.array(fc.constantFrom(...partHeaders), { maxLength: 4 }), fc.oneof(text, longText)),
    { maxLength: 20 },
  )
  .chain((parts) =>
    fc.boolean().map((isWhole) => {
      const written = parts.map(
        ([headers, value]) => `--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n${value}\r\n`,
      );
      return Buffer.from(written.join('') + (isWhole ? `--${boundary}--\r\n` : ''));
    }),
  );

const queryNames = [
  ...['page', 'per_page', 'sort', 'status', 'id', 'name', 'created_after', 'limit', 'device_type'],
  ...['x-svc-expire', 'x-svc-signature', 'tenant_id', 'artifact_name', 'object_type', 'path'],
];

/** Query pairs; some are valid for our own paths. */
export const query = fc.oneof(
  { weight: 9, arbitrary: pairsOf(queryNames) },
  fc.constant([['per_page', '500'] as const]),
);

/** Generates up to four pairs with these names and any others. */
export function pairsOf(names: readonly string[]) {
  return fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names), text), text), { maxLength: 4 });
}

/** Encodes a value for a request target; lone surrogates and some control characters stay raw. */
export function encoded(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return value.replace(/[^!-~]/g, '%FF');
  }
}

/** Generates a path with its parameters, and query pairs; as long as a header may be. */
export function targetOf(
  path: string,
  parameters: readonly string[],
  pairs: readonly (readonly [string, string])[],
): string {
  let next = 0;
  const filled = path.replace(/\{\w+\}|:\w+/g, () => parameters[next++] ?? 'x');
  const search = pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
  return search === '' ? filled : `${filled}?${search}`;
}
