/**
 * The catalogue of hostile values, drawn by a seed: texts, queries, headers, bodies and messages.
 * `hostile-requests.ts` sends them.
 */
import fc from 'fast-check';
import { encodeConnectMessage } from '../../../fixtures/formats/connect-message.ts';

/** Short texts by why they are hostile. */
const texts: Readonly<Record<string, readonly string[]>> = {
  'nothing, or blank': ['', ' '],
  'no text of a database or of UTF-8': ['\u0000', 'a\u0000b', '\ud83d', '\u{FEFF}'],
  'names that every object has': ['__proto__', 'constructor', 'toString'],
  'a path out of its folder, and escapes': ['../../etc/passwd', '%', '%00', '%2e%2e%2f'],
  'SQL, a formula, a header': ["'; DROP TABLE devices; --", '=1+1', '\r\nX: y'],
  'no number, or one without bounds': ['-1', '1e999', 'NaN', 'null', '9'.repeat(400)],
  'longer than expected': ['x'.repeat(5000), '🙂'.repeat(300)],
  'a wildcard and a quote': ['*', '"'],
};

/** Pieces on which backtracking regular expressions are slow. */
const chunks = [
  ...['eyJ-', 'eyJa.', 'name="', '"name":"a",', 'a:', ' ', '\\"', "'", '=', ',', '((', '/'],
];

/** A string of several thousand characters whose end does not match. */
export const longText = fc
  .tuple(fc.constantFrom(...chunks), fc.integer({ min: 200, max: 12_000 }))
  .map(([chunk, length]) => chunk.repeat(Math.ceil(length / chunk.length)));

export const text = fc.oneof(
  { weight: 9, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 9, arbitrary: fc.constantFrom(...Object.values(texts).flat()) },
  longText,
);

const fieldNames = [
  ...['__proto__', 'constructor', 'prototype', 'status', 'name', 'value', 'devices', 'id_data'],
  ...['pubkey', 'artifact_name', 'device_type', 'device_provides', 'messages', 'filters'],
  ...['retries', 'toString', 'valueOf', 'toJSON', 'email', 'password', 'attributes', 'sort'],
];

/** Any JSON value, with member names that our own bodies use. */
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

/** Regular expressions that backtrack, are large, or are invalid. */
const patterns = [
  ...['^(a+)+$', '(a?){400}b$', '(?i)([a-z]|[A-Z]|\\d)*!$', '(.*a){20}$', '((((', 'x{1000}'],
];

/** Bodies with a valid shape that are large or costly. */
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

const assertion = fc
  .array(fc.constantFrom({ text: 'eyJ' }, { device: 'x' }, { status: '4xx' }), {
    minLength: 1,
    maxLength: 50,
  })
  .map((happened) => Buffer.from(JSON.stringify({ happened })));

const yaml = fc
  .constantFrom('faults:\n', 'a: &a [*a]\n', '- '.repeat(20), 'x: "\\u0000"\n', '? {')
  .map((line) => Buffer.from(line.repeat(10)));

/** The bytes of a body for the control listener. */
export const controlBody = fc.oneof(body, assertion, yaml);

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
      const partTexts = parts.map(
        ([headers, value]) => `--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n${value}\r\n`,
      );
      return Buffer.from(partTexts.join('') + (isWhole ? `--${boundary}--\r\n` : ''));
    }),
  );

const queryNames = [
  ...['page', 'per_page', 'sort', 'status', 'id', 'name', 'created_after', 'limit', 'device_type'],
  ...['x-svc-expire', 'x-svc-signature', 'tenant_id', 'artifact_name', 'object_type', 'path'],
];

/** Query pairs; some are valid for our own paths. */
export const apiQuery = fc.oneof(
  { weight: 9, arbitrary: pairsOf(queryNames) },
  fc.constant([['per_page', '500'] as const]),
);

const controlNames = [
  ...['tenant', 'after', 'limit', 'whole', 'count', 'timeoutSeconds', 'kind', 'operation'],
  ...['device', 'user', 'status', 'deployment', 'text', 'since', 'until', 'method'],
];

