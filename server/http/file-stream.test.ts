import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import {
  createServer,
  get,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { type FilePart, FileStream } from './file-stream.ts';

const SIZE = 8 * 2 ** 20 + 17;
const folder = mkdtempSync(join(tmpdir(), 'fleetbed-file-stream-'));
const path = join(folder, 'file');
const bytes = seededRandom('file').bytes(SIZE);
const whole: FilePart = { start: 0, end: SIZE - 1 };
let server: Server | undefined;

beforeAll(() => {
  writeFileSync(path, bytes);
  return () => rmSync(folder, { recursive: true });
});

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Sends a request to a server that answers with this function. */
async function responseOf(answer: (response: ServerResponse) => void): Promise<IncomingMessage> {
  server = createServer((_, response) => answer(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port }, resolve).on('error', reject);
  });
}

async function received(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe('a file that is streamed into a response', () => {
  it('arrives intact with few buffers, however slowly the client reads', async () => {
    const buffers = new Set<ArrayBufferLike>();
    const response = await responseOf((to) => {
      const file = new FileStream(path, whole, to);
      file.on('data', (chunk: Buffer) => buffers.add(chunk.buffer));
      file.pipe(to);
    });
    const chunks: Buffer[] = [];
    for await (const chunk of response) {
      chunks.push(chunk as Buffer);
      if (chunks.length % 16 === 0) await new Promise(setImmediate);
    }
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
    expect(buffers.size).toBeLessThan(40);
  });

  it.each<FilePart>([
    { start: 0, end: 0 },
    { start: 65_535, end: 65_536 },
    { start: 1_000_000, end: 1_200_000 },
    { start: SIZE - 1, end: SIZE - 1 },
  ])('contains only the part from $start to $end', async (part) => {
    const response = await responseOf((to) => new FileStream(path, part, to).pipe(to));
    const expected = bytes.subarray(part.start, part.end + 1);
    expect((await received(response)).equals(expected)).toBe(true);
  });

  it('uses separate buffers when another consumer keeps the written data', async () => {
    const kept: Buffer[] = [];
    const response = await responseOf((to) => {
      to.write = (chunk: Buffer) => kept.push(chunk) > 0;
      new FileStream(path, whole, to).pipe(to);
    });
    await received(response);
    expect(Buffer.concat(kept).equals(bytes)).toBe(true);
  });

  it('fails when the file does not exist', async () => {
    const response = await responseOf((to) => {
      new FileStream(join(folder, 'none'), whole, to).once('error', ({ message }) =>
        to.end(message),
      );
    });
    expect((await received(response)).toString()).toMatch(/^ENOENT/);
  });
});
