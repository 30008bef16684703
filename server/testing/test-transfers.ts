/** Transfers files in tests: step by step on the device's side, and over HTTP on the user's. */
import { type ClientRequest, get } from 'node:http';
import { expect } from 'vitest';
import { limits } from '../../fixtures/contract/limits.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import {
  connectErrorShape,
  decodeBody,
  encodeBody,
} from '../../fixtures/formats/connect-bodies.ts';
import { type ConnectMessage, connectProtocols } from '../../fixtures/formats/connect-message.ts';
import { type AcceptedDevice, acceptedDevice } from './test-device.ts';
import { connectPeer, type Peer } from './test-peer.ts';
import { startTestServer, type TestResponse, type TestServer } from './test-server.ts';
import { presenceOf } from './test-sockets.ts';

const { control, fileTransfer } = connectProtocols;
const { fileChunkBytes, fileChunksAhead } = limits;

/** The number of bytes that may be in flight to a device. */
export const windowBytes = fileChunkBytes * fileChunksAhead;

/** A server with one connected device. */
export interface TransferStage {
  readonly server: TestServer;
  readonly identity: AcceptedDevice;
  readonly device: Peer;
}

export async function openStage(
  options: Parameters<typeof startTestServer>[0] = {},
): Promise<TransferStage> {
  const server = await startTestServer(options);
  const identity = await acceptedDevice(server, 'files');
  return { server, identity, device: await connectPeer(server, identity) };
}

/** Returns status and error of a refused response. */
export async function errorOf(response: Promise<TestResponse>): Promise<[number, unknown]> {
  const { status, json } = await response;
  return [status, json().error];
}

/** Requests a file of the device or, by HEAD, its description. */
export function askFile(
  { server, identity }: TransferStage,
  path = '/etc/motd',
  id: 'download-device-file' | 'describe-device-file' = 'download-device-file',
): Promise<TestResponse> {
  const parameters = { id: identity.id };
  return server.call(id, { token: server.adminToken, parameters, query: { path } });
}

/** Requests /etc/motd; the caller decides how to read the response. */
export function askUnread({ server, identity }: TransferStage): ClientRequest {
  const path = pathOf(managementOperations['download-device-file'], { id: identity.id });
  const headers = { Authorization: `Bearer ${server.adminToken}` };
  return get(`${server.baseUrl}${path}?path=/etc/motd`, { headers });
}

/** A part of an upload's form: a string, or a file with its name. */
export type UploadPart =
  | readonly [name: string, value: string]
  | readonly [name: string, Buffer, string];

/** The form part that holds the target path. */
export const pathPart: UploadPart = ['path', '/etc/motd'];

export function filePart(content: string | Buffer = 'hello', name = 'motd'): UploadPart {
  return ['file', Buffer.from(content), name];
}

export function uploadParts(
  { server, identity }: TransferStage,
  ...parts: readonly UploadPart[]
): Promise<TestResponse> {
  const form = new FormData();
  for (const [name, value, fileName] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, new Blob([new Uint8Array(value)]), fileName);
  }
  const parameters = { id: identity.id };
  return server.call('upload-device-file', { token: server.adminToken, parameters, body: form });
}

/** Receives the handshake of a transfer and accepts it; returns the server's message. */
export async function acceptTransfer(device: Peer): Promise<ConnectMessage> {
  const open = await device.nextOf('open');
  const body = encodeBody({ version: 1, protocols: Object.values(connectProtocols) });
  device.reply(open, { proto: control, typ: 'accept', body });
  return open;
}

