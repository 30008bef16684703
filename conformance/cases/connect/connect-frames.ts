/** Cases: a device's open connection according to RFC 6455, frame by frame. Spec: Device connect */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { acceptedDevice, requireResponse } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEqual,
  expectThat,
  observationOf,
} from '../../target/expectations.ts';
import { closeCodeOf, FrameConnection, type FrameToSend } from '../../target/frame-connection.ts';
import { opcodes } from '../../target/frames.ts';
import { openedSocket, requestUpgrade, upgradeHeaders } from './upgrade-request.ts';

/** Timeout for the server's next frame or the end of the connection. */
const FRAME_WAIT_MAX_MS = 3000;

/** A control message for a session that does not exist: valid and without effect. */
const idleMessage = Buffer.concat([
  Buffer.from([0x81, 0xa3]),
  Buffer.from('hdr'),
  Buffer.from([0x83, 0xa5]),
  Buffer.from('proto'),
  Buffer.from([0xcd, 0xff, 0xff, 0xa3]),
  Buffer.from('typ'),
  Buffer.from([0xa4]),
  Buffer.from('pong'),
  Buffer.from([0xa3]),
  Buffer.from('sid'),
  Buffer.from([0xa4]),
  Buffer.from('none'),
]);

const invalidUtf8 = Buffer.from([0xc3, 0x28]);

function codeOf(code: number, reason: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from([code >> 8, code & 0xff]), reason]);
}

function close(payload: Buffer): readonly FrameToSend[] {
  return [{ opcode: opcodes.close, payload }];
}

/** One requirement of RFC 6455, with sequences of frames that violate it, by a description. */
interface FrameRequirement {
  readonly id: string;
  readonly requirement: RequirementId;
  readonly title: string;
  readonly frames: Readonly<Record<string, readonly FrameToSend[]>>;
  /** The codes that the server's close frame may then have. */
  readonly codes: readonly number[];
}

const protocolError = 1002;
const { text, binary, ping, pong } = opcodes;
const continuation = 0;
const payload = idleMessage;

const forbiddenFrames: readonly FrameRequirement[] = [
  {
    id: 'unmasked-frame-ends-it',
    requirement: 'connect.unmasked-is-an-error',
    title: 'An unmasked frame of the device ends the connection, with code 1002 or none.',
    frames: {
      'an unmasked message': [{ opcode: binary, payload, masked: false }],
      'an unmasked ping': [{ opcode: ping, masked: false }],
    },
    codes: [protocolError],
  },
  {
    id: 'reserved-bit-ends-it',
    requirement: 'connect.reserved-bits',
    title: 'A frame with a reserved bit set ends the connection, with code 1002 or none.',
    frames: {
      'the first bit': [{ opcode: binary, payload, reserved: 4 }],
      'the second bit': [{ opcode: binary, payload, reserved: 2 }],
      'the third bit': [{ opcode: ping, reserved: 1 }],
    },
    codes: [protocolError],
  },
  {
    id: 'reserved-opcode-ends-it',
    requirement: 'connect.reserved-opcodes',
    title: 'A frame with a reserved opcode ends the connection, with code 1002 or none.',
    frames: {
      'opcode 3': [{ opcode: 3, payload }],
      'opcode 7': [{ opcode: 7 }],
      'opcode 11': [{ opcode: 11 }],
      'opcode 15': [{ opcode: 15 }],
    },
    codes: [protocolError],
  },
  {
    id: 'long-control-frame-ends-it',
    requirement: 'connect.long-control-frames',
    title: 'A control frame of 126 bytes ends the connection, with code 1002 or none.',
    frames: {
      'a ping of 126 bytes': [{ opcode: ping, payload: Buffer.alloc(126) }],
      'a close frame of 126 bytes': close(codeOf(1000, Buffer.alloc(124, 'x'))),
    },
    codes: [protocolError],
  },
  {
    id: 'fragmented-control-frame-ends-it',
    requirement: 'connect.fragmented-control-frames',
    title: 'A fragmented ping ends the connection, with code 1002 or none.',
    frames: { 'a fragmented ping': [{ opcode: ping, fin: false, payload: Buffer.from('a') }] },
    codes: [protocolError],
  },
  {
    id: 'fragments-out-of-order-end-it',
    requirement: 'connect.order-of-fragments',
    title:
      'A continuation frame without a message, or a message within another, ends the connection.',
    frames: {
      'a continuation frame without a message': [{ opcode: continuation, payload }],
      'a message within another': [
        { opcode: binary, fin: false, payload: payload.subarray(0, 4) },
        { opcode: binary, payload },
      ],
    },
    codes: [protocolError],
  },
  {
    id: 'text-that-is-not-utf-8-ends-it',
    requirement: 'connect.text-is-utf-8',
    title: 'A text message that is not UTF-8 ends the connection.',
    frames: {
      'an invalid sequence': [{ opcode: text, payload: invalidUtf8 }],
      'a surrogate': [{ opcode: text, payload: Buffer.from([0xed, 0xa0, 0x80]) }],
      'an invalid sequence in fragments': [
        { opcode: text, fin: false, payload: Buffer.from('good') },
        { opcode: continuation, payload: invalidUtf8 },
      ],
    },
    codes: [1007, 1003, protocolError],
  },
  {
    id: 'bad-close-frame-ends-it',
    requirement: 'connect.bad-close-frames',
    title:
      'A close frame of one byte, with a forbidden code or an invalid reason ends the connection.',
    frames: {
      'one byte': close(Buffer.from([3])),
      'the code 999': close(codeOf(999)),
      'the code 1005': close(codeOf(1005)),
      'the code 1006': close(codeOf(1006)),
      'a reason that is not UTF-8': close(codeOf(1000, invalidUtf8)),
    },
    codes: [protocolError, 1007],
  },
];