const wellFormed = fc.constantFrom<[string, string][]>(
  [
    ['limit', '500'],
    ['whole', 'true'],
  ],
  [
    ['text', 'eyJ-eyJ-'],
    ['limit', '500'],
  ],
  [
    ['device', 'nobody'],
    ['after', '0'],
  ],
  [['after', '0']],
  [
    ['timeoutSeconds', '0.1'],
    ['count', '500'],
    ['after', '0'],
  ],
);

/**
 * Query pairs for the control listener. They are generated separately, because the listener refuses
 * unknown parameters before it checks anything else.
 */
export const controlQuery = fc.oneof(
  fc.constant<[string, string][]>([]),
  pairsOf(controlNames),
  wellFormed,
);

/** Generates up to four pairs, with these names or random ones. */
function pairsOf(names: readonly string[]) {
  return fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names), text), text), { maxLength: 4 });
}

export const mediaType = fc.oneof(
  { weight: 6, arbitrary: fc.constant('application/json') },
  fc.constantFrom('text/plain', 'multipart/form-data; boundary=x', 'multipart/form-data', 'x', ''),
);
export const headers = fc.array(
  fc.tuple(
    fc.constantFrom(
      ...['Range', 'If-Match', 'Expect', 'X-SVC-RequestID', 'Cookie', 'Upgrade', 'Origin'],
    ),
    fc.string({ maxLength: 200 }),
  ),
  { maxLength: 3 },
);

const MSGPACK_ARRAY_OF_ONE = 0x91;

const message = fc
  .record({
    proto: fc.constantFrom(0, 1, 2, 3, 4, 0xffff),
    typ: fc.constantFrom('new', 'shell', 'open', 'ping', 'put_file', 'eyJ-'.repeat(60)),
    sid: fc.constantFrom('', 'x', '__proto__'),
    body: fc.uint8Array({ maxLength: 2000 }),
  })
  .map((drawn) => encodeConnectMessage(drawn));

const payload = fc.oneof(
  message,
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.integer({ min: 1, max: 60_000 }).map((depth) => Buffer.alloc(depth, MSGPACK_ARRAY_OF_ONE)),
  // A map that claims to have more pairs than the message has bytes.
  fc.constant(Buffer.from([0xdf, 0xff, 0xff, 0xff, 0xff, 0xa1])),
);

/** First byte: final flag, reserved bits, opcode. */
const firstByte = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0x82) },
  fc.constantFrom(0x81, 0x80, 0x02, 0x88, 0x89, 0x8a, 0xf2, 0x83),
);

/**
 * Generates a WebSocket frame of an unusual kind, with a wrong length, or with a broken message.
 */
export const frame = fc
  .record({ first: firstByte, isMasked: fc.boolean(), isLying: fc.boolean(), payload })
  .map(({ first, isMasked, isLying, payload: given }) => {
    const length = isLying ? 2 ** 31 : given.length;
    const head = Buffer.alloc(10);
    head[0] = first;
    head[1] = (isMasked ? 0x80 : 0) | 127;
    head.writeBigUInt64BE(BigInt(length), 2);
    // A mask of zeros leaves the payload unchanged.
    return Buffer.concat([head, Buffer.alloc(isMasked ? 4 : 0), given]);
  });

/** Encodes a value for a request target; lone surrogates and some control characters stay raw. */
export function encodeValue(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return value.replace(/[^!-~]/g, '%FF');
  }
}

/**
 * Generates a path with its parameters and query pairs, cut to the length that a header may have.
 */
export function targetOf(
  path: string,
  parameters: readonly string[],
  pairs: readonly (readonly [string, string])[],
): string {
  let next = 0;
  const filledPath = path.replace(/\{\w+\}|:\w+/g, () => parameters[next++] ?? 'x');
  const search = pairs
    .map(([name, value]) => `${encodeValue(name)}=${encodeValue(value)}`)
    .join('&');
  return search === '' ? filledPath : `${filledPath}?${search}`;
}
