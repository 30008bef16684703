import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../fixtures/contract/limits.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { encodeBody } from '../../../fixtures/formats/connect-bodies.ts';
import { connectProtocols } from '../../../fixtures/formats/connect-message.ts';
import { openConnection, rawRequest, readReply, untilClosed } from '../../testing/raw-http.ts';
import type { AcceptedDevice } from '../../testing/test-device.ts';
import type { Peer } from '../../testing/test-peer.ts';
import type { TestServer } from '../../testing/test-server.ts';
import { presenceOf } from '../../testing/test-sockets.ts';
import {
  acceptTransfer,
  acknowledge,
  beginUpload,
  chunksUntilStandstill,
  errorOf,
  expectAborted,
  filePart,
  openStage,
  passTime,
  pathPart,
  sayError,
  type TransferStage,
  takeContent,
  uploadParts,
  windowBytes,
} from '../../testing/test-transfers.ts';

const { control, fileTransfer } = connectProtocols;
const { fileChunksAhead } = limits;

let stage: TransferStage;
let server: TestServer;
let identity: AcceptedDevice;
let device: Peer;

beforeEach(async () => {
  stage = await openStage();
  ({ server, identity, device } = stage);
});

afterEach(() => server.close());

const boundary = 'between-the-parts';

/** A form of a path and the beginning of a file. */
const beginning = [
  `--${boundary}`,
  'Content-Disposition: form-data; name="path"',
  '',
  '/etc/motd',
  `--${boundary}`,
  'Content-Disposition: form-data; name="file"; filename="motd"',
  '',
  'hello',
].join('\r\n');

function uploadLine(): string {
  return `PUT ${pathOf(managementOperations['upload-device-file'], { id: identity.id })}`;
}

function uploadHeaders(length: number): string[] {
  return [
    `Authorization: Bearer ${server.adminToken}`,
    `Content-Type: multipart/form-data; boundary=${boundary}`,
    `Content-Length: ${length}`,
  ];
}

describe('an upload that breaks off', () => {
  it('within its form is 400, and the device is told', async () => {
    const socket = await openConnection(server);
    socket.write(rawRequest(uploadLine(), uploadHeaders(beginning.length), beginning));
    const answered = untilClosed(socket);
    await beginUpload(device);
    await expectAborted(device);
    const { status, body } = readReply(await answered);
    expect([status, JSON.parse(body).error]).toEqual([
      400,
      expect.stringMatching(/^the multipart body is malformed: /),
    ]);
  });

  it('with its connection tells the device, and harms nobody', async () => {
    const socket = await openConnection(server);
    socket.write(rawRequest(uploadLine(), uploadHeaders(1_000_000), beginning));
    await beginUpload(device);
    socket.destroy();
    await expectAborted(device);
    expect((await presenceOf(server, identity)).status).toBe('connected');
  });

  it('before its file leaves no trace at the device', async () => {
    const socket = await openConnection(server);
    socket.write(rawRequest(uploadLine(), uploadHeaders(1_000_000), beginning.slice(0, 60)));
    await presenceOf(server, identity);
    socket.destroy();
    await presenceOf(server, identity);
    await device.settled();
    expect(device.waiting).toEqual([]);
  });
});

