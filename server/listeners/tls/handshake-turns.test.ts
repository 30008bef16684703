import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runInNextIteration } from '../../../fixtures/base/clock.ts';
import { ObservedClock } from '../../testing/looked-at-clock.ts';
import { openConnection, untilClosed } from '../../testing/raw-http.ts';
import { startOfTest, type TestServer } from '../../testing/test-server.ts';
import { startTlsServer } from '../../testing/test-tls.ts';

const HANDSHAKES = 60;

let server: TestServer;
let hello: Buffer;

beforeAll(async () => {
  server = await startTlsServer({}, { clock: new ObservedClock(startOfTest) });
  hello = await helloOfClient();
});

afterAll(() => server.close());

/** Returns the bytes that a Node client sends first. */
function helloOfClient(): Promise<Buffer> {
  return new Promise((resolve) => {
    const write = (bytes: Buffer): void => resolve(bytes);
    const socket = new Duplex({ read: () => undefined, write });
    connect({ socket, rejectUnauthorized: false }).on('error', () => undefined);
  });
}

/** Returns the same message, split into records of one byte each. */
function splitIntoRecords(): Buffer {
  const payload = hello.subarray(5);
  return Buffer.concat([...payload].map((byte) => Buffer.from([22, 3, 1, 0, 1, byte])));
}

/** Opens connections and waits until the server has accepted each, one per iteration. */
async function open(count: number): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => openConnection(server)));
  for (let iteration = 0; iteration < 3 * count; iteration += 1) {
    await new Promise<void>((resolve) => runInNextIteration(resolve));
  }
  return sockets;
}

describe('simultaneous TLS handshakes', () => {
  it('are all answered, a few per iteration of the event loop', async () => {
    const sockets = await open(HANDSHAKES);
    let iteration = 0;
    const counting = (): void => {
      iteration += 1;
      if (iteration > 0) runInNextIteration(counting);
    };
    counting();
    const answered = sockets.map(async (socket) => {
      await once(socket, 'data');
      return iteration;
    });
    for (const socket of sockets) socket.write(hello);
    const iterations = new Set(await Promise.all(answered));
    iteration = Number.NEGATIVE_INFINITY;
    // Nine handshakes fill an iteration of this clock; without turns, one or two iterations answer all.
    expect(iterations.size).toBeGreaterThan(4);
    for (const socket of sockets) socket.destroy();
  });

  it('are skipped when their clients have disconnected', async () => {
    const sockets = await open(HANDSHAKES);
    for (const socket of sockets) {
      socket.write(hello);
      socket.resetAndDestroy();
    }
    const [otherSocket] = await open(1);
    otherSocket?.write(hello);
    await once(otherSocket as Socket, 'data');
    otherSocket?.destroy();
  });
});

describe('the first message of a TLS handshake', () => {
  it.each([
    ['in records of one byte', splitIntoRecords],
    ['in two pieces, of which the first one ends within the head', () => hello],
  ])('is accepted %s', async (_, makeBytes) => {
    const [socket] = (await open(1)) as [Socket];
    const bytes = makeBytes();
    socket.setNoDelay();
    socket.write(bytes.subarray(0, 3));
    socket.write(bytes.subarray(3));
    const [response] = (await once(socket, 'data')) as [Buffer];
    // Byte 22 marks a handshake record, in which the server says hello.
    expect(response[0]).toBe(22);
    socket.destroy();
  });

  it("is cut when it exceeds the size of any client's message", async () => {
    const [socket] = (await open(1)) as [Socket];
    const records = Buffer.from([22, 3, 1, 0, 4, 1, 0, 255, 255]);
    const chunk = Buffer.from([22, 3, 1, 64, 0, ...Buffer.alloc(16_384)]);
    socket.write(Buffer.concat([records, chunk]));
    expect(await untilClosed(socket).catch(() => '')).toBe('');
  });
});
