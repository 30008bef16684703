/** Defects in the handshake of /connect, and in the connection state that users see. */
import { ownResponse, withHeaders } from '../alter.ts';
import { fieldBecomes, requestBecomes, responseBecomes, statusBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest } from '../defect.ts';

const operations = ['connect'] as const;
const presence = ['get-connection'] as const;

const validKey = 'dGhlIHNhbXBsZSBub25jZQ==';

/** Sets the headers of a 101 response. */
function switched(changes: Readonly<Record<string, string | undefined>>): () => Alteration {
  return responseBecomes((response) =>
    response.status === 101 ? withHeaders(response, changes) : response,
  );
}

/** Changes a handshake header before the target sees it. */
function sent(
  name: string,
  change: (value: string | undefined) => string | undefined,
): () => Alteration {
  return requestBecomes((request) =>
    withHeaders(request, { [name]: change(request.headers[name]) }),
  );
}

/** Answers matching requests in place of the target. */
function answered(
  status: number,
  appliesTo: (request: ProxiedRequest) => boolean,
): () => Alteration {
  return () => ({
    request: (request) => (appliesTo(request) ? ownResponse(status, { error: 'no' }) : request),
  });
}

/** All defects of the handshake and of presence. */
export const connectDefects: readonly Defect[] = [
  {
    id: 'connect-is-200',
    title: 'A handshake is answered with 200.',
    violates: [
      'connect.switches-protocols',
      'connect.cookie',
      'connect.cookie-among-others',
      'connect.header-words',
    ],
    operations,
    alter: statusBecomes(101, 200),
  },
  {
    id: 'connect-response-names-another-protocol',
    title: 'The 101 names another protocol.',
    violates: ['connect.response-upgrade'],
    operations,
    alter: switched({ upgrade: 'h2c' }),
  },
  {
    id: 'websocket-accept-is-constant',
    title: 'Sec-WebSocket-Accept is the same whatever key was sent.',
    violates: ['connect.accept-matches-the-key'],
    operations,
    alter: switched({ 'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=' }),
  },
  {
    id: 'websocket-accept-is-missing',
    title: 'Sec-WebSocket-Accept is missing.',
    violates: ['connect.accept-matches-the-key'],
    operations,
    alter: switched({ 'sec-websocket-accept': undefined }),
  },
  {
    id: 'websocket-subprotocol-unrequested',
    title: 'The server selects a subprotocol that was not requested.',
    violates: ['connect.no-subprotocol'],
    operations,
    alter: switched({ 'sec-websocket-protocol': 'protomsg/msgpack' }),
  },
  {
    id: 'websocket-extension-unrequested',
    title: 'The server selects an extension that was not requested.',
    violates: ['connect.no-extension'],
    operations,
    alter: switched({ 'sec-websocket-extensions': 'permessage-deflate' }),
  },
  {
    id: 'cookie-opens-no-websocket',
    title: 'The cookie JWT is ignored.',
    violates: ['connect.cookie', 'connect.cookie-among-others'],
    operations,
    alter: sent('cookie', () => undefined),
  },
  {
    id: 'cookie-only-alone',
    title: 'The cookie JWT is found only without other cookies.',
    violates: ['connect.cookie-among-others'],
    operations,
    alter: sent('cookie', (cookie) => (cookie?.includes(';') ? undefined : cookie)),
  },
  {
    id: 'no-upgrade-is-200',
    title: 'A request without an upgrade is answered with 200.',
    violates: ['connect.upgrade-is-needed'],
    operations,
    alter: answered(200, ({ headers }) => !headers.upgrade && !!headers.authorization),
  },
  {
    id: 'every-websocket-version-is-accepted',
    title: 'An upgrade to a version other than 13 is granted.',
    violates: ['connect.version-13-only'],
    operations,
    alter: sent('sec-websocket-version', (version) => (version === undefined ? version : '13')),
  },
  {
    id: 'websocket-version-8-is-accepted',
    title: 'An upgrade to version 8 is granted.',
    violates: ['connect.version-13-only'],
    operations,
    alter: sent('sec-websocket-version', (version) => (version === '8' ? '13' : version)),
  },
  {
    id: 'websocket-version-is-taken-for-granted',
    title: 'An upgrade without a version is granted.',
    violates: ['connect.version-is-needed'],
    operations,
    alter: sent('sec-websocket-version', (version) => version ?? '13'),
  },
  {
    id: 'websocket-key-is-taken-for-granted',
    title: 'An upgrade without a key is granted.',
    violates: ['connect.key-is-needed'],
    operations,
    alter: sent('sec-websocket-key', (key) => key ?? validKey),
  },
  {
    id: 'any-websocket-key-is-accepted',
    title: 'A key that is not 16 bytes in Base64 is accepted.',
    violates: ['connect.key-is-16-bytes'],
    operations,
    alter: sent('sec-websocket-key', (key) =>
      key === undefined || /^[\w+/]{22}==$/.test(key) ? key : validKey,
    ),
  },
  {
    id: 'any-protocol-is-a-websocket',
    title: 'An upgrade to any protocol opens a WebSocket.',
    violates: ['connect.other-protocol'],
    operations,
    alter: sent('upgrade', (upgrade) => (upgrade === undefined ? upgrade : 'websocket')),
  },
  {
    id: 'websocket-in-small-letters-only',
    title: 'Upgrade: WebSocket is answered with 400.',
    violates: ['connect.header-words'],
    operations,
    alter: answered(400, ({ headers }) => headers.upgrade === 'WebSocket'),
  },
  {
    id: 'connected-device-is-not-shown',
    title: 'A device with an open connection is shown as disconnected.',
    violates: ['connect.makes-available'],
    operations: presence,
    alter: fieldBecomes('status', () => 'disconnected'),
  },
  {
    id: 'connected-device-is-unknown',
    title: 'The connection state of a device is unknown.',
    violates: ['connect.makes-available'],
    operations: presence,
    alter: statusBecomes(200, 404),
  },
  {
    id: 'disconnected-device-stays-connected',
    title: 'A device that has disconnected is still shown as connected.',
    violates: ['connect.ends-available', 'connect.lost-is-shown'],
    operations: presence,
    alter: fieldBecomes('status', () => 'connected'),
  },
];
