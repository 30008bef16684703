import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../fixtures/contract/limits.ts';
import { encodeBody } from '../../../fixtures/formats/connect-bodies.ts';
import { connectProtocols } from '../../../fixtures/formats/connect-message.ts';
import { entries } from '../../testing/test-audit.ts';
import type { AcceptedDevice } from '../../testing/test-device.ts';
import type { Peer } from '../../testing/test-peer.ts';
import type { TestServer } from '../../testing/test-server.ts';
import {
  acceptTransfer,
  answerStat,
  askFile,
  askUnread,
  beginDownload,
  errorOf,
  openStage,
  sayChunk,
  sayError,
  sendContent,
  type TransferStage,
} from '../../testing/test-transfers.ts';

const { control, fileTransfer } = connectProtocols;
const { fileChunkBytes } = limits;

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
const describeFile = (path?: string) => askFile(stage, path, 'describe-device-file');

describe('a download of a device file', () => {
  it('returns the content from the device, with file information in headers', async () => {
    const response = download();
    const getFile = await beginDownload(device, { size: 5, uid: 1000, gid: 33, mode: 0o640 });
    await sendContent(device, getFile, Buffer.from('hello'));
    const { status, headers, text } = await response;
    expect([status, text]).toEqual([200, 'hello']);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="motd"',
      'x-svc-file-path': '/etc/motd',
      'x-svc-file-uid': '1000',
      'x-svc-file-gid': '33',
      'x-svc-file-mode': '640',
      'x-svc-file-size': '5',
    });
  });

  it('uses one session in the name of the user and closes it', async () => {
    const response = download('/var/log/messages');
    const open = await acceptTransfer(device);
    const stat = await answerStat(device);
    const getFile = await device.nextOf('get_file');
    sayChunk(device, getFile, { offset: 0, body: Buffer.from('x') });
    sayChunk(device, getFile, { offset: 1 });
    const ack = await device.nextOf('ack');
    const close = await device.nextOf('close');
    await response;
    expect([open, stat, getFile, ack, close].map(({ proto, sid }) => [proto, sid])).toEqual(
      [control, fileTransfer, fileTransfer, fileTransfer, control].map((proto) => [
        proto,
        open.sid,
      ]),
    );
    expect([open.props?.user_id, ack.props]).toEqual([
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      { user_id: open.props?.user_id, offset: 1 },
    ]);
    expect(Buffer.from(getFile.body ?? [])).toEqual(encodeBody({ path: '/var/log/messages' }));
  });

  it('is complete for a large file, with an acknowledgement every ten chunks', async () => {
    const content = Buffer.alloc(100 * fileChunkBytes + 17, 'a pattern that has no even length');
    const own = askUnread(stage);
    const sending = beginDownload(device).then((getFile) => sendContent(device, getFile, content));
    const [response] = (await once(own, 'response')) as [IncomingMessage];
    const received = Buffer.concat(await response.toArray());
    expect(received.equals(content)).toBe(true);
    const tens = Array.from({ length: 11 }, (_, ten) => ten * 10 * fileChunkBytes);
    expect(await sending).toEqual([...tens, content.length]);
  });

  it('can be empty or differ from the announced size', async () => {
    for (const content of ['', 'longer than was told']) {
      const response = download();
      await sendContent(device, await beginDownload(device, { size: 0 }), Buffer.from(content));
      const { status, text } = await response;
      expect([status, text]).toEqual([200, content]);
      while ((await device.next()).typ !== 'close');
    }
  });

  it('continues while the device sends pings', async () => {
    const response = download();
    const getFile = await beginDownload(device);
    device.reply(getFile, { proto: control, typ: 'ping' });
    expect((await device.nextOf('pong')).sid).toBe(getFile.sid);
    await sendContent(device, getFile, Buffer.from('hello'));
    expect((await response).text).toBe('hello');
  });

  it('omits headers for information that the device does not send', async () => {
    const response = download();
    await acceptTransfer(device);
    const stat = await device.nextOf('stat');
    const body = encodeBody({ path: '/etc/motd', mode: 0o600, uid: null });
    device.reply(stat, { proto: fileTransfer, typ: 'file_info', body });
    await sendContent(device, await device.nextOf('get_file'), Buffer.from('x'));
    const { headers } = await response;
    expect(['uid', 'gid', 'size'].map((name) => headers.get(`x-svc-file-${name}`))).toEqual([
      null,
      null,
      null,
    ]);
  });

  it.each([
    ['/tmp/a b.txt', 'attachment; filename="a b.txt"', '/tmp/a b.txt'],
    ['/tmp/"quoted".txt', /^attachment; filename="_quoted_.txt"; filename\*=UTF-8''/, /quoted/],
    ['/tmp/gr\u00fc\u00dfe', /filename="gr__e"; filename\*=UTF-8''gr%C3%BC%C3%9Fe$/, /^\/tmp\/gr/],
    [
      '/tmp/a\r\nSet-Cookie: b',
      /^attachment; filename="a__Set-Cookie_ b"/,
      '/tmp/a??Set-Cookie: b',
    ],
    ['/tmp/..', 'attachment; filename=".."', '/tmp/..'],
  ])('has safe headers for the file name %j', async (path, disposition, shown) => {
    const response = download(path);
    await sendContent(device, await beginDownload(device), Buffer.from('x'));
    const { headers } = await response;
    expect([headers.get('content-disposition'), headers.get('x-svc-file-path')]).toEqual([
      expect.stringMatching(disposition),
      expect.stringMatching(typeof shown === 'string' ? literal(shown) : shown),
    ]);
    expect(headers.get('set-cookie')).toBeNull();
  });

  it('uses the header prefix of the server', async () => {
    await server.close();
    stage = await openStage({ headerPrefix: 'X-MEN' });
    ({ server, identity, device } = stage);
    const response = describeFile();
    await acceptTransfer(device);
    await answerStat(device);
    expect((await response).headers.get('x-men-file-mode')).toBe('644');
  });

  it('is in the audit log with its path', async () => {
    const response = download();
    await sendContent(device, await beginDownload(device), Buffer.from('x'));
    await response;
    const [entry] = await entries(server, { object_id: identity.id });
    expect(entry).toMatchObject({
      action: 'update',
      actor: { email: server.adminEmail, type: 'user' },
      object: { id: identity.id, type: 'device' },
      change: 'file downloaded: /etc/motd',
    });
  });
});

