import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../fixtures/base/clock.ts';
import { closeCodeOf, FrameConnection } from './frame-connection.ts';
import { requestUpgrade } from './upgrade.ts';

const WAIT_MAX_MS = 2000;

/** Opens a frame connection to a WebSocket server that handles each connection with `serve`. */
async function connectionTo(serve: (socket: WebSocket) => void): Promise<FrameConnection> {
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on('connection', (socket) => {
    socket.on('error', () => socket.terminate());
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { socket } = await requestUpgrade({
    url: `http://127.0.0.1:${port}/`,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version': '13',
    },
    signal: new AbortController().signal,
  });
  if (!socket) throw new Error('there is no socket');
  onTestFinished(() => {
    socket.destroy();
    sockets.close();
    server.close();
  });
  return new FrameConnection(socket, systemClock);
}

describe('a connection of WebSocket frames', () => {
  it('receives a frame that arrives together with the handshake', async () => {
    const connection = await connectionTo((socket) => socket.send('at once'));
    expect(
      await connection.until(({ receivedFrames: received }) => received.length > 0, WAIT_MAX_MS),
    ).toBe(true);
    expect(connection.receivedFrames[0]?.payload.toString()).toBe('at once');
    expect(connection.receivedFrames[0]?.masked).toBe(false);
  });

  it.each([0, 1, 125, 126, 65_535, 65_536])(
    'masks a message of %i bytes, as clients must',
    async (length) => {
      const connection = await connectionTo((socket) =>
        socket.on('message', (data) => socket.send(data)),
      );
      const payload = Buffer.alloc(length, 'frames');
      connection.send({ opcode: 2, payload });
      await connection.until(({ receivedFrames: received }) => received.length > 0, WAIT_MAX_MS);
      expect(connection.receivedFrames[0]?.payload.equals(payload)).toBe(true);
    },
  );

  it.each([
    ['more than 16 MiB of frames', 5, 4 * 1_048_576, 4],
    ['more than a thousand frames', 1001, 0, 1000],
    ['a frame that is too long', 1, 4 * 1_048_576 + 1, 0],
  ])('disconnects at %s', async (_, count, bytes, kept) => {
    const payload = Buffer.alloc(bytes);
    const connection = await connectionTo((socket) => {
      for (let sent = 0; sent < count; sent++) socket.send(payload);
    });
    // The awaited frame never arrives, so only the end of the connection ends the wait.
    expect(await connection.until(() => false, 10 * WAIT_MAX_MS)).toBe(false);
    expect(connection.ended).toBe(true);
    expect(connection.receivedFrames).toHaveLength(kept);
  });

  it('sends fragments and control frames in the given order', async () => {
    const connection = await connectionTo((socket) =>
      socket.on('message', (data) => socket.send(data, { binary: false })),
    );
    connection.send(
      { opcode: 1, fin: false, payload: Buffer.from('a') },
      { opcode: 9, payload: Buffer.from('ping') },
      { opcode: 0, payload: Buffer.from('b') },
    );
    await connection.until(({ receivedFrames: received }) => received.length > 1, WAIT_MAX_MS);
    expect(
      connection.receivedFrames.map(({ opcode, payload }) => [opcode, payload.toString()]),
    ).toEqual([
      [10, 'ping'],
      [1, 'ab'],
    ]);
  });

  it.each([
    ['not masked', { opcode: 2, masked: false }],
    ['of a reserved opcode', { opcode: 3 }],
    ['with a reserved bit', { opcode: 2, reserved: 2 }],
  ])('sends a frame that WebSocket libraries forbid: %s', async (_, frame) => {
    const connection = await connectionTo(() => undefined);
    connection.send(frame);
    expect(await connection.until(({ close, ended }) => ended || !!close, WAIT_MAX_MS)).toBe(true);
    expect(connection.close === undefined ? 1002 : closeCodeOf(connection.close)).toBe(1002);
  });

  it('stops waiting when the connection ends', async () => {
    const connection = await connectionTo((socket) => socket.terminate());
    expect(await connection.until(() => false, 60_000)).toBe(false);
    expect(connection.ended).toBe(true);
  });

  it('stops waiting at the time limit, and returns no code for a short close frame', async () => {
    const connection = await connectionTo(() => undefined);
    expect(await connection.until(() => false, 10)).toBe(false);
    expect(connection.ended).toBe(false);
    expect(
      closeCodeOf({ fin: true, reserved: 0, opcode: 8, masked: false, payload: Buffer.from('x') }),
    ).toBeUndefined();
  });
});
