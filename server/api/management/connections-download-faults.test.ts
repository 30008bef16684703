import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../fixtures/contract/limits.ts';
import { encodeBody } from '../../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  connectProtocols,
} from '../../../fixtures/formats/connect-message.ts';
import { entries } from '../../testing/test-audit.ts';
import type { AcceptedDevice } from '../../testing/test-device.ts';
import { connectUser, type Peer } from '../../testing/test-peer.ts';
import type { TestServer } from '../../testing/test-server.ts';
import { presenceOf } from '../../testing/test-sockets.ts';
import {
  acceptTransfer,
  askFile,
  askUnread,
  beginDownload,
  errorOf,
  openStage,
  passTime,
  sayChunk,
  sayError,
  type TransferStage,
} from '../../testing/test-transfers.ts';

const { control, fileTransfer, shell } = connectProtocols;
const { fileChunkBytes, fileChunksAhead, fileAckEveryChunks } = limits;

let stage: TransferStage;
let server: TestServer;
let identity: AcceptedDevice;
let device: Peer;

beforeEach(async () => {
  stage = await openStage();
  ({ server, identity, device } = stage);
});

afterEach(() => server.close());

const download = (path?: string) => askFile(stage, path);

describe('a download from a device that does not transfer files', () => {
  it.each<[string, ConnectMessage, string | RegExp]>([
    [
      'it accepts other protocols only',
      { proto: control, typ: 'accept', body: encodeBody({ version: 1, protocols: [1, 3, 4] }) },
      'file transfer is disabled on the device',
    ],
    [
      'it accepts another version',
      { proto: control, typ: 'accept', body: encodeBody({ version: 2, protocols: [2] }) },
      /version 2/,
    ],
    [
      'it refuses the version',
      { proto: control, typ: 'error', body: encodeBody({ err: 'require version 3', close: true }) },
      'the device reports an error: require version 3',
    ],
    [
      'it refuses with a code of its own',
      { proto: control, typ: 'error', body: encodeBody({ err: 'busy', code: 503 }) },
      'the device reports an error: busy',
    ],
    [
      'it does not know of handshakes',
      { proto: shell, typ: 'error', body: Buffer.from('what?') },
      /is malformed/,
    ],
    ['it echoes', { proto: control, typ: 'open' }, 'the device does not support file transfer'],
    [
      'it answers something else',
      { proto: fileTransfer, typ: 'accept', body: encodeBody({ version: 1, protocols: [2] }) },
      'the device does not support file transfer',
    ],
    [
      'it accepts without a body',
      { proto: control, typ: 'accept' },
      /"accept" message is malformed/,
    ],
    [
      'it accepts with garbage',
      { proto: control, typ: 'accept', body: Buffer.from([0xc1]) },
      /"accept" message is malformed/,
    ],
    ['it closes', { proto: control, typ: 'close' }, 'the device closed the session'],
  ])('returns 502 if %s', async (_, message, error) => {
    const response = download();
    device.reply(await device.nextOf('open'), message);
    expect(await errorOf(response)).toEqual([502, expect.stringMatching(error)]);
    await device.nextOf('close');
    await device.waitUntilReceived();
    expect(device.waiting).toEqual([]);
  });
});

describe('a download from a device that reports an error', () => {
  it.each([
    [{ err: 'no such file' }, 400],
    [{ err: 'no such file', code: 404 }, 404],
    [{ err: 'no such file', code: 503 }, 503],
    [{ err: 'no such file', code: 0 }, 400],
    [{ err: 'no such file', code: 200 }, 400],
    [{ err: 'no such file', code: 600 }, 400],
    [{ err: 'no such file', code: -1 }, 400],
  ])('returns 400, or the error code that the device sends: %j', async (error, status) => {
    const response = download();
    await acceptTransfer(device);
    sayError(device, await device.nextOf('stat'), error);
    expect(await errorOf(response)).toEqual([status, 'the device reports an error: no such file']);
  });

  it('returns 400 if the error comes after the file information', async () => {
    const response = download();
    sayError(device, await beginDownload(device), { err: 'permission denied' });
    expect(await errorOf(response)).toEqual([
      400,
      'the device reports an error: permission denied',
    ]);
    expect(await entries(server, { object_id: identity.id })).not.toContainEqual(
      expect.objectContaining({ change: 'file downloaded: /etc/motd' }),
    );
  });
});

