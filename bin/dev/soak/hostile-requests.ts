/**
 * Hostile requests, one for each draw: every operation of the API with hostile paths, queries,
 * headers, tokens and bodies; some are not HTTP at all. A seed reproduces them.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { storageOperations } from '../../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { vendorNames } from '../../../fixtures/contract/vendor-names.ts';
import { body, encoded, form, longText, query, targetOf, text } from './hostile-values.ts';

/** Bytes for one connection, and a label for failure reports. */
export interface HostileRequest {
  readonly operation: string;
  readonly bytes: Buffer;
}

/** Credentials that get requests past the token check. */
export interface Insider {
  readonly headerPrefix: string;
  readonly deviceToken: string;
  readonly userToken: string;
  /** IDs of existing resources. */
  readonly ids: readonly string[];
}

const rows: readonly Operation[] = [
  ...Object.values(operations),
  ...Object.values(managementOperations),
  ...Object.values(storageOperations),
];

/** They would break what the rest of the run needs. */
const spared = new Set([
  'logout',
  'delete-user',
  'decommission-device',
  'connect',
  'connect-device',
]);

const mediaType = fc.oneof(
  { weight: 6, arbitrary: fc.constant('application/json') },
  fc.constantFrom('text/plain', 'multipart/form-data; boundary=x', 'multipart/form-data', 'x', ''),
);
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

/** Generates hostile requests with valid tokens and IDs. */
export function hostileRequests(insider: Insider): fc.Arbitrary<HostileRequest> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const names = vendorNames(insider.headerPrefix);
  const parameter = fc.oneof(
    { weight: 4, arbitrary: text.map(encoded) },
    { weight: 4, arbitrary: fc.constantFrom(...insider.ids) },
    { weight: 4, arbitrary: fc.uuid() },
    longText.map(encoded),
  );
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
      body: fc.oneof({ weight: 12, arbitrary: body }, form),
      isSigned: fc.boolean(),
    })
    .map((drawn) => {
      const lines = [
        `${drawn.method === 'own' ? drawn.row.method : drawn.method} ${targetOf(drawn.row.path, drawn.parameters, drawn.query)} HTTP/1.1`,
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
  readonly token: string;
}

function authorizationOf({ deviceToken, userToken }: Insider, { row, token }: Drawn): string[] {
  if (token === 'none') return [];
  const own = row.authorization === 'user' ? userToken : deviceToken;
  return [`Authorization: Bearer ${token === 'own' ? own : token}`];
}
