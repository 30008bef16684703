import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../fixtures/contract/limits.ts';
import {
  acceptShape,
  connectErrorShape,
  decodeBody,
  encodeBody,
} from '../../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  connectProtocols,
  encodeConnectMessage,
} from '../../../fixtures/formats/connect-message.ts';
import { ConnectBench, errorTextOf, typesOf } from '../../testing/connect-bench.ts';

function errorOf(messages: readonly ConnectMessage[]) {
  expect(typesOf(messages)).toEqual(['error']);
  expect(messages[0]?.proto).toBe(connectProtocols.control);
  return decodeBody(connectErrorShape, messages[0]?.body);
}

const open = { body: encodeBody({ versions: [1] }) };
const getFile = { body: encodeBody({ path: '/etc/hostname' }) };

describe('the handshake of a session', () => {
  it('is accepted with the version and the protocols', () => {
    const [accept, ...more] = new ConnectBench().say('control', 'open', open);
    expect(more).toEqual([]);
    expect(accept).toMatchObject({ proto: 0xffff, typ: 'accept', sid: 's-1' });
    expect(decodeBody(acceptShape, accept?.body)).toEqual({ version: 1, protocols: [1, 2, 3, 4] });
  });

  it('chooses version 1 among other versions', () => {
    const body = encodeBody({ versions: [3, 2, 1] });
    expect(typesOf(new ConnectBench().say('control', 'open', { body }))).toEqual(['accept']);
  });

  it.each([
    ['other versions', encodeBody({ versions: [2, 3] })],
    ['no version', encodeBody({ versions: [] })],
    ['no body', undefined],
    ['a body that is none', Buffer.from([0xc1])],
    ['versions in text', encodeBody({ versions: '1' })],
  ])('with %s is rejected, and the session ends', (_what, body) => {
    const bench = new ConnectBench();
    const rest = body === undefined ? {} : { body };
    expect(errorOf(bench.say('control', 'open', rest))).toEqual({
      err: 'handshake rejected: require version 1',
      close: true,
      msgproto: 0xffff,
      msgtype: 'open',
    });
    expect(bench.pass(70)).toEqual([]);
  });
});

describe('the control messages of a session', () => {
  it('include a ping, which is answered with a pong', () => {
    expect(new ConnectBench().say('control', 'ping')).toEqual([
      { proto: 0xffff, typ: 'pong', sid: 's-1' },
    ]);
  });

  it.each(['pong', 'accept', 'close'])('need no response: %s', (typ) => {
    expect(new ConnectBench().say('control', typ)).toEqual([]);
  });

  it('are refused with their type when it is unknown, and the session continues', () => {
    const bench = new ConnectBench();
    const props = { msgid: 'm-7' };
    expect(errorOf(bench.say('control', 'reboot', { props }))).toEqual({
      err: "session: control type message not understood: 'reboot'",
      close: false,
      msgproto: 0xffff,
      msgtype: 'reboot',
      msgid: 'm-7',
    });
    expect(typesOf(bench.say('control', 'ping'))).toEqual(['pong']);
  });

  it.each([
    [0, '0x0000'],
    [5, '0x0005'],
    [0xfffe, '0xFFFE'],
  ])('are the error for protocol %i, which has no handler', (proto, digits) => {
    const { device } = new ConnectBench();
    expect(errorOf(device.answer({ proto, typ: 'x', sid: 's' }))).toEqual({
      err: `no handler registered for protocol: ${digits}`,
      close: false,
      msgproto: proto,
      msgtype: 'x',
    });
  });

  it.each([
    ['close', undefined],
    ['error', encodeBody({ err: 'gone', close: true })],
  ])('that end a session also end its shell and connections: %s', (typ, body) => {
    const bench = new ConnectBench();
    const connection = { props: { connection_id: 'c' } };
    const remote = { remote_host: 'localhost', remote_port: 7, protocol: 'tcp' };
    bench.say('portForward', 'new', { ...connection, body: encodeBody(remote) });
    bench.say('shell', 'new');
    const rest = body === undefined ? {} : { body };
    expect(bench.say('control', typ, rest)).toEqual([
      { proto: 3, typ: 'stop', sid: 's-1', ...connection },
    ]);
    expect(errorTextOf(bench.say('shell', 'shell'))).toBe('session not found');
    expect(errorTextOf(bench.say('portForward', 'forward', connection))).toBe('unknown connection');
  });

  it.each([
    ['says that it does not', encodeBody({ err: 'no', close: false })],
    ['says nothing of it', encodeBody({ err: 'no' })],
    ['cannot be read', Buffer.from([0xc1])],
  ])('leave the session open after an error that %s end it', (_what, body) => {
    const bench = new ConnectBench();
    bench.say('shell', 'new');
    expect(bench.say('control', 'error', { body })).toEqual([]);
    expect(typesOf(bench.say('shell', 'ping'))).toEqual(['pong']);
  });
});

