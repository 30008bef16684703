import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../fixtures/base/clock.ts';
import { encodeBody } from '../../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  decodeConnectMessage,
  encodeConnectMessage,
} from '../../../fixtures/formats/connect-message.ts';
import { noonMs, token } from '../../../simulator/testing/client-fixture.ts';
import { closedPortUrl, StubServer } from '../../../simulator/testing/stub-server.ts';
import { RemoteShell, ShellRefused } from './remote-shell.ts';
import {
  type AnswerMessage,
  RecordedScreen,
  SID,
  startRelay,
  willingDevice,
} from './testing/relay-server.ts';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function relay(...device: Parameters<typeof startRelay>) {
  const server = await startRelay(...device);
  closers.push(() => server.close());
  return server;
}

function start(baseUrl: string) {
  const clock = new ManualClock(noonMs);
  const screen = new RecordedScreen();
  const options = { baseUrl, token, deviceId: 'device/1', clock, requestTimeLimitMs: 5000 };
  const started = RemoteShell.start(options, screen);
  return { clock, screen, started };
}

async function shellOn(answering: AnswerMessage = willingDevice()) {
  const server = await relay(answering);
  const { clock, screen, started } = start(server.baseUrl);
  const remote = await started;
  return { ...server, clock, screen, remote, websocket: await server.opened };
}

async function faultOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => Promise.reject(new Error('it should have failed')),
    (error: unknown) => error,
  );
}

