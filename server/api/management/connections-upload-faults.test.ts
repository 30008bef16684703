import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../fixtures/contract/limits.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { encodeBody } from '../../../fixtures/formats/connect-bodies.ts';
import { connectProtocols } from '../../../fixtures/formats/connect-message.ts';
import { openConnection, rawRequest, readResponse, untilClosed } from '../../testing/raw-http.ts';
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

/** This form holds a path and the beginning of a file. */
const formStart = [
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

describe('an interrupted upload to a device', () => {
  it('returns 400 if the form is incomplete, and the device is notified', async () => {
    const socket = await openConnection(server);
    socket.write(rawRequest(uploadLine(), uploadHeaders(formStart.length), formStart));
    const answered = untilClosed(socket);
    await beginUpload(device);
    await expectAborted(device);
    const { status, body } = readResponse(await answered);
    expect([status, JSON.parse(body).error]).toEqual([
      400,
      expect.stringMatching(/^the multipart body is malformed: /),
    ]);
  });

  it('notifies the device if the connection breaks, and the device stays connected', async () => {
    const socket = await openConnection(server);
    socket.write(rawRequest(uploadLine(), uploadHeaders(1_000_000), formStart));
    await beginUpload(device);
    socket.destroy();
    await expectAborted(device);
    expect((await presenceOf(server, identity)).status).toBe('connected');
  });

  it('sends nothing to the device if its file has not begun', async () => {
    const socket = await openConnection(server);
    socket.write(rawRequest(uploadLine(), uploadHeaders(1_000_000), formStart.slice(0, 60)));
    await presenceOf(server, identity);
    socket.destroy();
    await presenceOf(server, identity);
    await device.waitUntilReceived();
    expect(device.waiting).toEqual([]);
  });
});

describe('an upload that the device does not take', () => {
  it('returns 502 if the device has file transfer disabled', async () => {
    const response = uploadParts(stage, pathPart, filePart());
    const open = await device.nextOf('open');
    const body = encodeBody({ version: 1, protocols: [1] });
    device.reply(open, { proto: control, typ: 'accept', body });
    expect(await errorOf(response)).toEqual([502, 'file transfer is disabled on the device']);
  });

  it.each([
    [400, { err: 'access denied' }],
    [403, { err: 'access denied', code: 403 }],
    [507, { err: 'access denied', code: 507 }],
  ])('returns %i for the device error %j and sends no content', async (status, error) => {
    const response = uploadParts(stage, pathPart, filePart(Buffer.alloc(1_000_000)));
    await acceptTransfer(device);
    sayError(device, await device.nextOf('put_file'), error);
    expect(await errorOf(response)).toEqual([status, 'the device reports an error: access denied']);
    await expectAborted(device);
  });

  it('returns 400 and sends no more if the device fails midway', async () => {
    const response = uploadParts(stage, pathPart, filePart(Buffer.alloc(3 * windowBytes)));
    const putFile = await beginUpload(device);
    await takeContent(device, putFile, windowBytes);
    sayError(device, putFile, { err: 'disk full' });
    expect(await errorOf(response)).toEqual([400, 'the device reports an error: disk full']);
    await expectAborted(device);
  });

  it('returns 409 if the device disconnects in the middle', async () => {
    const response = uploadParts(stage, pathPart, filePart(Buffer.alloc(3 * windowBytes)));
    await takeContent(device, await beginUpload(device), windowBytes);
    device.socket.terminate();
    expect(await errorOf(response)).toEqual([409, 'device disconnected']);
  });

  it.each<[string, unknown]>([
    ['beyond what was sent', 6],
    ['below zero', -1],
    ['that is text', '5'],
    ['that is missing', undefined],
  ])('returns 502 if the device acknowledges an offset %s', async (_, offset) => {
    const response = uploadParts(stage, pathPart, filePart());
    const putFile = await beginUpload(device);
    await device.nextOf('file_chunk');
    await device.nextOf('file_chunk');
    acknowledge(device, putFile, offset);
    expect(await errorOf(response)).toEqual([502, expect.stringMatching(/acknowledged offset/)]);
    await expectAborted(device);
  });

  it.each(['file_chunk', 'file_info', 'dance'])(
    'returns 502 if the device replies "%s"',
    async (typ) => {
      const response = uploadParts(stage, pathPart, filePart());
      await acceptTransfer(device);
      device.reply(await device.nextOf('put_file'), { proto: fileTransfer, typ });
      expect(await errorOf(response)).toEqual([
        502,
        `the device sent "${typ}" of protocol 2 instead of "ack"`,
      ]);
    },
  );
});

describe('an upload to a device that sends endless acknowledgements', () => {
  it('returns 502, and the session with the device is closed', async () => {
    const socket = await openConnection(server);
    socket.write(rawRequest(uploadLine(), uploadHeaders(1_000_000), formStart));
    const answered = untilClosed(socket);
    const putFile = await beginUpload(device);
    for (let count = 0; count < fileChunksAhead; count += 1) acknowledge(device, putFile, 0);
    await device.waitUntilReceived();
    expect(device.waiting).toEqual([]);
    // The exact limit depends on how many messages the server has read by then.
    for (let count = 0; count < 2 * fileChunksAhead; count += 1) acknowledge(device, putFile, 0);
    expect((await device.next()).typ).toBe('close');
    socket.write('x'.repeat(900_000));
    const { status, body } = readResponse(await answered);
    expect([status, JSON.parse(body).error]).toEqual([
      502,
      'the device does not wait for acknowledgements',
    ]);
  });
});

describe('an upload to a device that sends nothing', () => {
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
  ])('returns 408 after 60 s at %s', async (_, bytes, takePart) => {
    const response = uploadParts(stage, pathPart, filePart(Buffer.alloc(bytes)));
    await takePart();
    await passTime(stage, limits.connectReplyMaxSeconds * 1000);
    expect(await errorOf(response)).toEqual([408, 'the device did not answer within 60 s']);
  });
});

describe('the flow control of an upload', () => {
  it('stops the caller while the device does not acknowledge', async () => {
    const total = 64 * 1_048_576;
    const headers = {
      Authorization: `Bearer ${server.adminToken}`,
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
    };
    const url = server.baseUrl + uploadLine().slice('PUT '.length);
    const sending = httpRequest(url, { method: 'PUT', headers });
    sending.on('error', () => undefined);
    sending.write(formStart);
    let given = 0;
    const source = new Readable({
      read() {
        given += 65_536;
        this.push(given > total ? null : Buffer.alloc(65_536));
      },
    });
    source.pipe(sending);
    const putFile = await beginUpload(device);
    expect(await chunksUntilStandstill(stage)).toBe(fileChunksAhead);
    expect(given).toBeLessThan(total / 2);
    sending.destroy();
    // The server still passes on what has arrived; then it finds that the caller has gone.
    let taken = windowBytes;
    for (let isReported = false; !isReported; ) {
      acknowledge(device, putFile, taken);
      const { typ, body } = await device.next();
      taken += body?.length ?? 0;
      isReported = typ === 'error';
    }
    await device.nextOf('close');
  });
});