/** Opens a connection of the device on which frames are written by hand. */
async function connectionOf(
  context: TestContext,
  { token }: SuiteDevice,
): Promise<FrameConnection> {
  const authorization = `Bearer ${token}`;
  const response = await requestUpgrade(context, { ...upgradeHeaders, authorization });
  requireResponse('connect', response, 101);
  return new FrameConnection(openedSocket(response), context.clock);
}

/** Returns true when a ping is answered, so that everything sent before it has been processed. */
async function isAlive(connection: FrameConnection, data: string): Promise<boolean> {
  const isBack = (): boolean =>
    connection.receivedFrames.some(
      (each) => each.opcode === pong && each.payload.toString() === data,
    );
  connection.send({ opcode: ping, payload: Buffer.from(data) });
  await connection.until((each) => isBack() || each.close !== undefined, FRAME_WAIT_MAX_MS);
  return isBack();
}

function receivedText({ receivedFrames: frames, ended }: FrameConnection): string {
  const frameTexts = frames.map(
    ({ opcode, payload: data }) => `opcode ${opcode} of ${data.length} bytes`,
  );
  return `${frameTexts.join(', ') || 'no frame'}${ended ? ', and the end' : ''}`;
}

function forbiddenFrameCase({
  id,
  requirement,
  title,
  frames,
  codes,
}: FrameRequirement): JudgingCase<SuiteDevice> {
  return {
    id,
    title,
    requirements: [requirement],
    run: async (device, context) => {
      for (const [name, frame] of Object.entries(frames)) {
        const connection = await connectionOf(context, device);
        connection.send(...frame);
        const isOver = await connection.until(
          (each) => each.ended || each.close !== undefined,
          FRAME_WAIT_MAX_MS,
        );
        expectThat(isOver || connection.ended, `the end after ${name}`, receivedText(connection));
        const code = connection.close && closeCodeOf(connection.close);
        if (code === undefined || codes.includes(code)) continue;
        throw new ExpectationFailure(
          `the code ${codes.join(' or ')} after ${name}`,
          describeValue(code),
        );
      }
    },
  };
}

function hasCloseFrame({ close: frame }: FrameConnection): boolean {
  return frame !== undefined;
}

