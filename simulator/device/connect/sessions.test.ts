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
import { ConnectFixture, errorTextOf, typesOf } from '../../testing/connect-fixture.ts';

function errorOf(messages: readonly ConnectMessage[]) {
  expect(typesOf(messages)).toEqual(['error']);
  expect(messages[0]?.proto).toBe(connectProtocols.control);
  return decodeBody(connectErrorShape, messages[0]?.body);
}

const open = { body: encodeBody({ versions: [1] }) };
const getFile = { body: encodeBody({ path: '/etc/hostname' }) };

describe('the handshake of a session', () => {
  it('is accepted with the version and the protocols', () => {
    const [accept, ...more] = new ConnectFixture().say('control', 'open', open);
    expect(more).toEqual([]);
    expect(accept).toMatchObject({ proto: 0xffff, typ: 'accept', sid: 's-1' });
    expect(decodeBody(acceptShape, accept?.body)).toEqual({ version: 1, protocols: [1, 2, 3, 4] });
  });

  it('chooses version 1 among other versions', () => {
    const body = encodeBody({ versions: [3, 2, 1] });
    expect(typesOf(new ConnectFixture().say('control', 'open', { body }))).toEqual(['accept']);
  });

  it.each([
    ['other versions', encodeBody({ versions: [2, 3] })],
    ['no version', encodeBody({ versions: [] })],
    ['no body', undefined],
    ['an invalid body', Buffer.from([0xc1])],
    ['versions in text', encodeBody({ versions: '1' })],
  ])('is refused with %s, and the session ends', (_what, body) => {
    const fixture = new ConnectFixture();
    const fields = body === undefined ? {} : { body };
    expect(errorOf(fixture.say('control', 'open', fields))).toEqual({
      err: 'handshake refused: require version 1',
      close: true,
      msgproto: 0xffff,
      msgtype: 'open',
    });
    expect(fixture.pass(70)).toEqual([]);
  });
});

describe('the control messages of a session', () => {
  it('include a ping, which is answered with a pong', () => {
    expect(new ConnectFixture().say('control', 'ping')).toEqual([
      { proto: 0xffff, typ: 'pong', sid: 's-1' },
    ]);
  });

  it.each(['pong', 'accept', 'close'])('need no response: %s', (typ) => {
    expect(new ConnectFixture().say('control', typ)).toEqual([]);
  });

  it('are refused with their type when it is unknown, and the session continues', () => {
    const fixture = new ConnectFixture();
    const props = { msgid: 'm-7' };
    expect(errorOf(fixture.say('control', 'reboot', { props }))).toEqual({
      err: "session: control type message not understood: 'reboot'",
      close: false,
      msgproto: 0xffff,
      msgtype: 'reboot',
      msgid: 'm-7',
    });
    expect(typesOf(fixture.say('control', 'ping'))).toEqual(['pong']);
  });

  it.each([
    [0, '0x0000'],
    [5, '0x0005'],
    [0xfffe, '0xFFFE'],
  ])('are the error for protocol %i, which has no handler', (proto, digits) => {
    const { device } = new ConnectFixture();
    expect(errorOf(device.respond({ proto, typ: 'x', sid: 's' }))).toEqual({
      err: `no handler registered for protocol: ${digits}`,
      close: false,
      msgproto: proto,
      msgtype: 'x',
    });
  });

  it.each([
    ['close', undefined],
    ['error', encodeBody({ err: 'gone', close: true })],
  ])('end the shell and the connections together with the session: %s', (typ, body) => {
    const fixture = new ConnectFixture();
    const connection = { props: { connection_id: 'c' } };
    const remote = { remote_host: 'localhost', remote_port: 7, protocol: 'tcp' };
    fixture.say('portForward', 'new', { ...connection, body: encodeBody(remote) });
    fixture.say('shell', 'new');
    const fields = body === undefined ? {} : { body };
    expect(fixture.say('control', typ, fields)).toEqual([
      { proto: 3, typ: 'stop', sid: 's-1', ...connection },
    ]);
    expect(errorTextOf(fixture.say('shell', 'shell'))).toBe('session not found');
    expect(errorTextOf(fixture.say('portForward', 'forward', connection))).toBe(
      'unknown connection',
    );
  });

  it.each([
    ['says that it does not', encodeBody({ err: 'no', close: false })],
    ['says nothing of it', encodeBody({ err: 'no' })],
    ['cannot be read', Buffer.from([0xc1])],
  ])('leave the session open after an error that %s end it', (_what, body) => {
    const fixture = new ConnectFixture();
    fixture.say('shell', 'new');
    expect(fixture.say('control', 'error', { body })).toEqual([]);
    expect(typesOf(fixture.say('shell', 'ping'))).toEqual(['pong']);
  });
});

