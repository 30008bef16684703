/**
 * Generates hostile requests: every operation of the API with hostile paths, queries, headers,
 * tokens and bodies, some of which are not HTTP at all; requests to the control listener; and
 * WebSockets that are opened correctly and then misused. A seed reproduces them.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { storageOperations } from '../../../fixtures/contract/management/storage.ts';
import { type Operation, pathOf } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { vendorNames } from '../../../fixtures/contract/vendor-names.ts';
import {
  apiQuery,
  body,
  controlBody,
  controlQuery,
  encodeValue,
  form,
  frame,
  headers,
  longText,
  mediaType,
  targetOf,
  text,
} from './hostile-values.ts';
import { requestBytes } from './wire.ts';

/** Bytes for one connection, and a label for failure reports. */
export interface HostileRequest {
  readonly operation: string;
  readonly bytes: Buffer;
}

/** Credentials and IDs with which requests pass the token check. */
export interface AuthorizedCaller {
  readonly headerPrefix: string;
  readonly deviceToken: string;
  readonly userToken: string;
  /** IDs of resources that exist on the server. */
  readonly ids: readonly string[];
}

const rows: readonly Operation[] = [
  ...Object.values(operations),
  ...Object.values(managementOperations),
  ...Object.values(storageOperations),
];

/** Operations that are left out because they would break the rest of the run. */
const excluded = new Set([
  'logout',
  'delete-user',
  'decommission-device',
  'connect',
  'connect-device',
]);

/** Generates hostile requests with valid tokens and IDs. */
export function hostileRequests(insider: AuthorizedCaller): fc.Arbitrary<HostileRequest> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const names = vendorNames(insider.headerPrefix);
  const parameter = fc.oneof(
    { weight: 4, arbitrary: text.map(encodeValue) },
    { weight: 4, arbitrary: fc.constantFrom(...insider.ids) },
    { weight: 4, arbitrary: fc.uuid() },
    longText.map(encodeValue),
  );
  const token = fc.oneof(
    { weight: 8, arbitrary: fc.constant('own') },
    fc.constantFrom('none', 'x', `${insider.deviceToken}x`, insider.deviceToken, '\u00ff'),
  );
  const rowRequests = fc
    .record({
      row: fc.constantFrom(...rows.filter(({ id }) => !excluded.has(id))),
      method: fc.oneof(
        { weight: 9, arbitrary: fc.constant('own') },
        fc.constantFrom('OPTIONS', 'HEAD', 'TRACE', 'PATCH', 'BREW'),
      ),
      parameters: fc.array(parameter, { minLength: 4, maxLength: 4 }),
      query: apiQuery,
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
      return { operation: drawn.row.id, bytes: requestBytes(lines, drawn.body) };
    });
  const noise = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => ({
    operation: 'noise',
    bytes: Buffer.concat([bytes, Buffer.from('\r\n\r\n')]),
  }));
  return fc.oneof({ weight: 30, arbitrary: rowRequests }, { weight: 1, arbitrary: noise });
}

interface DrawnOperation {
  readonly row: Operation;
  readonly token: string;
}

function authorizationOf(
  { deviceToken, userToken }: AuthorizedCaller,
  { row, token }: DrawnOperation,
): string[] {
  if (token === 'none') return [];
  const own = row.authorization === 'user' ? userToken : deviceToken;
  return [`Authorization: Bearer ${token === 'own' ? own : token}`];
}

/**
 * Paths of the control listener, without those that would break the rest of the run or can take
 * long because of their size: resets, forks, snapshots and request rates.
 */
const controlPaths = [
  ...['/overview', '/journal', '/journal.har', '/journal/:sequence', '/await', '/assert'],
  ...['/explanations/:requestId', '/faults', '/faults/check', '/faults/schema', '/clock'],
  ...['/tenants', '/tenants/:id/device-limit', '/outbox', '/world', '/world/schema', '/snapshots'],
  ...['/ready', '/events', '/nothing/:here', '/'],
];

/** A query parameter that avoids waits of half a minute. */
const soon = ['timeoutSeconds', '0.1'] as const;

/** Generates hostile requests from a client with the control token. */
export function hostileControlRequests(controlToken: string): fc.Arbitrary<HostileRequest> {
  return fc
    .record({
      method: fc.constantFrom('GET', 'GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'),
      path: fc.constantFrom(...controlPaths),
      parameters: fc.array(fc.oneof(text, longText).map(encodeValue), {
        minLength: 2,
        maxLength: 2,
      }),
      query: controlQuery,
      mediaType: fc.constantFrom('application/json', 'application/json', 'application/yaml', ''),
      body: controlBody,
    })
    .map(({ method, path, parameters, query, mediaType, body: given }) => {
      const bytes = method === 'GET' || method === 'HEAD' ? Buffer.alloc(0) : given;
      const lines = [
        `${method} ${targetOf(path, parameters, path === '/await' ? [...query, soon] : query)} HTTP/1.1`,
        'Host: 127.0.0.1',
        `Authorization: Bearer ${controlToken}`,
        ...(mediaType === '' ? [] : [`Content-Type: ${mediaType}`]),
        `Content-Length: ${bytes.length}`,
        'Connection: close',
      ];
      return { operation: `${method} ${path}`, bytes: requestBytes(lines, bytes) };
    });
}

/**
 * Generates handshakes of a device, or of a user with that device, each followed directly by
 * frames.
 */
export function hostileSockets(insider: AuthorizedCaller): fc.Arbitrary<HostileRequest> {
  const device = pathOf(operations.connect);
  const user = pathOf(managementOperations['connect-device'], { id: insider.ids[0] ?? '' });
  return fc
    .record({ isDevice: fc.boolean(), frames: fc.array(frame, { maxLength: 6 }) })
    .map(({ isDevice, frames }) => {
      const lines = [
        `GET ${isDevice ? device : user} HTTP/1.1`,
        'Host: 127.0.0.1',
        `Authorization: Bearer ${isDevice ? insider.deviceToken : insider.userToken}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      ];
      return { operation: 'frames', bytes: requestBytes(lines, Buffer.concat(frames)) };
    });
}
