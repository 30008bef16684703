/**
 * A WebSocket written frame by frame, including forbidden frames that a library would refuse to
 * send.
 */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../fixtures/base/clock.ts';
import { bytesOf, type Frame, FrameReader, opcodes, type ReceivedFrame } from './frames.ts';

/** Limits of stored data; the connection is closed when a server exceeds one of them. */
const FRAMES_MAX = 1000;
const PAYLOADS_MAX_BYTES = 16 * 1_048_576;

/** Any mask except zeros, to detect a server that does not unmask. */
const mask = Buffer.from([0x37, 0xfa, 0x21, 0x3d]);

/** A frame to send: whole, masked and without reserved bits by default. */
export interface FrameToSend extends Partial<Frame> {
  readonly opcode: number;
}

/** An open connection on which frames are written by hand. Its owner destroys the socket. */
export class FrameConnection {
  /** The frames received so far, the oldest first. */
  readonly receivedFrames: Frame[] = [];
  ended = false;
  #keptBytes = 0;
  readonly #socket: Duplex;
  readonly #clock: Clock;
  readonly #watchers = new Set<() => void>();

  constructor(socket: Duplex, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    const reader = new FrameReader();
    socket.on('data', (bytes: Buffer) => {
      for (const item of reader.read(bytes)) if (!this.#keeps(item)) socket.destroy();
      this.#notify();
    });
    const end = (): void => {
      this.ended = true;
      this.#notify();
    };
    // A connection that the other side cut has ended, which is what cases check.
    socket.on('error', end);
    socket.on('end', end);
    socket.on('close', end);
  }

  /** Sends the frames in a single write. */
  send(...frames: readonly FrameToSend[]): void {
    if (this.#socket.writable) this.#socket.write(Buffer.concat(frames.map(bytesToSend)));
  }

  /** Resolves to true once the predicate holds, false when it does not within the time limit. */
  async until(holds: (connection: FrameConnection) => boolean, limitMs: number): Promise<boolean> {
    if (holds(this)) return true;
    return new Promise((resolve) => {
      const settle = (outcome: boolean): void => {
        this.#watchers.delete(watch);
        timer.cancel();
        resolve(outcome);
      };
      const watch = (): void => {
        if (holds(this)) settle(true);
        else if (this.ended) settle(false);
      };
      const timer = this.#clock.after(limitMs, () => settle(holds(this)));
      this.#watchers.add(watch);
      watch();
    });
  }

  /** The first close frame received. */
  get close(): Frame | undefined {
    return this.receivedFrames.find(({ opcode }) => opcode === opcodes.close);
  }

  #keeps(item: ReceivedFrame | Buffer): boolean {
    if (!('frame' in item) || this.receivedFrames.length === FRAMES_MAX) return false;
    this.#keptBytes += item.frame.payload.length;
    if (this.#keptBytes > PAYLOADS_MAX_BYTES) return false;
    this.receivedFrames.push(item.frame);
    return true;
  }

  #notify(): void {
    for (const watch of [...this.#watchers]) watch();
  }
}

/** Returns the code of a close frame; undefined when it has none. RFC 6455, section 5.5.1 */
export function closeCodeOf({ payload }: Frame): number | undefined {
  return payload.length < 2 ? undefined : payload.readUInt16BE(0);
}

function bytesToSend(frameToSend: FrameToSend): Buffer {
  const frame = { fin: true, reserved: 0, masked: true, payload: Buffer.alloc(0), ...frameToSend };
  const bytes = bytesOf(frame);
  if (!frame.masked) return bytes;
  const start = bytes.length - frame.payload.length;
  mask.copy(bytes, start - mask.length);
  for (let index = start; index < bytes.length; index += 1) {
    bytes.writeUInt8(bytes.readUInt8(index) ^ mask.readUInt8((index - start) % 4), index);
  }
  return bytes;
}