describe('a download from a device that violates the protocol', () => {
  it.each<[string, ConnectMessage]>([
    ['it accepts twice', { proto: control, typ: 'accept' }],
    ['it sends a chunk', { proto: fileTransfer, typ: 'file_chunk', props: { offset: 0 } }],
    ['it sends an acknowledgement', { proto: fileTransfer, typ: 'ack', props: { offset: 0 } }],
    ['it tells of a file without a body', { proto: fileTransfer, typ: 'file_info' }],
    ['it sends a message without a type', { proto: fileTransfer }],
    ['it speaks of the shell', { proto: shell, typ: 'file_info', body: encodeBody({}) }],
  ])('returns 502 if %s in reply to stat', async (_, message) => {
    const response = download();
    await acceptTransfer(device);
    device.reply(await device.nextOf('stat'), message);
    expect((await errorOf(response))[0]).toBe(502);
  });

  it.each<[string, ConnectMessage['props']]>([
    ['beyond', { offset: 4096 }],
    ['that is negative', { offset: -1 }],
    ['that is text', { offset: '0' }],
    ['that is a map', { offset: { valueOf: 1 } }],
    ['that is missing', {}],
  ])('returns 502 if its first chunk has an offset %s', async (_, props = {}) => {
    const response = download();
    const getFile = await beginDownload(device);
    const body = Buffer.from('hello');
    device.reply(getFile, { proto: fileTransfer, typ: 'file_chunk', props, body });
    expect(await errorOf(response)).toEqual([502, expect.stringMatching(/offset .* instead of 0/)]);
  });
});

describe('a download from a device that sends nothing', () => {
  const deadlineMs = limits.connectReplyMaxSeconds * 1000;

  it.each<[string, () => Promise<unknown>]>([
    ['the handshake', () => device.nextOf('open')],
    ['stat', async () => [await acceptTransfer(device), await device.nextOf('stat')]],
    ['the first chunk', () => beginDownload(device)],
  ])('returns 408 after 60 s, and not earlier, at %s', async (_, takePart) => {
    let isAnswered = false;
    const response = download().finally(() => {
      isAnswered = true;
    });
    await takePart();
    await passTime(stage, deadlineMs - 1);
    expect(isAnswered).toBe(false);
    server.clock.advance(1);
    expect(await errorOf(response)).toEqual([408, 'the device did not answer within 60 s']);
    await device.nextOf('close');
  });

  it('allows 60 s for each chunk', async () => {
    const response = download();
    const getFile = await beginDownload(device);
    for (const offset of [0, 1, 2]) {
      await passTime(stage, deadlineMs - 1);
      sayChunk(device, getFile, { offset, body: Buffer.from('x') });
      await device.waitUntilReceived();
    }
    sayChunk(device, getFile, { offset: 3 });
    expect((await response).text).toBe('xxx');
  });
});