describe("a user's shell", () => {
  it('is requested with the token, the subprotocol and the screen size', async () => {
    const { requests, received, remote } = await shellOn();
    const [request] = requests;
    expect(request?.url).toMatch(/\/devices\/device%2F1\/connect$/);
    expect(request?.headers.authorization).toBe(`Bearer ${token}`);
    expect(received[0]).toEqual({
      proto: 1,
      typ: 'new',
      props: { terminal_height: 24, terminal_width: 100 },
    });
    await remote.stop();
  });

  it("shows the device's output, and sends keys under its session", async () => {
    const { screen, remote, received } = await shellOn();
    await screen.until(/# $/);
    await remote.type(Buffer.from('echo größe\r'));
    await screen.until(/\r\ngröße\r\n.*# $/s);
    expect(received.at(-1)).toMatchObject({ typ: 'shell', sid: SID });
    await remote.stop();
  });

  it('has the size of its screen', async () => {
    const { screen, remote } = await shellOn();
    remote.resize({ height: 10, width: 33 });
    await remote.type(Buffer.from('echo $COLUMNS\r'));
    await screen.until(/\r\n33\r\n/);
    await remote.stop();
  });

  it('splits many keys into messages that a device can read', async () => {
    const { screen, remote, received } = await shellOn();
    await remote.type(Buffer.from(`${'x'.repeat(9000)}\x15pwd\r`));
    await screen.until(/\r\n\/root\r\n/);
    const sizes = received.slice(1).map(({ body }) => body?.length);
    expect(sizes).toEqual([4096, 4096, 9005 - 8192]);
    await remote.stop();
  });

  it('ends cleanly when the device ends it', async () => {
    const { remote, websocket } = await shellOn();
    const closed = new Promise((resolve) => websocket.once('close', resolve));
    await remote.type(Buffer.from('exit\r'));
    expect(await remote.ended).toEqual({});
    expect(await closed).toBe(1000);
  });

  it('ends cleanly when the input ends', async () => {
    const { remote, screen } = await shellOn();
    await screen.until(/# $/);
    await remote.type(Buffer.from('pwd\n'));
    await remote.endInput();
    expect(await remote.ended).toEqual({});
    expect(screen.output).toMatch(/\r\n\/root\r\n.*exit\r\n$/s);
  });

  it('is stopped when the user leaves', async () => {
    const { remote, received, websocket } = await shellOn();
    const closed = new Promise((resolve) => websocket.once('close', resolve));
    await remote.stop();
    expect(await remote.ended).toEqual({});
    await closed;
    expect(received.at(-1)).toMatchObject({ typ: 'stop', sid: SID });
  });

  it('is stopped once it is idle if it does not end by itself', async () => {
    const deaf: AnswerMessage = ({ typ }) => (typ === 'new' ? [{ proto: 1, typ, sid: SID }] : []);
    const { remote, clock } = await shellOn(deaf);
    await remote.endInput();
    let isOver = false;
    const ended = remote.ended.then(() => {
      isOver = true;
    });
    clock.advance(29_000);
    await Promise.resolve();
    expect(isOver).toBe(false);
    clock.advance(1000);
    await ended;
  });

  it('answers the pings of the device, in the protocol in which they come', async () => {
    const { websocket, remote } = await shellOn();
    const responses: ConnectMessage[] = [];
    const both = new Promise<void>((resolve) => {
      websocket.on('message', (data) => {
        if (responses.push(decodeConnectMessage(data as Buffer)) === 2) resolve();
      });
    });
    websocket.send(encodeConnectMessage({ proto: 1, typ: 'ping', sid: SID }));
    websocket.send(encodeConnectMessage({ proto: 0xffff, typ: 'ping', sid: SID }));
    await both;
    expect(responses).toEqual([
      { proto: 1, typ: 'pong', sid: SID },
      { proto: 0xffff, typ: 'pong', sid: SID },
    ]);
    await remote.stop();
  });

  it('ignores other protocols and unknown messages', async () => {
    const { websocket, remote, screen } = await shellOn();
    const foreignMessages = [
      { proto: 2, typ: 'file_chunk', body: Buffer.from('x') },
      { proto: 1, typ: 'other' },
      { proto: 0xffff, typ: 'other' },
      { proto: 1, typ: 'shell', body: Buffer.from('still here') },
    ];
    for (const each of foreignMessages) websocket.send(encodeConnectMessage(each));
    await screen.until(/still here$/);
    expect(screen.notes).toEqual([]);
    await remote.stop();
  });

  it('waits for a screen whose output is full', async () => {
    const { websocket, remote, screen } = await shellOn();
    await screen.until(/# $/);
    screen.hasRoom = false;
    const show = (text: string) =>
      websocket.send(encodeConnectMessage({ proto: 1, typ: 'shell', body: Buffer.from(text) }));
    show('first');
    await screen.until(/first$/);
    show('second');
    for (let iteration = 0; iteration < 100; iteration++)
      await new Promise((resolve) => setImmediate(resolve));
    expect(screen.output).toMatch(/first$/);
    screen.hasRoom = true;
    remote.resumeOutput();
    await screen.until(/second$/);
    await remote.stop();
  });

  it('pings a silent server, and disconnects when it stays silent', async () => {
    const { websocket, clock, remote } = await shellOn();
    const pinged = new Promise((resolve) => websocket.once('ping', resolve));
    clock.advance(30_000);
    await pinged;
    websocket.pause();
    clock.advance(90_000);
    expect(await remote.ended).toEqual({ error: 'the server closed the connection with 1006' });
  });
});

describe('a shell that fails', () => {
  it.each<[string, AnswerMessage, RegExp]>([
    [
      'the device refuses',
      () => [{ proto: 1, typ: 'new', props: { status: 2 }, body: Buffer.from('too many shells') }],
      /^too many shells$/,
    ],
    [
      'the device refuses without a word',
      () => [{ proto: 1, typ: 'new', props: { status: 2 } }],
      /^new failed$/,
    ],
    [
      'the device has no shells',
      () => [
        { proto: 0xffff, typ: 'error', body: encodeBody({ err: 'no handler', close: false }) },
      ],
      /^no handler$/,
    ],
    [
      'the device says what cannot be read',
      () => [{ proto: 0xffff, typ: 'error', body: Buffer.from([0xc1]) }],
      /^an unreadable error message/,
    ],
    ['the device stops at once', () => [{ proto: 1, typ: 'stop' }], /ended before it started/],
    [
      'the device closes the session',
      () => [{ proto: 0xffff, typ: 'close' }],
      /closed the session/,
    ],
  ])('is refused: %s', async (_what, answering, expected) => {
    const { baseUrl } = await relay(answering);
    const error = await faultOf(start(baseUrl).started);
    expect(error).toBeInstanceOf(ShellRefused);
    expect(String(error)).toMatch(new RegExp(expected.source.replace('^', ': ')));
  });

  it('is refused when the device sends no response', async () => {
    let asked: () => void = () => undefined;
    const wasAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const { baseUrl } = await relay(() => {
      asked();
      return [];
    });
    const { clock, started } = start(baseUrl);
    const expected = faultOf(started);
    await wasAsked;
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(60_000);
    expect(String(await expected)).toContain('the device did not respond for 60 seconds');
  });

  it('is refused when the server disconnects first', async () => {
    const { baseUrl, opened } = await relay(() => []);
    const { started } = start(baseUrl);
    (await opened).close(1001, 'device disconnected');
    expect(String(await faultOf(started))).toContain('1001: device disconnected');
  });

  it.each<[string, ConnectMessage, string]>([
    [
      'by the device',
      { proto: 1, typ: 'stop', props: { status: 2 }, body: Buffer.from('session expired') },
      'session expired',
    ],
    [
      'because there is none any more',
      { proto: 1, typ: 'shell', props: { status: 2 }, body: Buffer.from('session not found') },
      'session not found',
    ],
    [
      'with its session',
      { proto: 0xffff, typ: 'error', body: encodeBody({ err: 'session timeout', close: true }) },
      'session timeout',
    ],
    ['by a close', { proto: 0xffff, typ: 'close' }, 'the device closed the session'],
  ])('is ended with a reason: %s', async (_what, message, expected) => {
    const { websocket, remote } = await shellOn();
    websocket.send(encodeConnectMessage(message));
    expect(await remote.ended).toEqual({ error: expected });
  });

  it('continues after an error that does not end it, and shows the error', async () => {
    const { websocket, remote, screen } = await shellOn();
    const body = encodeBody({ err: 'the message was too long', close: false });
    websocket.send(encodeConnectMessage({ proto: 0xffff, typ: 'error', body }));
    await screen.until(/the message was too long/);
    expect(screen.notes).toEqual(['the message was too long']);
    await remote.type(Buffer.from('pwd\r'));
    await screen.until(/\r\n\/root\r\n/);
    await remote.stop();
  });

  it('ends with the connection, and says why', async () => {
    const { websocket, remote } = await shellOn();
    websocket.close(1001, 'device disconnected');
    const expected = 'the server closed the connection with 1001: device disconnected';
    expect(await remote.ended).toEqual({ error: expected });
    await remote.type(Buffer.from('into the void'));
  });

  it('ends when the server sends a malformed message', async () => {
    const { websocket, remote } = await shellOn();
    const closed = new Promise((resolve) => websocket.once('close', resolve));
    websocket.send(Buffer.from([0xc1]));
    expect((await remote.ended).error).toContain('the server sent a malformed message');
    expect(await closed).toBe(1011);
  });
});

describe('a socket that does not open', () => {
  it.each([
    [
      'HTTP/1.1 404 Not Found\r\nContent-Length: 31\r\n\r\n{"error":"device disconnected"}',
      { status: 404, serverSays: 'device disconnected', operation: 'connect-device' },
    ],
    ['HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n', { status: 401, serverSays: undefined }],
    ['HTTP/1.1 502 No\r\nContent-Length: 900\r\n\r\n<html>', { status: 502 }],
    ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi', { status: 200 }],
  ])("reports the server's response: %j", async (refusal, wanted) => {
    const { baseUrl } = await relay(() => [], refusal);
    expect(await faultOf(start(baseUrl).started)).toMatchObject(wanted);
  });

  it('reports that nothing listens', async () => {
    const expected = await faultOf(start(await closedPortUrl()).started);
    expect(expected).toMatchObject({ label: 'transport/ECONNREFUSED' });
  });

  it('reports that no response came in time', async () => {
    const server = await StubServer.start({});
    closers.push(() => server.close());
    const asked = new Promise<void>((resolve) => {
      server.http.once('upgrade', (_request, socket) => {
        closers.push(() => void socket.destroy());
        resolve();
      });
    });
    const { clock, started } = start(server.baseUrl);
    const expected = faultOf(started);
    await asked;
    clock.advance(5000);
    expect(await expected).toMatchObject({ code: 'timeout' });
  });
});
