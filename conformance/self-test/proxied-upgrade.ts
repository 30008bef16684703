/** Protocol upgrades through a proxy, and the WebSocket after them. RFC 6455 */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { bytesOf, type Frame, FrameReader } from '../target/frames.ts';
import type { ActiveDefect } from './active-defect.ts';
import type { FrameSide, FrameTunnel } from './defect.ts';
import { type OutgoingResponse, responseHeaders } from './proxied-messages.ts';

/** Writes the response to an upgrade; the connection then ends unless the protocol is switched. */
export function writeUpgradeResponse(socket: Duplex, outgoing: OutgoingResponse): void {
  const { response, received } = outgoing;
  const { status, body } = response;
  const isSame = received?.statusCode === status;
  const reason = (isSame ? received.statusMessage : STATUS_CODES[status]) ?? '';
  const headers = responseHeaders(outgoing);
  const lines = headers.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${headers[index + 1] ?? ''}`] : [],
  );
  socket.write([`HTTP/1.1 ${status} ${reason}`, ...lines, '', ''].join('\r\n'), 'latin1');
  if (status === 101) return;
  const isChunked = response.headers['transfer-encoding'] !== undefined;
  socket.end(isChunked ? inOneChunk(body) : body);
  // The client's end is seen only after everything it sent has been read.
  socket.resume();
}

function inOneChunk(body: Buffer): Buffer {
  const end = Buffer.from('0\r\n\r\n');
  if (body.length === 0) return end;
  return Buffer.concat([
    Buffer.from(`${body.length.toString(16)}\r\n`),
    body,
    Buffer.from('\r\n'),
    end,
  ]);
}

/** Two connections that have switched protocols. */
export interface JoinedConnections extends Readonly<Record<FrameSide, Duplex>> {
  readonly planted: ActiveDefect | undefined;
  /** Bytes that arrived together with the switch. */
  readonly heads: Readonly<Record<FrameSide, Buffer>>;
}

/** Forwards bytes both ways, frame by frame where the defect sees frames. */
export function joinSockets(joint: JoinedConnections): void {
  const { device, target } = joint;
  const line: FrameTunnel = {
    send: (to, frame) => joint[to].write(bytesOf(frame)),
    destroy: () => {
      device.destroy();
      target.destroy();
    },
  };
  passFrom('device', joint, line);
  passFrom('target', joint, line);
}

const otherSide: Readonly<Record<FrameSide, FrameSide>> = { device: 'target', target: 'device' };

function passFrom(from: FrameSide, joint: JoinedConnections, line: FrameTunnel): void {
  const { planted } = joint;
  const source = joint[from];
  const sink = joint[otherSide[from]];
  const reader = new FrameReader();
  const pass = (bytes: Buffer): void => {
    if (sink.writableEnded || sink.destroyed) return;
    if (!planted?.seesFrames) sink.write(bytes);
    else for (const part of reader.read(bytes)) sink.write(passedOn(part, from, { planted, line }));
  };
  const end = (act: () => void): void => {
    if (planted?.endsOtherSide(from, line) ?? true) act();
  };
  if (joint.heads[from].length > 0) pass(joint.heads[from]);
  source.on('data', pass);
  source.on('end', () => end(() => sink.end()));
  source.on('error', () => end(() => sink.destroy()));
  source.on('close', () => {
    // A connection that was reset emits `close` without `end`.
    if (!source.readableEnded) end(() => sink.destroy());
  });
}

function passedOn(
  part: { readonly frame: Frame; readonly bytes: Buffer } | Buffer,
  from: FrameSide,
  { planted, line }: { readonly planted: ActiveDefect; readonly line: FrameTunnel },
): Buffer {
  if (Buffer.isBuffer(part)) return part;
  const passed = planted.alterFrame(part.frame, from, line);
  if (passed === part.frame) return part.bytes;
  const frames = 'opcode' in passed ? [passed] : passed;
  return Buffer.concat(frames.map(bytesOf));
}