const validFrameCases = defineScenario({
  area: 'connect',
  name: 'Frames',
  start: 'an accepted device, which opens a connection',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'ping-gets-pong',
      title: 'A ping is answered with a pong that carries the same data.',
      requirements: ['connect.pong'],
      run: async (device, context) => {
        const connection = await connectionOf(context, device);
        expectThat(
          await isAlive(connection, '60'),
          'a pong with the data "60"',
          receivedText(connection),
        );
      },
    },
    {
      id: 'ping-of-any-length-gets-pong',
      title: 'A ping without data, and one with 125 bytes, is answered with a pong.',
      requirements: ['connect.pong-of-any-length'],
      run: async (device, context) => {
        const connection = await connectionOf(context, device);
        for (const data of ['', 'x'.repeat(125)]) {
          const isBack = await isAlive(connection, data);
          expectThat(isBack, `a pong of ${data.length} bytes`, receivedText(connection));
        }
      },
    },
    {
      id: 'unsolicited-pong-does-no-harm',
      title: 'After an unsolicited pong, the connection is still open.',
      requirements: ['connect.unsolicited-pong'],
      run: async (device, context) => {
        const connection = await connectionOf(context, device);
        connection.send({ opcode: pong, payload: Buffer.from('unsolicited') });
        expectThat(
          await isAlive(connection, 'after'),
          'an open connection',
          receivedText(connection),
        );
      },
    },
    {
      id: 'frames-are-not-masked',
      title: 'The frames of the server are not masked.',
      requirements: ['connect.frames-are-unmasked'],
      run: async (device, context) => {
        const connection = await connectionOf(context, device);
        connection.send({ opcode: ping });
        await connection.until(
          ({ receivedFrames: [firstFrame] }) => firstFrame !== undefined,
          FRAME_WAIT_MAX_MS,
        );
        const masked = connection.receivedFrames.filter((frame) => frame.masked);
        expectEqual('masked frames', masked.length, 0);
      },
    },
    {
      id: 'fragments-are-accepted',
      title:
        'A message in three fragments with a ping between them is accepted, and the ping is answered.',
      requirements: ['connect.fragments'],
      run: async (device, context) => {
        const connection = await connectionOf(context, device);
        connection.send(
          { opcode: binary, fin: false, payload: payload.subarray(0, 9) },
          { opcode: ping, payload: Buffer.from('between') },
          { opcode: continuation, fin: false, payload: payload.subarray(9, 12) },
          { opcode: continuation, payload: payload.subarray(12) },
        );
        expectThat(
          await isAlive(connection, 'after'),
          'an open connection',
          receivedText(connection),
        );
        const pongs = connection.receivedFrames.filter(({ opcode }) => opcode === pong);
        expectThat(pongs.length === 2, 'a pong between fragments', receivedText(connection));
      },
    },
    {
      id: 'close-is-answered',
      title: 'A close frame is answered with a close frame of the same code.',
      requirements: ['connect.close-is-answered'],
      run: async (device, context) => {
        for (const code of [1000, 1001, 3000, 4999]) {
          const connection = await connectionOf(context, device);
          connection.send(...close(codeOf(code, Buffer.from('bye'))));
          await connection.until(hasCloseFrame, FRAME_WAIT_MAX_MS);
          const actual = connection.close
            ? closeCodeOf(connection.close)
            : receivedText(connection);
          expectEqual('close code', actual, code);
        }
      },
    },
    {
      id: 'close-without-code-is-answered',
      title: 'A close frame without a code is answered with a close frame.',
      requirements: ['connect.close-without-code'],
      run: async (device, context) => {
        const connection = await connectionOf(context, device);
        connection.send({ opcode: opcodes.close });
        const isAnswered = await connection.until(hasCloseFrame, FRAME_WAIT_MAX_MS);
        expectThat(isAnswered, 'a close frame', receivedText(connection));
      },
    },
    {
      id: 'close-ends-the-connection',
      title: 'After both close frames, the server ends the connection.',
      requirements: ['connect.close-ends-the-connection'],
      run: async (device, context) => {
        const connection = await connectionOf(context, device);
        connection.send(...close(codeOf(1000)));
        await connection.until(({ ended }) => ended, FRAME_WAIT_MAX_MS);
        expectThat(connection.ended, 'the end of the connection', receivedText(connection));
      },
    },
    {
      id: 'text-frame',
      title: 'How the server handles a text message, though the messages of devices are binary.',
      requirements: ['connect.text-frames'],
      observe: async (device, context) => {
        const connection = await connectionOf(context, device);
        connection.send({ opcode: text, payload: Buffer.from('hello') });
        const lives = await isAlive(connection, 'after');
        const code = connection.close && closeCodeOf(connection.close);
        return observationOf(lives ? 'the connection stays' : `it ends with ${code ?? 'no code'}`);
      },
    },
  ],
});

const forbiddenFrameCases = defineScenario({
  area: 'connect',
  name: 'Forbidden frames',
  start: 'an accepted device, which opens a connection',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: forbiddenFrames.map(forbiddenFrameCase),
});

export const connectFrameCases = [...validFrameCases, ...forbiddenFrameCases];
