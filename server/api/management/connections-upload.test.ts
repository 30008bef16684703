import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../fixtures/contract/limits.ts';
import { decodeBody, putFileShape } from '../../../fixtures/formats/connect-bodies.ts';
import { entries } from '../../testing/test-audit.ts';
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
  filePart,
  openStage,
  pathPart,
  type TransferStage,
  takeContent,
  type UploadPart,
  uploadParts,
  windowBytes,
} from '../../testing/test-transfers.ts';

const { fileChunkBytes, fileChunksAhead } = limits;

let stage: TransferStage;
let server: TestServer;
let identity: AcceptedDevice;
let device: Peer;

beforeEach(async () => {
  stage = await openStage();
  ({ server, identity, device } = stage);
});

afterEach(() => server.close());

describe('an upload to a device', () => {
  it('sends the file and its properties, and returns 201 without a body', async () => {
    const response = uploadParts(
      stage,
      pathPart,
      ['uid', '1000'],
      ['gid', '33'],
      ['mode', '0640'],
      filePart(),
    );
    const putFile = await beginUpload(device);
    expect(decodeBody(putFileShape, putFile.body)).toEqual({
      src_path: 'motd',
      path: '/etc/motd',
      uid: 1000,
      gid: 33,
      mode: 0o640,
    });
    expect((await takeContent(device, putFile)).toString()).toBe('hello');
    const { status, text } = await response;
    expect([status, text]).toEqual([201, '']);
    expect((await device.nextOf('close')).sid).toBe(putFile.sid);
  });

  it('omits owner and mode if the caller gives none', async () => {
    const response = uploadParts(stage, pathPart, filePart('x', 'folder/../name.txt'));
    const putFile = await beginUpload(device);
    expect(decodeBody(putFileShape, putFile.body)).toEqual({
      src_path: 'name.txt',
      path: '/etc/motd',
    });
    await takeContent(device, putFile);
    expect((await response).status).toBe(201);
  });

  it.each([0, 1, 4095, 4096, 4097, 10 * 4096, 100 * 4096 + 17])(
    'arrives unchanged with %i bytes, in chunks of 4096 bytes',
    async (bytes) => {
      const content = Buffer.alloc(bytes, 'a pattern that has no even length');
      const response = uploadParts(stage, pathPart, filePart(content));
      const received = await takeContent(device, await beginUpload(device));
      expect(received.equals(content)).toBe(true);
      expect((await response).status).toBe(201);
    },
  );

  it('sends no chunk before the device has agreed', async () => {
    const response = uploadParts(stage, pathPart, filePart());
    await acceptTransfer(device);
    const putFile = await device.nextOf('put_file');
    for (let trip = 0; trip < 5; trip += 1) await presenceOf(server, identity);
    await device.waitUntilReceived();
    expect(device.waiting).toEqual([]);
    acknowledge(device, putFile, 0);
    await takeContent(device, putFile);
    expect((await response).status).toBe(201);
  });

  it('is at most twenty chunks ahead of the acknowledgements', async () => {
    const content = Buffer.alloc(3 * windowBytes, 'pattern');
    const response = uploadParts(stage, pathPart, filePart(content));
    const putFile = await beginUpload(device);
    expect(await chunksUntilStandstill(stage)).toBe(fileChunksAhead);
    acknowledge(device, putFile, fileChunkBytes);
    expect(await chunksUntilStandstill(stage)).toBe(1);
    acknowledge(device, putFile, fileChunkBytes);
    acknowledge(device, putFile, 0);
    expect(await chunksUntilStandstill(stage)).toBe(0);
    acknowledge(device, putFile, windowBytes + fileChunkBytes);
    expect(await chunksUntilStandstill(stage)).toBe(fileChunksAhead);
    acknowledge(device, putFile, 2 * windowBytes + fileChunkBytes);
    // The rest of the file and its end mark remain.
    expect(await chunksUntilStandstill(stage)).toBe(fileChunksAhead - 1);
    acknowledge(device, putFile, content.length);
    expect((await response).status).toBe(201);
  });

  it('is not complete before the device acknowledges the end', async () => {
    let isAnswered = false;
    const response = uploadParts(stage, pathPart, filePart()).finally(() => {
      isAnswered = true;
    });
    const putFile = await beginUpload(device);
    await device.nextOf('file_chunk');
    await device.nextOf('file_chunk');
    for (const offset of [0, 4]) {
      acknowledge(device, putFile, offset);
      for (let trip = 0; trip < 5; trip += 1) await presenceOf(server, identity);
      expect(isAnswered).toBe(false);
    }
    acknowledge(device, putFile, 5);
    expect((await response).status).toBe(201);
  });

  it('is in the audit log with its path once it is complete', async () => {
    const response = uploadParts(stage, pathPart, filePart());
    const putFile = await beginUpload(device);
    expect((await entries(server, { object_id: identity.id }))[0]?.change).not.toMatch(/uploaded/);
    await takeContent(device, putFile);
    await response;
    const [entry] = await entries(server, { object_id: identity.id });
    expect(entry).toMatchObject({
      action: 'update',
      actor: { email: server.adminEmail, type: 'user' },
      object: { id: identity.id, type: 'device' },
      change: 'file uploaded: /etc/motd',
    });
  });

  it('ignores unknown parts and parts behind the file', async () => {
    const response = uploadParts(
      stage,
      ['note', 'x'],
      pathPart,
      filePart(),
      ['path', '/etc/shadow'],
      filePart('other', 'other'),
    );
    const putFile = await beginUpload(device);
    expect(decodeBody(putFileShape, putFile.body).path).toBe('/etc/motd');
    expect((await takeContent(device, putFile)).toString()).toBe('hello');
    expect((await response).status).toBe(201);
  });
});

