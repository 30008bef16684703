/**
 * Requests with early responses, sent before the server reads their bodies, each twice the limit.
 */
import { limits } from '../../fixtures/contract/limits.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { AcceptedDevice } from './test-device.ts';
import type { TestServer } from './test-server.ts';

const body = Buffer.alloc(2 * limits.bodyMaxBytes, ' ');
const json = 'Content-Type: application/json';
const length = `Content-Length: ${body.length}`;
const closing = 'Connection: close';

/** Each row is the status, a short description, and the request. */
export type EarlyResponse = readonly [status: number, name: string, request: Buffer];

function requestOf(line: string, headers: readonly string[], sent: Buffer | string = body): Buffer {
  const head = `${[line, ...headers].join('\r\n')}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(sent)]);
}

function encodeChunks(bytes: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from('\r\n0\r\n\r\n'),
  ]);
}

/** Early responses of the API. */
export function earlyResponsesTo(device: AcceptedDevice, admin: string): readonly EarlyResponse[] {
  const authorized = `Authorization: Bearer ${device.token}`;
  const put = `PUT ${operations['put-configuration'].path} HTTP/1.1`;
  const upload = `POST ${managementOperations['upload-artifact'].path} HTTP/1.1`;
  const headers = ['Host: a', authorized, json];
  return [
    [413, 'a length beyond the limit', requestOf(put, [...headers, length])],
    [
      413,
      'chunks beyond the limit',
      requestOf(put, [...headers, 'Transfer-Encoding: chunked'], encodeChunks(body)),
    ],
    [401, 'no token', requestOf(put, ['Host: a', json, length, closing])],
    [401, 'no token in HTTP/1.0', requestOf(put.replace('1.1', '1.0'), [json, length])],
    [404, 'an unknown path', requestOf('PUT /nowhere HTTP/1.1', ['Host: a', length, closing])],
    [405, 'a wrong method', requestOf(put.replace('PUT', 'PATCH'), ['Host: a', length, closing])],
    [400, 'no Host', requestOf(put, [json, length, closing])],
    [400, 'a chunk without a length', requestOf(put, [...headers, 'Transfer-Encoding: chunked'])],
    [400, 'no HTTP', Buffer.concat([Buffer.from('nonsense\r\n\r\n'), body])],
    [431, 'a header without end', requestOf(`${put}\r\nA: ${'x'.repeat(40_000)}`, headers)],
    [
      400,
      'an upload of no form',
      requestOf(upload, ['Host: a', `Authorization: Bearer ${admin}`, length, closing]),
    ],
    [401, 'another protocol', requestOf(put, ['Host: a', length, 'Upgrade: h2c', upgradeAndClose])],
    [401, 'a refused handshake', handshakeWithBody()],
    [404, 'a tunnel', requestOf('CONNECT a:1 HTTP/1.1', ['Host: a'])],
  ];
}

const upgradeAndClose = 'Connection: Upgrade, close';

function handshakeWithBody(): Buffer {
  const upgradeHeaders = ['Connection: Upgrade', 'Upgrade: websocket', length];
  return requestOf(`GET ${operations.connect.path} HTTP/1.1`, ['Host: a', ...upgradeHeaders]);
}

/** Early responses of the control listener. */
export function earlyControlResponsesTo({ controlToken }: TestServer): readonly EarlyResponse[] {
  const authorized = `Authorization: Bearer ${controlToken}`;
  const headers = ['Host: 127.0.0.1', authorized, json];
  const put = 'POST /clock HTTP/1.1';
  return [
    [413, 'a length beyond the limit', requestOf(put, [...headers, length, closing])],
    [401, 'no token', requestOf(put, ['Host: 127.0.0.1', json, length, closing])],
    [405, 'a wrong method', requestOf('PUT /ready HTTP/1.1', [...headers, length, closing])],
    [400, 'a chunk without a length', requestOf(put, [...headers, 'Transfer-Encoding: chunked'])],
    [400, 'no HTTP', Buffer.concat([Buffer.from('nonsense\r\n\r\n'), body])],
    [404, 'a tunnel', requestOf('CONNECT a:1 HTTP/1.1', ['Host: 127.0.0.1'])],
  ];
}