describe('a session', () => {
  it('is pinged while it is idle, and stays open after any message', () => {
    const fixture = new ConnectFixture();
    fixture.say('control', 'open', open);
    expect(fixture.pass(47)).toEqual([]);
    expect(fixture.pass(1)).toEqual([{ proto: 0xffff, typ: 'ping', sid: 's-1' }]);
    expect(fixture.pass(11)).toEqual([]);
    fixture.say('control', 'pong');
    expect(fixture.pass(47)).toEqual([]);
    expect(typesOf(fixture.pass(1))).toEqual(['ping']);
    fixture.say('shell', 'new');
    expect(fixture.pass(47)).toEqual([]);
  });

  it('ends with its transfers after a minute without a message, and a shell gets no message', () => {
    const fixture = new ConnectFixture();
    fixture.say('fileTransfer', 'put_file', { body: encodeBody({ path: '/tmp/a' }) });
    const ends = fixture.pass(60);
    expect(typesOf(ends)).toEqual(['ping', 'error']);
    expect(errorOf(ends.slice(1))).toEqual({ err: 'session timeout', close: true });
    expect(ends[1]?.sid).toBe('s-1');
    expect(fixture.pass(120)).toEqual([]);
    const chunk = { props: { offset: 0 }, body: Buffer.from('x') };
    expect(errorTextOf(fixture.say('fileTransfer', 'file_chunk', chunk))).toBe(
      'no file transfer in progress',
    );
  });

  it('is independent of another session', () => {
    const fixture = new ConnectFixture();
    const big = { body: encodeBody({ path: '/tmp/a' }) };
    expect(typesOf(fixture.say('fileTransfer', 'put_file', big))).toEqual(['ack']);
    const otherReplies = fixture.say('fileTransfer', 'get_file', { ...getFile, sid: 's-2' });
    expect(otherReplies.map(({ sid }) => sid)).toEqual(['s-2', 's-2']);
    fixture.say('control', 'close', { sid: 's-2' });
    const chunk = { props: { offset: 0 } };
    expect(typesOf(fixture.say('fileTransfer', 'file_chunk', chunk))).toEqual(['ack']);
  });

  it('may have a message without an ID of its own', () => {
    const fixture = new ConnectFixture();
    const response = fixture.device.respond({ proto: 0xffff, typ: 'ping' });
    expect(encodeConnectMessage(response[0] ?? { proto: 0 })).toEqual(
      encodeConnectMessage({ proto: 0xffff, typ: 'pong' }),
    );
  });

  it('is refused beyond the maximum count, until another session has ended', () => {
    const fixture = new ConnectFixture();
    for (let index = 0; index < 64; index++) fixture.say('control', 'ping', { sid: `${index}` });
    expect(errorOf(fixture.say('control', 'ping'))).toMatchObject({
      err: 'too many sessions: 64 are open',
      close: true,
    });
    fixture.say('control', 'close', { sid: '7' });
    expect(typesOf(fixture.say('control', 'ping'))).toEqual(['pong']);
  });

  it('ends with the connection, but the files remain', () => {
    const fixture = new ConnectFixture();
    fixture.say('shell', 'new');
    fixture.say('shell', 'shell', { body: Buffer.from('echo kept > /tmp/a\r') });
    fixture.device.disconnect();
    expect(errorTextOf(fixture.say('shell', 'shell'))).toBe('session not found');
    expect(fixture.pass(70)).toEqual([]);
    const stat = { body: encodeBody({ path: '/tmp/a' }) };
    expect(typesOf(fixture.say('fileTransfer', 'stat', stat))).toEqual(['file_info']);
  });
});

describe('the update client of a connected device', () => {
  it.each(['check-update', 'send-inventory'])(
    'receives the command to %s, and confirms it',
    (typ) => {
      const fixture = new ConnectFixture();
      const [response] = fixture.say('menderClient', typ);
      expect(response).toMatchObject({ proto: 4, typ, sid: 's-1', props: { status: 1 } });
      expect(fixture.clientRequests).toEqual([typ]);
    },
  );

  it('refuses a command that it does not know', () => {
    const fixture = new ConnectFixture();
    const responses = fixture.say('menderClient', 'reboot');
    expect(errorTextOf(responses)).toBe("unknown message type 'reboot'");
    expect(responses[0]?.typ).toBe('reboot');
    expect(fixture.clientRequests).toEqual([]);
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
        const fixture = new ConnectFixture();
        for (const each of messages) {
          for (const response of [...fixture.device.respond(each), ...fixture.pass(3)]) {
            const { length } = encodeConnectMessage(response);
            expect(length).toBeLessThan(limits.connectDeviceMessageMaxBytes);
          }
        }
      }),
      { numRuns: 150 },
    );
  });
});
