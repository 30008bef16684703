import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody, encodeBody, fileInfoShape } from '../../../fixtures/formats/connect-bodies.ts';
import type { ConnectMessage } from '../../../fixtures/formats/connect-message.ts';
import { noonMs } from '../../testing/client-fixture.ts';
import { ConnectFixture, errorTextOf, textOf, typesOf } from '../../testing/connect-fixture.ts';

const CHUNK = 4096;

class Transfer extends ConnectFixture {
  send(typ: string, body?: Record<string, unknown>): readonly ConnectMessage[] {
    return this.say('fileTransfer', typ, body === undefined ? {} : { body: encodeBody(body) });
  }

  ack(offset: unknown): readonly ConnectMessage[] {
    return this.say('fileTransfer', 'ack', { props: { offset } });
  }

  chunk(offset: unknown, body?: Buffer): readonly ConnectMessage[] {
    const props = { offset };
    return this.say('fileTransfer', 'file_chunk', body === undefined ? { props } : { props, body });
  }

  /** Sends a whole file in chunks, without reading the replies. */
  upload(path: string, content: Buffer): readonly ConnectMessage[] {
    const responses = [...this.send('put_file', { path })];
    for (let offset = 0; offset < content.length; offset += CHUNK) {
      responses.push(...this.chunk(offset, content.subarray(offset, offset + CHUNK)));
    }
    return [...responses, ...this.chunk(content.length)];
  }
}

function offsetsOf(messages: readonly ConnectMessage[]): unknown[] {
  return messages.map(({ props }) => props?.offset);
}

/** Returns bytes of which no two chunks are alike. */
function bytes(count: number): Buffer {
  const all = Buffer.alloc(count);
  for (let at = 0; at < count; at++) all[at] = (at * 31 + (at >> 8)) & 0xff;
  return all;
}

describe('the file information of a device', () => {
  it('contains the size, owner, mode and time of a file', () => {
    const [info] = new Transfer().send('stat', { path: '/etc/hostname' });
    expect(info).toMatchObject({ proto: 2, typ: 'file_info', sid: 's-1' });
    expect(decodeBody(fileInfoShape, info?.body)).toEqual({
      path: '/etc/hostname',
      size: 5,
      uid: 0,
      gid: 0,
      mode: 0o644,
      modtime: new Date(noonMs),
    });
  });

  it('identifies a folder by its mode', () => {
    const [info] = new Transfer().send('stat', { path: '/etc/' });
    expect(decodeBody(fileInfoShape, info?.body)).toMatchObject({ mode: 0x8000_0000 + 0o755 });
  });

  it.each([
    [{ path: '/none' }, "failed to get file info from path '/none': No such file or directory"],
    [{ path: 'etc/hostname' }, "invalid request parameters: path 'etc/hostname' is not absolute"],
    [{ path: '' }, 'invalid request parameters: path is missing'],
    [{ path: 7 }, 'body.path is wrong'],
    [{}, 'body.path is wrong'],
    [undefined, 'the body is missing'],
  ])('is an error for %j', (body, message) => {
    const responses = new Transfer().send('stat', body);
    expect(errorTextOf(responses)).toContain(message);
    expect(responses[0]).toMatchObject({ proto: 2, typ: 'error', sid: 's-1' });
  });
});