describe('a device that does not take the file', () => {
  it('disables file transfer: 502', async () => {
    const reply = uploadParts(stage, pathPart, filePart());
    const open = await device.nextOf('open');
    const body = encodeBody({ version: 1, protocols: [1] });
    device.reply(open, { proto: control, typ: 'accept', body });
    expect(await errorOf(reply)).toEqual([502, 'file transfer is disabled on the device']);
  });

  it.each([
    [{ err: 'access denied' }, 400],
    [{ err: 'access denied', code: 403 }, 403],
    [{ err: 'access denied', code: 507 }, 507],
  ])('refuses with %j: %i, and nothing of the file is sent', async (error, status) => {
    const reply = uploadParts(stage, pathPart, filePart(Buffer.alloc(1_000_000)));
    await acceptTransfer(device);
    sayError(device, await device.nextOf('put_file'), error);
    expect(await errorOf(reply)).toEqual([status, 'the device reports an error: access denied']);
    await expectAborted(device);
  });

  it('fails in the middle: 400, and no more is sent', async () => {
    const reply = uploadParts(stage, pathPart, filePart(Buffer.alloc(3 * windowBytes)));
    const asked = await beginUpload(device);
    await takeContent(device, asked, windowBytes);
    sayError(device, asked, { err: 'disk full' });
    expect(await errorOf(reply)).toEqual([400, 'the device reports an error: disk full']);
    await expectAborted(device);
  });

  it('goes away in the middle: 409', async () => {
    const reply = uploadParts(stage, pathPart, filePart(Buffer.alloc(3 * windowBytes)));
    await takeContent(device, await beginUpload(device), windowBytes);
    device.socket.terminate();
    expect(await errorOf(reply)).toEqual([409, 'device disconnected']);
  });

  it.each<[string, unknown]>([
    ['beyond what was sent', 6],
    ['below zero', -1],
    ['that is text', '5'],
    ['that is missing', undefined],
  ])('acknowledges an offset %s: 502', async (_, offset) => {
    const reply = uploadParts(stage, pathPart, filePart());
    const asked = await beginUpload(device);
    await device.nextOf('file_chunk');
    await device.nextOf('file_chunk');
    acknowledge(device, asked, offset);
    expect(await errorOf(reply)).toEqual([502, expect.stringMatching(/acknowledged offset/)]);
    await expectAborted(device);
  });

  it.each(['file_chunk', 'file_info', 'dance'])('says "%s" to the file: 502', async (typ) => {
    const reply = uploadParts(stage, pathPart, filePart());
    await acceptTransfer(device);
    device.reply(await device.nextOf('put_file'), { proto: fileTransfer, typ });
    expect(await errorOf(reply)).toEqual([
      502,
      `the device sent "${typ}" of protocol 2 instead of "ack"`,
    ]);
  });
});

describe('a device that acknowledges without an end', () => {
  it('while the caller sends nothing is disconnected, and the caller is notified', async () => {
    const socket = await openConnection(server);
    socket.write(rawRequest(uploadLine(), uploadHeaders(1_000_000), beginning));
    const answered = untilClosed(socket);
    const asked = await beginUpload(device);
    for (let count = 0; count < fileChunksAhead; count += 1) acknowledge(device, asked, 0);
    await device.settled();
    expect(device.waiting).toEqual([]);
    // Just when it is too many depends on how many the server has read meanwhile.
    for (let count = 0; count < 2 * fileChunksAhead; count += 1) acknowledge(device, asked, 0);
    expect((await device.next()).typ).toBe('close');
    socket.write('x'.repeat(900_000));
    const { status, body } = readReply(await answered);
    expect([status, JSON.parse(body).error]).toEqual([
      502,
      'the device does not wait for acknowledgements',
    ]);
  });
});

describe('a device that is silent is 408 after 60 s', () => {
  it.each<[string, number, () => Promise<unknown>]>([
    ['the handshake', 5, () => device.nextOf('open')],
    ['put_file', 5, async () => [await acceptTransfer(device), await device.nextOf('put_file')]],
    [
      'a full window',
      3 * windowBytes,
      async () => [await beginUpload(device), await chunksUntilStandstill(stage)],
    ],
    [
      'the end',
      5,
      async () => [
        await beginUpload(device),
        await chunksUntilStandstill(stage),
        await chunksUntilStandstill(stage),
      ],
    ],
  ])('at %s', async (_, bytes, takePart) => {
    const reply = uploadParts(stage, pathPart, filePart(Buffer.alloc(bytes)));
    await takePart();
    await passTime(stage, limits.connectReplyMaxSeconds * 1000);
    expect(await errorOf(reply)).toEqual([408, 'the device did not answer within 60 s']);
  });
});

describe('back-pressure', () => {
  it('a device that does not acknowledge keeps the caller from sending', async () => {
    const total = 64 * 1_048_576;
    const headers = {
      Authorization: `Bearer ${server.adminToken}`,
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
    };
    const url = server.baseUrl + uploadLine().slice('PUT '.length);
    const sending = httpRequest(url, { method: 'PUT', headers });
    sending.on('error', () => undefined);
    sending.write(beginning);
    let given = 0;
    const source = new Readable({
      read() {
        given += 65_536;
        this.push(given > total ? null : Buffer.alloc(65_536));
      },
    });
    source.pipe(sending);
    const asked = await beginUpload(device);
    expect(await chunksUntilStandstill(stage)).toBe(fileChunksAhead);
    expect(given).toBeLessThan(total / 2);
    sending.destroy();
    // What had arrived already is still passed on; then the end of the caller is found.
    let taken = windowBytes;
    for (let isReported = false; !isReported; ) {
      acknowledge(device, asked, taken);
      const { typ, body } = await device.next();
      taken += body?.length ?? 0;
      isReported = typ === 'error';
    }
    await device.nextOf('close');
  });
});
