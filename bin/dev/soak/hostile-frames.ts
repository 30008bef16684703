/** WebSockets that are opened correctly and then misused: broken frames, broken messages. */
import fc from 'fast-check';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { encodeConnectMessage } from '../../../fixtures/formats/connect-message.ts';
import type { HostileRequest, Insider } from './hostile-requests.ts';

const MSGPACK_ARRAY_OF_ONE = 0x91;

const message = fc
  .record({
    proto: fc.constantFrom(0, 1, 2, 3, 4, 0xffff),
    typ: fc.constantFrom('new', 'shell', 'open', 'ping', 'put_file', 'eyJ-'.repeat(60)),
    sid: fc.constantFrom('', 'x', '__proto__'),
    body: fc.uint8Array({ maxLength: 2000 }),
  })
  .map((drawn) => encodeConnectMessage(drawn));

const payload = fc.oneof(
  message,
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.integer({ min: 1, max: 60_000 }).map((depth) => Buffer.alloc(depth, MSGPACK_ARRAY_OF_ONE)),
  // A map that claims more pairs than there are bytes.
  fc.constant(Buffer.from([0xdf, 0xff, 0xff, 0xff, 0xff, 0xa1])),
);

/** First byte: final flag, reserved bits, opcode. */
const firstByte = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0x82) },
  fc.constantFrom(0x81, 0x80, 0x02, 0x88, 0x89, 0x8a, 0xf2, 0x83),
);

const frame = fc
  .record({ first: firstByte, isMasked: fc.boolean(), isLying: fc.boolean(), payload })
  .map(({ first, isMasked, isLying, payload: given }) => {
    const length = isLying ? 2 ** 31 : given.length;
    const head = Buffer.alloc(10);
    head[0] = first;
    head[1] = (isMasked ? 0x80 : 0) | 127;
    head.writeBigUInt64BE(BigInt(length), 2);
    // Masked with zeros it stays unchanged.
    return Buffer.concat([head, Buffer.alloc(isMasked ? 4 : 0), given]);
  });

/**
 * Generates handshakes of a device, or of a user with that device, each followed directly by
 * frames.
 */
export function hostileSockets(insider: Insider): fc.Arbitrary<HostileRequest> {
  const device = pathOf(operations.connect);
  const user = pathOf(managementOperations['connect-device'], { id: insider.ids[0] ?? '' });
  return fc
    .record({ isDevice: fc.boolean(), frames: fc.array(frame, { maxLength: 6 }) })
    .map(({ isDevice, frames }) => {
      const lines = [
        `GET ${isDevice ? device : user} HTTP/1.1`,
        'Host: 127.0.0.1',
        `Authorization: Bearer ${isDevice ? insider.deviceToken : insider.userToken}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      ];
      const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
      return { operation: 'frames', bytes: Buffer.concat([head, ...frames]) };
    });
}
