import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeConnectMessage } from '../../fixtures/formats/connect-message.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { connectPeer, connectUser } from '../testing/test-peer.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { endOf } from '../testing/test-sockets.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeEach(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'device');
});

afterEach(() => server.close());

/** Values for a message of 4 MiB: lists nested in lists, two million values in all. */
function smallValues(): Buffer {
  const list = Buffer.concat([Buffer.from([0xdc, 0x08, 0x00]), Buffer.alloc(2048, 1)]);
  const head = Buffer.from('\x82\xa3hdr\x81\xa5proto\x01\xa1x\xdc\x08\x00', 'latin1');
  return Buffer.concat([head, ...Array.from({ length: 2048 }, () => list)]);
}

describe('a message with more values than the limit', () => {
  const reason = 'the message is not a msgpack message: it holds more than 4096 values';

  it('closes the socket of the sending device with the reason', async () => {
    const peer = await connectPeer(server, device);
    peer.socket.send(smallValues());
    expect(await endOf(peer.socket)).toEqual({ code: 1011, reason });
  });

  it("closes the sending user's socket and keeps the device connected", async () => {
    const peer = await connectPeer(server, device);
    const user = await connectUser(server, device);
    user.socket.send(smallValues());
    expect(await endOf(user.socket)).toEqual({ code: 1011, reason });
    await peer.waitUntilReceived();
  });
});

it('many messages in one chunk are relayed in order, one per event-loop iteration', async () => {
  const peer = await connectPeer(server, device);
  const user = await connectUser(server, device);
  user.say({ proto: 1, typ: 'new' });
  const { sid = '' } = await peer.nextOf('new');
  const messages = Array.from({ length: 300 }, (_, at) =>
    encodeConnectMessage({ proto: 1, typ: 'shell', sid, body: Buffer.from(String(at)) }),
  );
  for (const message of messages) peer.socket.send(message);
  const answered = server.request('GET', '/nothing').then(() => user.waiting.length);
  for (const at of messages.keys()) {
    const { body = Buffer.alloc(0) } = await user.nextOf('shell');
    expect(Buffer.from(body).toString()).toBe(String(at));
  }
  expect(await answered).toBeLessThan(messages.length);
});
