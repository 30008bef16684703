/** Defects in the frames of /connect, by section of RFC 6455. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { type Frame, opcodes } from '../../target/frames.ts';
import type { Alteration, Defect, FrameSide, FrameTunnel } from '../defect.ts';

const operations = ['connect'] as const;
const { text, binary, close, ping, pong } = opcodes;
const continuation = 0;

/** Changes or drops frames of one side. */
function frames(
  side: FrameSide,
  change: (frame: Frame, tunnel: FrameTunnel) => Frame | readonly Frame[],
): () => Alteration {
  return () => ({
    frame: (frame, from, tunnel) => (from === side ? change(frame, tunnel) : frame),
  });
}

function codeOf({ payload }: Frame): number {
  return payload.length < 2 ? 0 : payload.readUInt16BE(0);
}

function isUtf8({ payload }: Frame): boolean {
  return Buffer.from(payload.toString('utf8')).equals(payload);
}

/** Returns true when a device's close frame is valid. */
function isValidClose(frame: Frame): boolean {
  if (frame.payload.length === 0) return true;
  const code = codeOf(frame);
  const isSendable = code >= 1000 && code < 5000 && code !== 1005 && code !== 1006;
  return isSendable && isUtf8({ ...frame, payload: frame.payload.subarray(2) });
}

const normalClose = Buffer.from([0x03, 0xe8]);

function row(
  id: string,
  title: string,
  [violates, alter]: readonly [Defect['violates'] | RequirementId, () => Alteration],
): Defect {
  return {
    id,
    title,
    violates: typeof violates === 'string' ? [violates] : violates,
    operations,
    alter,
  };
}

/** Defects that tolerate forbidden frames: the target receives a valid frame instead, or none. */
const letPass: readonly Defect[] = [
  row('unmasked-frames-are-accepted', 'Frames of a device that are not masked are accepted.', [
    'connect.unmasked-is-an-error',
    frames('device', (frame) => (frame.masked ? frame : { ...frame, masked: true })),
  ]),
  row('reserved-bits-are-ignored', 'Reserved bits of a frame are ignored.', [
    'connect.reserved-bits',
    frames('device', (frame) => (frame.reserved === 0 ? frame : { ...frame, reserved: 0 })),
  ]),
  row('reserved-opcodes-are-ignored', 'Frames of reserved opcodes are ignored.', [
    'connect.reserved-opcodes',
    frames('device', (frame) => ([3, 7, 11, 15].includes(frame.opcode) ? [] : frame)),
  ]),
  row('long-control-frames-are-cut', 'Control frames of more than 125 bytes are cut off.', [
    'connect.long-control-frames',
    frames('device', (frame) =>
      frame.opcode >= close && frame.payload.length > 125
        ? { ...frame, payload: frame.payload.subarray(0, 125) }
        : frame,
    ),
  ]),
  row('control-frames-may-be-fragments', 'A fragmented ping is treated as a whole one.', [
    'connect.fragmented-control-frames',
    frames('device', (frame) =>
      frame.opcode >= close && !frame.fin ? { ...frame, fin: true } : frame,
    ),
  ]),
  row('stray-continuations-are-ignored', 'A continuation frame without a message is ignored.', [
    ['connect.order-of-fragments', 'connect.fragments', 'connect.text-is-utf-8'],
    frames('device', (frame) => (frame.opcode === continuation ? [] : frame)),
  ]),
  row('invalid-utf-8-is-ignored', 'A text message that is not UTF-8 is ignored.', [
    'connect.text-is-utf-8',
    frames('device', (frame) => (frame.opcode === text && !isUtf8(frame) ? [] : frame)),
  ]),
  row(
    'bad-close-frames-are-accepted',
    'A close frame with a forbidden code is treated as a normal one.',
    [
      'connect.bad-close-frames',
      frames('device', (frame) =>
        frame.opcode === close && frame.payload.length <= 125 && !isValidClose(frame)
          ? { ...frame, payload: normalClose }
          : frame,
      ),
    ],
  ),
];

export const connectFrameDefects: readonly Defect[] = [
  ...letPass,
  row('pong-is-empty', 'A pong lacks the data of its ping.', [
    ['connect.pong', 'connect.pong-of-any-length', 'connect.unsolicited-pong', 'connect.fragments'],
    frames('target', (frame) =>
      frame.opcode === pong ? { ...frame, payload: Buffer.alloc(0) } : frame,
    ),
  ]),
  row('ping-has-no-pong', 'A ping is not answered.', [
    ['connect.pong', 'connect.pong-of-any-length', 'connect.unsolicited-pong', 'connect.fragments'],
    frames('target', (frame) => (frame.opcode === pong ? [] : frame)),
  ]),
  row('long-ping-has-no-pong', 'A ping with the maximum amount of data is not answered.', [
    'connect.pong-of-any-length',
    frames('target', (frame) =>
      frame.opcode === pong && frame.payload.length === 125 ? [] : frame,
    ),
  ]),
  row('unsolicited-pong-ends-the-connection', 'An unsolicited pong ends the connection.', [
    'connect.unsolicited-pong',
    frames('device', (frame, tunnel) => {
      if (frame.opcode !== pong) return frame;
      tunnel.destroy();
      return [];
    }),
  ]),
  row('frames-are-masked', 'Frames of the server are masked.', [
    'connect.frames-are-unmasked',
    frames('target', (frame) => ({ ...frame, masked: true })),
  ]),
  row('fragments-end-the-connection', 'A fragmented message ends the connection.', [
    'connect.fragments',
    frames('device', (frame, tunnel) => {
      if (frame.fin || frame.opcode !== binary) return frame;
      tunnel.destroy();
      return [];
    }),
  ]),
  row('pings-wait-for-the-last-fragment', 'A ping between fragments ends the connection.', [
    'connect.fragments',
    () => {
      const openTunnels = new WeakSet<FrameTunnel>();
      return {
        frame: (frame, from, tunnel) => {
          if (from === 'target') return frame;
          if (frame.opcode === ping && openTunnels.has(tunnel)) tunnel.destroy();
          if (frame.opcode <= binary && !frame.fin) openTunnels.add(tunnel);
          return frame;
        },
      };
    },
  ]),
  row('close-is-not-answered', 'A close frame is not answered.', [
    ['connect.close-is-answered', 'connect.close-without-code'],
    frames('target', (frame) => (frame.opcode === close ? [] : frame)),
  ]),
  row('close-code-is-always-1000', 'A close frame is always answered with the code 1000.', [
    'connect.close-is-answered',
    frames('target', (frame) =>
      frame.opcode === close && [1001, 3000, 4999].includes(codeOf(frame))
        ? { ...frame, payload: normalClose }
        : frame,
    ),
  ]),
  row('close-without-code-is-not-answered', 'A close frame without a code is not answered.', [
    'connect.close-without-code',
    () => {
      const bare = new WeakSet<FrameTunnel>();
      return {
        frame: (frame, from, tunnel) => {
          if (frame.opcode !== close) return frame;
          if (from === 'device' && frame.payload.length === 0) bare.add(tunnel);
          return from === 'target' && bare.has(tunnel) ? [] : frame;
        },
      };
    },
  ]),
  row('closed-connection-is-kept', 'After both close frames, the connection stays open.', [
    ['connect.close-ends-the-connection'],
    () => ({ frame: (frame) => frame, ended: (from) => from !== 'target' }),
  ]),
];