function literal(text: string): RegExp {
  return new RegExp(`^${text.replace(/[?.]/g, '\\$&')}$`);
}

describe('HEAD of a device file', () => {
  it('returns the headers without requesting the content, and closes the session', async () => {
    const response = describeFile();
    await acceptTransfer(device);
    await answerStat(device, { size: 123_456, mode: 0o755 });
    await device.nextOf('close');
    const { status, headers, text } = await response;
    expect([status, text, headers.get('content-length')]).toEqual([200, '', null]);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="motd"',
      'x-svc-file-path': '/etc/motd',
      'x-svc-file-mode': '755',
      'x-svc-file-size': '123456',
    });
    expect(device.waiting).toEqual([]);
  });

  it('returns the same error status as a download', async () => {
    const response = describeFile();
    await acceptTransfer(device);
    sayError(device, await device.nextOf('stat'), { err: 'no such file' });
    expect((await response).status).toBe(400);
    expect((await describeFile('relative')).status).toBe(400);
  });
});

describe('the path of a device file', () => {
  it.each([
    ['none', ''],
    ['a relative one', 'etc/motd'],
    ['one that begins with a dot', './etc/motd'],
    ['one with a zero byte', '/etc/motd\0'],
    ['one of 4097 bytes', `/${'x'.repeat(4096)}`],
    ['one of 4098 bytes in fewer characters', `/${'\u00fc'.repeat(2048)}x`],
  ])('returns 400 without a message to the device: %s', async (_, path) => {
    const [status, error] = await errorOf(download(path));
    expect([status, error]).toEqual([400, expect.stringMatching(/^query: path: /)]);
    await device.waitUntilReceived();
    expect(device.waiting).toEqual([]);
  });

  it('returns 400 if it is missing or given twice', async () => {
    const parameters = { id: identity.id };
    const call = { token: server.adminToken, parameters };
    expect((await server.call('download-device-file', call)).status).toBe(400);
    const query = new URLSearchParams([
      ['path', '/a'],
      ['path', '/b'],
    ]);
    expect((await server.call('download-device-file', { ...call, query })).status).toBe(400);
  });

  it('can have 4096 bytes', async () => {
    const response = describeFile(`/${'x'.repeat(4095)}`);
    await acceptTransfer(device);
    await answerStat(device);
    expect((await response).status).toBe(200);
  });
});

describe('a download of a device path', () => {
  it.each([
    ['a directory of a Go device', 0x8000_01ed],
    ['a link', 0x0800_01ff],
    ['a named pipe', 0x0200_01a4],
    ['a socket', 0x0100_01a4],
    ['a device', 0x0400_01b0],
    ['a character device', 0x0420_01b0],
    ['an irregular file', 0x0008_01a4],
    ['a directory as stat(2) counts', 0o040755],
    ['a link as stat(2) counts', 0o120777],
    ['a file of unknown mode', null],
  ])('returns 400 if the path is not a regular file: %s', async (_, mode) => {
    const response = download();
    await acceptTransfer(device);
    await answerStat(device, { mode });
    expect(await errorOf(response)).toEqual([400, 'path: /etc/motd is not a regular file']);
    await device.nextOf('close');
  });

  it.each([
    ['a Go device', 0o644, '644'],
    ['a Go device, with setuid', 0x0080_01ed, '40000755'],
    ['stat(2)', 0o100644, '100644'],
  ])(
    'succeeds if the path is a regular file, with the mode given by %s',
    async (_, mode, shown) => {
      const response = describeFile();
      await acceptTransfer(device);
      await answerStat(device, { mode });
      const { status, headers } = await response;
      expect([status, headers.get('x-svc-file-mode')]).toEqual([200, shown]);
    },
  );
});