describe('a malformed upload to a device', () => {
  it.each<[string, readonly UploadPart[], RegExp]>([
    ['without a path', [filePart()], /^path: is required, before the file$/],
    ['with a relative path', [['path', 'motd'], filePart()], /^path: must be absolute/],
    ['with an empty path', [['path', ''], filePart()], /^path: must be absolute/],
    ['with a zero byte in the path', [['path', '/a\0'], filePart()], /^path: /],
    ['with a path of 4097 bytes', [['path', `/${'x'.repeat(4096)}`], filePart()], /^path: .*4096/],
    ['with a path of 100 KB', [['path', `/${'x'.repeat(100_000)}`], filePart()], /^path: .*4096/],
    ['with a path behind the file', [filePart(), pathPart], /^path: is required, before the file$/],
    [
      'with a uid that is not a number',
      [pathPart, ['uid', 'root'], filePart()],
      /^uid: must be a whole/,
    ],
    ['with an empty uid', [pathPart, ['uid', ''], filePart()], /^uid: /],
    ['with a negative uid', [pathPart, ['uid', '-1'], filePart()], /^uid: /],
    [
      'with a uid beyond 32 bits',
      [pathPart, ['uid', '4294967296'], filePart()],
      /^uid: must be at most/,
    ],
    ['with a gid of a fraction', [pathPart, ['gid', '1.5'], filePart()], /^gid: /],
    [
      'with a mode that is not octal',
      [pathPart, ['mode', '0689'], filePart()],
      /^mode: must be octal/,
    ],
    [
      'with a mode like rw-r--r--',
      [pathPart, ['mode', 'rw-r--r--'], filePart()],
      /^mode: must be octal/,
    ],
    ['with a mode beyond 32 bits', [pathPart, ['mode', '77777777777'], filePart()], /^mode: /],
    ['without a file', [pathPart], /^file: is required/],
    [
      'with a file of another name',
      [pathPart, ['upload' as 'file', Buffer.from(''), 'a']],
      /^file: /,
    ],
    ['with a file that is text', [pathPart, ['file', 'hello']], /^file: is required/],
    ['with a name of 256 bytes', [pathPart, filePart('x', 'n'.repeat(256))], /^file: its name/],
    ['without anything', [], /^(file: is required|the multipart body is malformed)/],
  ])('returns 400 without a message to the device: %s', async (_, parts, error) => {
    const response = uploadParts(stage, ...parts);
    expect(await errorOf(response)).toEqual([400, expect.stringMatching(error)]);
    await device.waitUntilReceived();
    expect(device.waiting).toEqual([]);
  });

  it.each([
    [400, 'multipart/form-data', 'no boundary'],
    [415, 'application/json', '{}'],
    [415, 'multipart/mixed; boundary=x', '--x--\r\n'],
  ])(
    'returns %i without a message to the device as %s with %j',
    async (status, contentType, body) => {
      const headers = { 'Content-Type': contentType };
      const call = { token: server.adminToken, parameters: { id: identity.id }, headers, body };
      expect((await server.call('upload-device-file', call)).status).toBe(status);
      await device.waitUntilReceived();
      expect(device.waiting).toEqual([]);
    },
  );
});
