/** Websocket frames as seen by a proxy, including forbidden ones. RFC 6455, section 5.2 */

/** Longer payloads are not buffered; the rest of the connection is then forwarded unparsed. */
const PAYLOAD_MAX_BYTES = 4 * 1_048_576;

/** A frame of a WebSocket. RFC 6455, section 5.2 */
export interface Frame {
  readonly fin: boolean;
  /** The three reserved bits, from 0 to 7. */
  readonly reserved: number;
  readonly opcode: number;
  readonly masked: boolean;
  /** The payload without its mask. */
  readonly payload: Buffer;
}

/** Opcodes by name. RFC 6455, section 11.8 */
export const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A frame together with its bytes as received. */
export interface ReceivedFrame {
  readonly frame: Frame;
  readonly bytes: Buffer;
}

/** Splits a stream of bytes into frames. */
export class FrameReader {
  #unreadBytes: Buffer = Buffer.alloc(0);
  /** Bytes received after them; joined only once the next frame is complete. */
  #more: Buffer[] = [];
  #missingBytes = 0;
  #unreadable = false;

  /**
   * Returns the frames completed by these bytes; bytes that cannot be a frame are returned as they
   * are.
   */
  read(bytes: Buffer): readonly (ReceivedFrame | Buffer)[] {
    if (this.#unreadable) return [bytes];
    this.#more.push(bytes);
    this.#missingBytes -= bytes.length;
    if (this.#missingBytes > 0) return [];
    this.#unreadBytes = Buffer.concat([this.#unreadBytes, ...this.#more]);
    this.#more = [];
    const frames: (ReceivedFrame | Buffer)[] = [];
    for (;;) {
      const extent = extentOf(this.#unreadBytes);
      if (extent === undefined) return frames;
      if (extent.payload > PAYLOAD_MAX_BYTES) {
        this.#unreadable = true;
        return [...frames, this.#unreadBytes];
      }
      const length = extent.header + extent.payload;
      this.#missingBytes = length - this.#unreadBytes.length;
      if (this.#missingBytes > 0) return frames;
      const frameBytes = this.#unreadBytes.subarray(0, length);
      frames.push({ frame: frameOf(frameBytes, extent), bytes: frameBytes });
      this.#unreadBytes = this.#unreadBytes.subarray(length);
    }
  }
}

interface Extent {
  readonly header: number;
  readonly payload: number;
}

/** Returns the length of the frame that starts here; undefined while it is not known. */
function extentOf(bytes: Buffer): Extent | undefined {
  if (bytes.length < 2) return undefined;
  const secondByte = bytes.readUInt8(1);
  const short = secondByte & 0x7f;
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (bytes.length < 2 + extra) return undefined;
  const payload =
    extra === 0 ? short : extra === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  return { header: 2 + extra + (secondByte & 0x80 ? 4 : 0), payload };
}

function frameOf(frameBytes: Buffer, { header }: Extent): Frame {
  const firstByte = frameBytes.readUInt8(0);
  const masked = (frameBytes.readUInt8(1) & 0x80) !== 0;
  const payload = Buffer.from(frameBytes.subarray(header));
  if (masked) applyMask(payload, frameBytes.subarray(header - 4, header));
  return {
    fin: (firstByte & 0x80) !== 0,
    reserved: (firstByte >> 4) & 0x07,
    opcode: firstByte & 0x0f,
    masked,
    payload,
  };
}

/** Returns the bytes of a frame; a masked one gets an all-zero mask, which is valid here. */
export function bytesOf({ fin, reserved, opcode, masked, payload }: Frame): Buffer {
  const firstByte = (fin ? 0x80 : 0) | (reserved << 4) | opcode;
  const { length } = payload;
  const maskBit = masked ? 0x80 : 0;
  const mask = Buffer.alloc(masked ? 4 : 0);
  return Buffer.concat([lengthBytes(firstByte, maskBit, length), mask, payload]);
}

function lengthBytes(firstByte: number, maskBit: number, length: number): Buffer {
  if (length < 126) return Buffer.from([firstByte, maskBit | length]);
  if (length < 0x1_0000) return Buffer.from([firstByte, maskBit | 126, length >> 8, length & 0xff]);
  const header = Buffer.alloc(10);
  header.set([firstByte, maskBit | 127]);
  header.writeBigUInt64BE(BigInt(length), 2);
  return header;
}

function applyMask(payload: Buffer, mask: Buffer): void {
  for (const [index, byte] of payload.entries()) {
    payload.writeUInt8(byte ^ mask.readUInt8(index % 4), index);
  }
}
