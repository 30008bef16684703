/**
 * Requests that no honest client sends, one for each draw: every operation of the API with hostile
 * paths, queries, headers, tokens and bodies; some are no HTTP at all. A seed repeats them.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';

/** Bytes for one connection, and what they are of, for the report of a failure. */
export interface HostileRequest {
  readonly operation: string;
  readonly bytes: Buffer;
}

/** What a stranger must not have, and what makes requests get deeper than the token's check. */
export interface Insider {
  readonly headerPrefix: string;
  readonly deviceToken: string;
  readonly userToken: string;
  /** Of things that exist on the server. */
  readonly ids: readonly string[];
}

const rows: readonly Operation[] = [
  ...Object.values(operations),
  ...Object.values(managementOperations),
  ...Object.values(storageOperations),
];

/** They would end what the rest of the run needs. */
const spared = new Set([
  'logout',
  'delete-user',
  'decommission-device',
  'connect',
  'connect-device',
]);

const words = [
  ...['', ' ', '\u0000', 'a\u0000b', '\ud83d', '\u{FEFF}', '__proto__', 'constructor', 'toString'],
  ...['../../etc/passwd', '%', '%00', '%2e%2e%2f', "'; DROP TABLE devices; --", '=1+1', '\r\nX: y'],
  ...['-1', '1e999', 'NaN', 'null', '9'.repeat(400), 'x'.repeat(5000), '🙂'.repeat(300), '*', '"'],
];
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.constantFrom(...words));
const fieldNames = [
  ...['__proto__', 'constructor', 'prototype', 'status', 'name', 'value', 'devices', 'id_data'],
  ...[
    'pubkey',
    'artifact_name',
    'device_type',
    'device_provides',
    'messages',
    'filters',
    'retries',
  ],
];
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
  .tuple(fc.constantFrom('[', '{"a":'), fc.integer({ min: 1, max: 20_000 }))
  .map(([open, depth]) => open.repeat(depth));
const body = fc.oneof(
  { weight: 8, arbitrary: json.map((value) => Buffer.from(JSON.stringify(value) ?? '')) },
  nested.map((deep) => Buffer.from(deep)),
  fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
  fc.constant(Buffer.alloc(0)),
);
const mediaType = fc.oneof(
  { weight: 6, arbitrary: fc.constant('application/json') },
  fc.constantFrom('text/plain', 'multipart/form-data; boundary=x', 'multipart/form-data', 'x', ''),
);
const queryNames = [
  ...['page', 'per_page', 'sort', 'status', 'id', 'name', 'created_after', 'limit', 'device_type'],
  ...['x-svc-expire', 'x-svc-signature', 'tenant_id', 'artifact_name', 'object_type', 'path'],
];
const query = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...queryNames), text), text), {
  maxLength: 4,
});
const headers = fc.array(
  fc.tuple(
    fc.constantFrom(
      'Range',
      'If-Match',
      'Expect',
      'X-SVC-RequestID',
      'Cookie',
      'Upgrade',
      'Origin',
    ),
    fc.string({ maxLength: 200 }),
  ),
  { maxLength: 3 },
);

/** Hostile requests of an insider, who knows tokens and ids. */
export function hostileRequests(insider: Insider): fc.Arbitrary<HostileRequest> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const names = vendorNames(insider.headerPrefix);
  const parameter = fc.oneof(text.map(encoded), fc.constantFrom(...insider.ids), fc.uuid());
  const token = fc.oneof(
    { weight: 8, arbitrary: fc.constant('own') },
    fc.constantFrom('none', 'x', `${insider.deviceToken}x`, insider.deviceToken, '\u00ff'),
  );
  const made = fc
    .record({
      row: fc.constantFrom(...rows.filter(({ id }) => !spared.has(id))),
      method: fc.oneof(
        { weight: 9, arbitrary: fc.constant('own') },
        fc.constantFrom('OPTIONS', 'HEAD', 'TRACE', 'PATCH', 'BREW'),
      ),
      parameters: fc.array(parameter, { minLength: 4, maxLength: 4 }),
      query,
      headers,
      token,
      mediaType,
      body,
      isSigned: fc.boolean(),
    })
    .map((drawn) => {
      const lines = [
        `${drawn.method === 'own' ? drawn.row.method : drawn.method} ${targetOf(drawn)} HTTP/1.1`,
        'Host: 127.0.0.1',
        ...authorizationOf(insider, drawn),
        ...drawn.headers.map(([name, value]) => `${name}: ${value.replace(/[\r\n]/g, '')}`),
      ];
      if (drawn.isSigned) {
        const signature = sign(null, drawn.body, privateKey).toString('base64');
        lines.push(`${names.signature}: ${signature}`);
      }
      if (drawn.mediaType !== '') lines.push(`Content-Type: ${drawn.mediaType}`);
      lines.push(`Content-Length: ${drawn.body.length}`, 'Connection: close');
      const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
      return { operation: drawn.row.id, bytes: Buffer.concat([head, drawn.body]) };
    });
  const noise = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => ({
    operation: 'noise',
    bytes: Buffer.concat([bytes, Buffer.from('\r\n\r\n')]),
  }));
  return fc.oneof({ weight: 30, arbitrary: made }, { weight: 1, arbitrary: noise });
}

interface Drawn {
  readonly row: Operation;
  readonly parameters: readonly string[];
  readonly query: readonly (readonly [string, string])[];
  readonly token: string;
}

function targetOf({ row, parameters, query: pairs }: Drawn): string {
  let next = 0;
  const path = row.path.replace(/\{\w+\}/g, () => parameters[next++] ?? 'x');
  const search = pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
  return search === '' ? path : `${path}?${search}`;
}

/** As a target can carry it; half characters and some control characters go raw. */
function encoded(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return value.replace(/[^!-~]/g, '%FF');
  }
}

function authorizationOf({ deviceToken, userToken }: Insider, { row, token }: Drawn): string[] {
  if (token === 'none') return [];
  const own = row.authorization === 'user' ? userToken : deviceToken;
  return [`Authorization: Bearer ${token === 'own' ? own : token}`];
}