describe('a file download from a device', () => {
  it('sends the chunk of a small file and the end at once', () => {
    const chunks = new Transfer().send('get_file', { path: '/etc/hostname' });
    expect(chunks).toMatchObject([
      { proto: 2, typ: 'file_chunk', props: { offset: 0 }, body: Buffer.from('fb-1\n') },
      { proto: 2, typ: 'file_chunk', props: { offset: 5 } },
    ]);
    expect(chunks[1]?.body).toBeUndefined();
  });

  it('sends only the end for an empty file', () => {
    const transfer = new Transfer();
    transfer.upload('/tmp/empty', Buffer.alloc(0));
    const [end, ...more] = transfer.send('get_file', { path: '/tmp/empty' });
    expect(more).toEqual([]);
    expect(end).toEqual({ proto: 2, typ: 'file_chunk', sid: 's-1', props: { offset: 0 } });
  });

  it('is never more than twenty chunks ahead of the acknowledged offset', () => {
    const transfer = new Transfer();
    transfer.upload('/tmp/a', bytes(45 * CHUNK + 1));
    const first = transfer.send('get_file', { path: '/tmp/a' });
    expect(offsetsOf(first)).toEqual(Array.from({ length: 20 }, (_, index) => index * CHUNK));
    expect(transfer.ack(0)).toEqual([]);
    expect(offsetsOf(transfer.ack(10 * CHUNK))).toEqual(
      Array.from({ length: 10 }, (_, index) => (20 + index) * CHUNK),
    );
    expect(transfer.ack(5 * CHUNK)).toEqual([]);
    expect(transfer.ack(30 * CHUNK)).toHaveLength(15 + 1 + 1);
  });

  it('sends every byte, whatever the size and the acknowledgements', () => {
    fc.assert(
      fc.property(fc.nat(40 * CHUNK), fc.integer({ min: 1, max: 20 }), (size, every) => {
        const transfer = new Transfer();
        const content = bytes(size);
        transfer.upload('/tmp/a', content);
        const received: Buffer[] = [];
        const open = [...transfer.send('get_file', { path: '/tmp/a' })];
        let offset = 0;
        for (let message = open.shift(); message; message = open.shift()) {
          expect(message.props?.offset).toBe(offset);
          offset += message.body?.length ?? 0;
          const count = received.push(Buffer.from(message.body ?? ''));
          if (count % every === 0) open.push(...transfer.ack(offset));
        }
        expect(Buffer.concat(received).equals(content)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it.each([
    [{ path: '/none' }, "failed to open file '/none' for reading: No such file or directory"],
    [{ path: '/etc' }, "failed to open file '/etc' for reading: Is a directory"],
    [{ path: '../etc/hostname' }, 'is not absolute'],
    [{ path: null }, 'body.path is wrong'],
  ])('is an error for %j', (body, message) => {
    expect(errorTextOf(new Transfer().send('get_file', body))).toContain(message);
  });

  it.each([
    ['beyond what was sent', 21 * CHUNK, 'ack of an offset that was not sent yet'],
    ['that is missing', undefined, 'invalid ack message: offset property'],
    ['in text', '4096', 'invalid ack message: offset property'],
    ['below zero', -1, 'invalid ack message: offset property'],
  ])('fails after an acknowledgement with an offset %s', (_what, offset, message) => {
    const transfer = new Transfer();
    transfer.upload('/tmp/a', bytes(30 * CHUNK));
    transfer.send('get_file', { path: '/tmp/a' });
    expect(errorTextOf(transfer.ack(offset))).toContain(message);
  });

  it('stops at an error from the other side', () => {
    const transfer = new Transfer();
    transfer.upload('/tmp/a', bytes(30 * CHUNK));
    transfer.send('get_file', { path: '/tmp/a' });
    expect(transfer.send('error', { err: 'disk full' })).toEqual([]);
    expect(errorTextOf(transfer.ack(10 * CHUNK))).toBe('no file transfer in progress');
  });

  it('sends the content that the file had at the start', () => {
    const transfer = new Transfer();
    transfer.upload('/tmp/a', bytes(25 * CHUNK));
    transfer.send('get_file', { path: '/tmp/a' });
    transfer.upload('/tmp/other', Buffer.alloc(0));
    transfer.say('shell', 'new');
    transfer.say('shell', 'shell', { body: Buffer.from('echo new > /tmp/a\r') });
    const remainingChunks = transfer.ack(20 * CHUNK).slice(0, 5);
    expect(Buffer.concat(remainingChunks.map(({ body }) => Buffer.from(body ?? '')))).toEqual(
      bytes(25 * CHUNK).subarray(20 * CHUNK),
    );
  });
});

describe('a file upload to a device', () => {
  it('is acknowledged at its start, every ten chunks and at its end', () => {
    const transfer = new Transfer();
    const content = bytes(23 * CHUNK + 5);
    const acks = transfer.upload('/tmp/a', content);
    expect(typesOf(acks)).toEqual(['ack', 'ack', 'ack', 'ack']);
    expect(offsetsOf(acks)).toEqual([0, 10 * CHUNK, 20 * CHUNK, content.length]);
    const [info] = transfer.send('stat', { path: '/tmp/a' });
    expect(decodeBody(fileInfoShape, info?.body).size).toBe(content.length);
  });

  it('creates no file before its end', () => {
    const transfer = new Transfer();
    transfer.send('put_file', { path: '/tmp/a' });
    transfer.chunk(0, bytes(10));
    expect(errorTextOf(transfer.send('stat', { path: '/tmp/a' }))).toContain('No such file');
  });

  it('sets the owner and the permission bits of the file, and no other bits', () => {
    const transfer = new Transfer();
    transfer.send('put_file', {
      src_path: 'a',
      path: '/tmp/a',
      uid: 1000,
      gid: 100,
      mode: 0o104755,
      size: 1,
    });
    transfer.chunk(0, bytes(1));
    transfer.chunk(1);
    const [info] = transfer.send('stat', { path: '/tmp/a' });
    expect(decodeBody(fileInfoShape, info?.body)).toMatchObject({
      uid: 1000,
      gid: 100,
      mode: 0o755,
    });
  });

  it('creates a file that the shell can read', () => {
    const transfer = new Transfer();
    transfer.upload('/tmp/a', Buffer.from('from afar\n'));
    transfer.say('shell', 'new');
    const responses = transfer.say('shell', 'shell', { body: Buffer.from('cat /tmp/a\r') });
    expect(textOf(responses)).toContain('\r\nfrom afar\r\n');
  });

  it.each([
    [{ path: 'tmp/a' }, 'is not absolute'],
    [{ path: '/etc' }, 'conflicting file path: cannot overwrite irregular file'],
    [{ path: '/' }, 'conflicting file path: cannot overwrite irregular file'],
    [{ path: '/none/a' }, "failed to create target file: folder '/none': No such file"],
    [{ path: '/etc/hostname/a' }, "folder '/etc/hostname': Not a directory"],
    [{ path: '/tmp/a', size: 2 ** 40 }, 'the file is larger than 8388608 bytes'],
    [{ path: '/tmp/a', size: -1 }, 'body.size is wrong'],
    [{ path: '/tmp/a', mode: '0644' }, 'body.mode is wrong'],
    [{}, 'body.path is wrong'],
    [undefined, 'the body is missing'],
  ])('is refused for %j', (body, message) => {
    const transfer = new Transfer();
    expect(errorTextOf(transfer.send('put_file', body))).toContain(message);
    expect(errorTextOf(transfer.chunk(0, bytes(1)))).toBe('no file transfer in progress');
  });

  it.each([
    ['leaves a gap', CHUNK + 1, 'received unexpected chunk offset'],
    ['comes twice', 0, 'received unexpected chunk offset'],
    ['says no offset', undefined, 'invalid file_chunk message: offset property'],
  ])('fails without leaving a file when a chunk %s', (_what, offset, message) => {
    const transfer = new Transfer();
    transfer.send('put_file', { path: '/tmp/a' });
    transfer.chunk(0, bytes(CHUNK));
    expect(errorTextOf(transfer.chunk(offset, bytes(1)))).toContain(message);
    expect(errorTextOf(transfer.send('stat', { path: '/tmp/a' }))).toContain('No such file');
  });

  it('fails when it exceeds the maximum size of a file', () => {
    const transfer = new Transfer();
    transfer.send('put_file', { path: '/tmp/a' });
    const part = bytes(2 ** 20);
    for (let count = 0; count < 8; count++)
      expect(transfer.chunk(count * 2 ** 20, part)).toEqual([]);
    expect(errorTextOf(transfer.chunk(8 * 2 ** 20, bytes(1)))).toBe(
      'the file is larger than 8388608 bytes',
    );
  });

  it('fails with an error when the folder was removed meanwhile', () => {
    const transfer = new Transfer();
    transfer.send('put_file', { path: '/tmp/a' });
    transfer.say('shell', 'new');
    transfer.say('shell', 'shell', { body: Buffer.from('rm -r /tmp\r') });
    expect(errorTextOf(transfer.chunk(0))).toBe(
      'failed to commit uploaded file: No such file or directory',
    );
  });

  it.each(['put_file', 'get_file'])('does not allow %s to begin at the same time', (typ) => {
    const transfer = new Transfer();
    transfer.send('put_file', { path: '/tmp/a' });
    expect(errorTextOf(transfer.send(typ, { path: '/etc/hostname' }))).toBe(
      'another file transfer is in progress',
    );
    expect(typesOf(transfer.chunk(0))).toEqual(['ack']);
  });
});

describe('a file transfer message', () => {
  it.each(['ack', 'file_chunk'])('is refused without a transfer in progress: %s', (typ) => {
    const responses = new Transfer().say('fileTransfer', typ, { props: { offset: 0 } });
    expect(errorTextOf(responses)).toBe('no file transfer in progress');
  });

  it('is refused with its type in the error if the type is unknown', () => {
    expect(errorTextOf(new Transfer().send('chmod'))).toBe(
      "session: filetransfer message type 'chmod' not supported",
    );
  });
});