describe('a session', () => {
  it('that is quiet is pinged, and stays open after any message', () => {
    const bench = new ConnectBench();
    bench.say('control', 'open', open);
    expect(bench.pass(47)).toEqual([]);
    expect(bench.pass(1)).toEqual([{ proto: 0xffff, typ: 'ping', sid: 's-1' }]);
    expect(bench.pass(11)).toEqual([]);
    bench.say('control', 'pong');
    expect(bench.pass(47)).toEqual([]);
    expect(typesOf(bench.pass(1))).toEqual(['ping']);
    bench.say('shell', 'new');
    expect(bench.pass(47)).toEqual([]);
  });

  it('that stays silent for a minute ends with its transfers, without a message to a shell', () => {
    const bench = new ConnectBench();
    bench.say('fileTransfer', 'put_file', { body: encodeBody({ path: '/tmp/a' }) });
    const ends = bench.pass(60);
    expect(typesOf(ends)).toEqual(['ping', 'error']);
    expect(errorOf(ends.slice(1))).toEqual({ err: 'session timeout', close: true });
    expect(ends[1]?.sid).toBe('s-1');
    expect(bench.pass(120)).toEqual([]);
    const chunk = { props: { offset: 0 }, body: Buffer.from('x') };
    expect(errorTextOf(bench.say('fileTransfer', 'file_chunk', chunk))).toBe(
      'no file transfer in progress',
    );
  });

  it('is independent of another session', () => {
    const bench = new ConnectBench();
    const big = { body: encodeBody({ path: '/tmp/a' }) };
    expect(typesOf(bench.say('fileTransfer', 'put_file', big))).toEqual(['ack']);
    const other = bench.say('fileTransfer', 'get_file', { ...getFile, sid: 's-2' });
    expect(other.map(({ sid }) => sid)).toEqual(['s-2', 's-2']);
    bench.say('control', 'close', { sid: 's-2' });
    const chunk = { props: { offset: 0 } };
    expect(typesOf(bench.say('fileTransfer', 'file_chunk', chunk))).toEqual(['ack']);
  });

  it('can have no id', () => {
    const bench = new ConnectBench();
    const response = bench.device.answer({ proto: 0xffff, typ: 'ping' });
    expect(encodeConnectMessage(response[0] ?? { proto: 0 })).toEqual(
      encodeConnectMessage({ proto: 0xffff, typ: 'pong' }),
    );
  });

  it('is refused beyond the maximum count, until another session has ended', () => {
    const bench = new ConnectBench();
    for (let index = 0; index < 64; index++) bench.say('control', 'ping', { sid: `${index}` });
    expect(errorOf(bench.say('control', 'ping'))).toMatchObject({
      err: 'too many sessions: 64 are open',
      close: true,
    });
    bench.say('control', 'close', { sid: '7' });
    expect(typesOf(bench.say('control', 'ping'))).toEqual(['pong']);
  });

  it('ends with the connection, but the files remain', () => {
    const bench = new ConnectBench();
    bench.say('shell', 'new');
    bench.say('shell', 'shell', { body: Buffer.from('echo kept > /tmp/a\r') });
    bench.device.disconnect();
    expect(errorTextOf(bench.say('shell', 'shell'))).toBe('session not found');
    expect(bench.pass(70)).toEqual([]);
    const stat = { body: encodeBody({ path: '/tmp/a' }) };
    expect(typesOf(bench.say('fileTransfer', 'stat', stat))).toEqual(['file_info']);
  });
});

