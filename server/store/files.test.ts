import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileStore } from './files.ts';

let files: FileStore;

beforeEach(() => {
  files = new FileStore();
});

afterEach(() => files.close());

const content = Buffer.from('content of a file');
const sha256 = createHash('sha256').update(content).digest('hex');

function receive(bytes: Buffer = content) {
  return files.receive(Readable.from([bytes.subarray(0, 5), bytes.subarray(5)]));
}

describe('a file that the store receives', () => {
  it('is measured, and hidden from other users of the machine', async () => {
    const file = await receive();
    expect(file).toMatchObject({ sha256, sizeBytes: content.length });
    expect(readFileSync(file.path)).toEqual(content);
    expect(statSync(file.path).mode & 0o077).toBe(0);
    expect(statSync(files.folder).mode & 0o077).toBe(0);
  });

  it("is stored under its content's name, once for equal contents", async () => {
    for (const file of [await receive(), await receive()]) files.keep(file);
    expect(readdirSync(files.folder)).toEqual([sha256]);
  });

  it('does not interfere with another that arrives at the same time', async () => {
    const [one, other] = await Promise.all([receive(), receive(Buffer.from('other'))]);
    expect(one.path).not.toBe(other.path);
    expect(readFileSync(other.path, 'utf8')).toBe('other');
  });

  it('may be empty', async () => {
    expect(await receive(Buffer.alloc(0))).toMatchObject({ sizeBytes: 0 });
  });

  it('leaves no file when it is discarded, even twice', async () => {
    const file = await receive();
    files.discard(file);
    files.discard(file);
    expect(readdirSync(files.folder)).toEqual([]);
  });

  it.each([
    ['at once', []],
    ['in the middle', [content]],
  ])('leaves no file when its source fails %s', async (_, chunks) => {
    const source = Readable.from(
      (function* () {
        yield* chunks;
        throw new Error('the source failed');
      })(),
    );
    await expect(files.receive(source)).rejects.toThrow('the source failed');
    expect(readdirSync(files.folder)).toEqual([]);
  });
});

describe('a file that the store keeps', () => {
  it('is deleted when it is removed, while others stay', async () => {
    files.keep(await receive());
    files.keep(await receive(Buffer.from('other')));
    files.remove(sha256);
    files.remove(sha256);
    expect(readdirSync(files.folder)).toHaveLength(1);
  });

  it('is deleted on close when its folder is temporary', async () => {
    files.keep(await receive());
    files.close();
    expect(existsSync(files.folder)).toBe(false);
  });
});