/** Answers a `stat` as a regular file; `told` replaces fields of the description. */
export async function answerStat(
  device: Peer,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<ConnectMessage> {
  const stat = await device.nextOf('stat');
  const info = { path: '/etc/motd', size: 5, uid: 1, gid: 2, mode: 0o644, ...fields };
  device.reply(stat, { proto: fileTransfer, typ: 'file_info', body: encodeBody(info) });
  return stat;
}

/** Sends one chunk of a file in the session of another message; an empty body marks the end. */
export function sayChunk(
  device: Peer,
  to: ConnectMessage,
  { offset, body = Buffer.alloc(0) }: { offset: number; body?: Uint8Array },
): void {
  device.reply(to, { proto: fileTransfer, typ: 'file_chunk', props: { offset }, body });
}

/** Sends an error of file transfer in the session of another message. */
export function sayError(
  device: Peer,
  to: ConnectMessage,
  error: Readonly<Record<string, unknown>>,
): void {
  device.reply(to, { proto: fileTransfer, typ: 'error', body: encodeBody(error) });
}

/** Accepts the transfer, describes the file, and receives the request for its content. */
export async function beginDownload(
  device: Peer,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<ConnectMessage> {
  await acceptTransfer(device);
  await answerStat(device, fields);
  return device.nextOf('get_file');
}

/** Sends content as a field client does, within its window; returns the acknowledged offsets. */
export async function sendContent(
  device: Peer,
  to: ConnectMessage,
  content: Buffer,
): Promise<number[]> {
  const acknowledged = [0];
  const takeAck = async (): Promise<number> =>
    acknowledged.push(Number((await device.nextOf('ack')).props?.offset));
  for (let at = 0; at < content.length; at += fileChunkBytes) {
    sayChunk(device, to, { offset: at, body: content.subarray(at, at + fileChunkBytes) });
    while (at - (acknowledged.at(-1) ?? 0) >= (fileChunksAhead - 1) * fileChunkBytes) {
      await takeAck();
    }
  }
  sayChunk(device, to, { offset: content.length });
  while ((acknowledged.at(-1) ?? 0) < content.length) await takeAck();
  return acknowledged;
}

/** Acknowledges bytes of the file that another message offered. */
export function acknowledge(device: Peer, to: ConnectMessage, offset: unknown): void {
  device.reply(to, { proto: fileTransfer, typ: 'ack', props: { offset } });
}

/** Accepts the transfer and the file; returns the message that offered it. */
export async function beginUpload(device: Peer): Promise<ConnectMessage> {
  await acceptTransfer(device);
  const putFile = await device.nextOf('put_file');
  acknowledge(device, putFile, 0);
  return putFile;
}

/** Receives chunks as a field client does, until the file ends or `maxBytes` have arrived. */
export async function takeContent(
  device: Peer,
  putFile: ConnectMessage,
  maxBytes = Infinity,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let received = 0;
  while (received < maxBytes) {
    const chunk = await device.nextOf('file_chunk');
    expect(chunk.props?.offset).toBe(received);
    if (!chunk.body) break;
    chunks.push(Buffer.from(chunk.body));
    received += chunk.body.length;
    if (chunks.length % limits.fileAckEveryChunks === 0) acknowledge(device, putFile, received);
  }
  acknowledge(device, putFile, received);
  return Buffer.concat(chunks);
}

/** Receives the chunks sent without further acknowledgement; returns their number. */
export async function chunksUntilStandstill({
  server,
  identity,
  device,
}: TransferStage): Promise<number> {
  let count = 0;
  for (let idle = 0; idle < 10; idle += 1) {
    await presenceOf(server, identity);
    await device.waitUntilReceived();
    while (device.waiting.length > 0) {
      const { body } = await device.nextOf('file_chunk');
      if (body) count += 1;
      idle = 0;
    }
  }
  return count;
}

/** Receives the messages to a device when an upload ends in the middle. */
export async function expectAborted(device: Peer): Promise<void> {
  let message = await device.next();
  while (message.typ === 'file_chunk') message = await device.next();
  expect(message).toMatchObject({ proto: fileTransfer, typ: 'error' });
  expect(decodeBody(connectErrorShape, message.body).close).toBe(true);
  expect((await device.nextOf('close')).sid).toBe(message.sid);
}

/** Advances the clock while the device answers the pings of its socket. */
export async function passTime({ server, device }: TransferStage, ms: number): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= 25_000) {
    server.clock.advance(Math.min(25_000, leftMs));
    await device.waitUntilReceived();
  }
}