describe('a download whose content has begun', () => {
  async function begun() {
    const own = askUnread(stage);
    const getFile = await beginDownload(device);
    sayChunk(device, getFile, { offset: 0, body: Buffer.from('hello') });
    const [response] = (await once(own, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    const ended = response.toArray().then(
      () => 'whole',
      (error: Error & { code?: string }) => error.code,
    );
    return { getFile, ended, response };
  }

  it.each<[string, (getFile: ConnectMessage) => void]>([
    [
      'a wrong offset',
      (getFile) => sayChunk(device, getFile, { offset: 4, body: Buffer.from('o') }),
    ],
    [
      'an offset that repeats',
      (getFile) => sayChunk(device, getFile, { offset: 0, body: Buffer.from('hello') }),
    ],
    ['an end at a wrong offset', (getFile) => sayChunk(device, getFile, { offset: 4 })],
    ['an error', (getFile) => sayError(device, getFile, { err: 'disk failed' })],
    ['a close', (getFile) => device.reply(getFile, { proto: control, typ: 'close' })],
    ['the end of the device', () => device.socket.terminate()],
    ['garbage', () => device.socket.send('garbage')],
  ])('is cut off by %s', async (_, go) => {
    const { getFile, ended } = await begun();
    go(getFile);
    expect(await ended).toBe('ECONNRESET');
  });

  it('is cut off after a minute without data from the device', async () => {
    const { ended } = await begun();
    server.clock.advance(30_000);
    await device.waitUntilReceived();
    server.clock.advance(30_000);
    expect(await ended).toBe('ECONNRESET');
  });

  it('is ended at the device if the caller disconnects', async () => {
    const { getFile, response } = await begun();
    const closed = once(response, 'close');
    response.destroy();
    await closed;
    for (let at = 5; at < 200 && device.waiting.length === 0; at += 1) {
      sayChunk(device, getFile, { offset: at, body: Buffer.from('x') });
      await device.waitUntilReceived();
    }
    await device.nextOf('error');
    expect((await device.nextOf('close')).sid).toBe(getFile.sid);
  });
});

describe('the flow control of a download', () => {
  it('stops acknowledgements while the caller reads nothing', async () => {
    const own = askUnread(stage);
    const getFile = await beginDownload(device);
    const chunk = Buffer.alloc(fileChunkBytes);
    sayChunk(device, getFile, { offset: 0, body: chunk });
    const [response] = (await once(own, 'response')) as [IncomingMessage];
    let sent = 1;
    let acknowledged = 0;
    // The test acts like a real device: it sends twenty chunks ahead and then waits.
    for (let idle = 0; idle < 100; idle += 1) {
      for (; sent - acknowledged < fileChunksAhead; sent += 1) {
        sayChunk(device, getFile, { offset: sent * fileChunkBytes, body: chunk });
      }
      await device.waitUntilReceived();
      while (device.waiting.length > 0) {
        acknowledged = Number((await device.nextOf('ack')).props?.offset) / fileChunkBytes;
        idle = 0;
      }
      if (sent > 20_000) throw new Error('the server takes all that comes');
    }
    expect(sent - acknowledged).toBe(fileChunksAhead);
    expect(acknowledged % fileAckEveryChunks).toBe(0);
    response.resume();
    expect((await device.nextOf('ack')).props?.offset).toBe(
      (acknowledged + fileAckEveryChunks) * fileChunkBytes,
    );
    response.destroy();
  });

  it('cuts off a device that does not wait for acknowledgements', async () => {
    const own = askUnread(stage);
    const getFile = await beginDownload(device);
    const chunk = Buffer.alloc(fileChunkBytes);
    sayChunk(device, getFile, { offset: 0, body: chunk });
    const [response] = (await once(own, 'response')) as [IncomingMessage];
    const ended = new Promise((resolve) => response.on('close', resolve));
    response.on('error', () => undefined);
    let at = 1;
    while (device.waiting.every(({ typ }) => typ !== 'close') && at < 50_000) {
      for (const until = at + 500; at < until; at += 1) {
        sayChunk(device, getFile, { offset: at * fileChunkBytes, body: chunk });
      }
      await device.waitUntilReceived();
    }
    expect(at).toBeLessThan(50_000);
    response.resume();
    await ended;
    expect(response.complete).toBe(false);
  });
});

describe('a download from a device that does not read', () => {
  it('returns 502 if the device keeps sending pings', async () => {
    let response: unknown;
    const reply = errorOf(download()).then((given) => {
      response = given;
    });
    const open = await device.nextOf('open');
    device.socket.pause();
    const user = await connectUser(server, identity);
    const message = { proto: shell, typ: 'shell', body: Buffer.alloc(8000) };
    // These bytes exceed the limit for unread data and the buffers of the operating system.
    for (let sent = 0; sent < 48 * 1_048_576; sent += message.body.length) user.say(message);
    for (let count = 0; !response && count < 10_000; count += 1) {
      device.reply(open, { proto: control, typ: 'ping' });
      await presenceOf(server, identity);
    }
    await reply;
    expect(response).toEqual([502, 'the device sends requests, but does not read the responses']);
  });
});

describe('two downloads from one device', () => {
  it('can run at the same time without interference', async () => {
    const first = download('/first');
    const firstAsked = await beginDownload(device);
    const second = download('/second');
    const secondAsked = await beginDownload(device);
    sayChunk(device, secondAsked, { offset: 0, body: Buffer.from('two') });
    sayChunk(device, firstAsked, { offset: 0, body: Buffer.from('one') });
    sayChunk(device, secondAsked, { offset: 3 });
    expect((await second).text).toBe('two');
    sayChunk(device, firstAsked, { offset: 3 });
    expect((await first).text).toBe('one');
  });
});
