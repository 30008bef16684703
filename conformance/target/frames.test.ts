import { describe, expect, it } from 'vitest';
import { bytesOf, type Frame, FrameReader, opcodes } from './frames.ts';

const frame: Frame = {
  fin: true,
  reserved: 0,
  opcode: opcodes.text,
  masked: false,
  payload: Buffer.from('hello'),
};

function framesIn(bytes: Buffer): readonly Frame[] {
  return new FrameReader().read(bytes).flatMap((part) => (Buffer.isBuffer(part) ? [] : part.frame));
}

describe('the WebSocket frame reader', () => {
  it('reads examples of RFC 6455, section 5.7', () => {
    expect(framesIn(Buffer.from('810548656c6c6f', 'hex'))).toEqual([
      { ...frame, payload: Buffer.from('Hello') },
    ]);
    expect(framesIn(Buffer.from('818537fa213d7f9f4d5158', 'hex'))).toEqual([
      { ...frame, masked: true, payload: Buffer.from('Hello') },
    ]);
  });

  it.each([0, 1, 125, 126, 65_535, 65_536])('reads a written frame of %i bytes', (length) => {
    for (const masked of [false, true]) {
      const long = { ...frame, masked, payload: Buffer.alloc(length, 'x') };
      expect(framesIn(bytesOf(long))).toEqual([long]);
    }
  });

  it('reads frames that the protocol forbids', () => {
    const forbiddenFrame = { ...frame, fin: false, reserved: 5, opcode: 15 };
    expect(framesIn(bytesOf(forbiddenFrame))).toEqual([forbiddenFrame]);
  });

  it('waits for the rest of a frame that arrives byte by byte', () => {
    const reader = new FrameReader();
    const bytes = bytesOf({ ...frame, masked: true, payload: Buffer.alloc(300, 'x') });
    const found = [...bytes].map((byte) => reader.read(Buffer.from([byte])).length);
    expect(found.slice(0, -1).every((count) => count === 0)).toBe(true);
    expect(found.at(-1)).toBe(1);
  });

  it('passes bytes through unread after a frame of excessive length', () => {
    const reader = new FrameReader();
    const endless = Buffer.from('817f00ffffffffffffff', 'hex');
    expect(reader.read(endless)).toEqual([endless]);
    expect(reader.read(Buffer.from('more'))).toEqual([Buffer.from('more')]);
  });
});