describe('the update client of a connected device', () => {
  it.each(['check-update', 'send-inventory'])('is told to %s, and confirms the command', (typ) => {
    const bench = new ConnectBench();
    const [response] = bench.say('menderClient', typ);
    expect(response).toMatchObject({ proto: 4, typ, sid: 's-1', props: { status: 1 } });
    expect(bench.clientRequests).toEqual([typ]);
  });

  it('refuses a command that it does not know', () => {
    const bench = new ConnectBench();
    const responses = bench.say('menderClient', 'reboot');
    expect(errorTextOf(responses)).toBe("unknown message type 'reboot'");
    expect(responses[0]?.typ).toBe('reboot');
    expect(bench.clientRequests).toEqual([]);
  });
});

describe('any sequence of messages to a device', () => {
  const types = [
    ...['open', 'accept', 'close', 'ping', 'pong', 'error', 'new', 'shell', 'resize', 'stop'],
    ...['stat', 'get_file', 'put_file', 'file_chunk', 'ack', 'forward', 'check-update', 'x'],
  ];
  /** The longest allowed ID, in characters of three bytes. */
  const wide = '測'.repeat(256);
  const bodies = [
    encodeBody({ versions: [1] }),
    encodeBody({ err: 'x'.repeat(4000), close: false }),
    encodeBody({ path: `/${'測'.repeat(2600)}` }),
    encodeBody({ remote_host: '測'.repeat(2600), remote_port: 7, protocol: 'tcp' }),
    encodeBody({ path: '/tmp/a' }),
    encodeBody({ path: `/${'x'.repeat(4000)}` }),
    encodeBody({ remote_host: 'x'.repeat(4000), remote_port: 7, protocol: 'tcp' }),
    encodeBody({ remote_host: 'localhost', remote_port: 7, protocol: 'tcp' }),
    Buffer.from('help\rls -l /etc\rcat /etc/os-release\r'.repeat(50)),
    Buffer.alloc(8000, 'x'),
  ];
  const message = fc.record(
    {
      proto: fc.constantFrom(0, 1, 2, 3, 4, 0xffff),
      typ: fc.oneof(fc.constantFrom(...types, wide), fc.string({ maxLength: 256 })),
      sid: fc.constantFrom('a', 'b', wide),
      props: fc.record(
        {
          offset: fc.oneof(fc.integer(), fc.string()),
          connection_id: fc.constantFrom('c', 'd', wide, 'i'.repeat(5000)),
          user_id: fc.constantFrom('u', wide),
          msgid: fc.constantFrom('m', wide),
          terminal_height: fc.anything(),
          terminal_width: fc.integer(),
        },
        { requiredKeys: [], noNullPrototype: true },
      ),
      body: fc.oneof(fc.constantFrom(...bodies), fc.uint8Array({ maxLength: 100 })),
    },
    { requiredKeys: ['proto', 'typ'], noNullPrototype: true },
  );

  it('is answered only with messages within the size limit of a device', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 30 }), (messages) => {
        const bench = new ConnectBench();
        for (const each of messages) {
          for (const response of [...bench.device.answer(each), ...bench.pass(3)]) {
            const { length } = encodeConnectMessage(response);
            expect(length).toBeLessThan(limits.connectDeviceMessageMaxBytes);
          }
        }
      }),
      { numRuns: 150 },
    );
  });
});
