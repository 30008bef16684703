import { closeSync, copyFileSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../../../fixtures/base/random.ts';
import { openFileSql } from './sql-file.ts';
import { TestFolder } from './testing/engines.ts';
import { type LogPosition, WriteAheadLog } from './write-ahead-log.ts';

const HEAD_BYTES = 32;
const FRAME_BYTES = 24 + 4096;
const FUZZED_HEADS = 10_000;

let folder: TestFolder;
let file: string;

beforeEach(() => {
  folder = new TestFolder();
  file = join(folder.path, 'some-wal');
});

afterEach(() => folder.remove());

function markOf(bytes: Uint8Array): LogPosition {
  writeFileSync(file, bytes);
  return markInFile();
}

function markInFile(): LogPosition {
  const log = new WriteAheadLog(file);
  try {
    log.follow();
    return log.mark;
  } finally {
    log.close();
  }
}

/** Returns the log that the engine has written, as a killed process leaves it. */
function realLog(): Buffer {
  const database = join(folder.path, 'database.sqlite');
  const sql = openFileSql(database);
  sql.script('CREATE TABLE rows (text TEXT)');
  for (let row = 0; row < 3; row += 1) sql.run('INSERT INTO rows VALUES (?)', [`row ${row}`]);
  copyFileSync(`${database}-wal`, file);
  sql.close();
  return readFileSync(file);
}

/** Sets the checksum of a head as the engine does, so that only its content can be wrong. */
function sign(head: Buffer): Buffer {
  const isLittle = head.readUInt32BE(0) === 0x377f0682;
  const word = (at: number) => (isLittle ? head.readUInt32LE(at) : head.readUInt32BE(at));
  let [sum0, sum1] = [0, 0];
  for (let at = 0; at < 24; at += 8) {
    sum0 = (sum0 + word(at) + sum1) >>> 0;
    sum1 = (sum1 + word(at + 4) + sum0) >>> 0;
  }
  head.writeUInt32BE(sum0, 24);
  head.writeUInt32BE(sum1, 28);
  return head;
}

/** Returns a random head or a changed real one; every other head gets a valid checksum. */
function drawnHead(random: Random, real: Buffer, at: number): Buffer {
  const head = Buffer.from(at % 2 === 0 ? random.bytes(HEAD_BYTES) : real.subarray(0, HEAD_BYTES));
  for (let change = random.integer(0, 4); change > 0; change -= 1) {
    head.writeUInt8(random.integer(0, 255), random.integer(0, 23));
  }
  if (at % 5 === 0) head.writeUInt32BE(0x377f0682 + random.integer(0, 1), 0);
  if (at % 7 === 0) head.writeUInt32BE(2 ** random.integer(0, 31), 8);
  return at % 4 < 2 ? sign(head) : head;
}

describe('a write-ahead log', () => {
  it('contains no frames if it starts with zeros, whatever its length', () => {
    for (const bytes of [0, 1, 31, 32, 33, FRAME_BYTES, 3 * FRAME_BYTES]) {
      expect(markOf(Buffer.alloc(bytes)).frames).toBe(0);
    }
  });

  it('contains no frames if its head has an unsupported page size', () => {
    const log = realLog();
    for (const pageBytes of [0, 1, 8, 256, 513, 4095, 131_072, 2 ** 31, 2 ** 32 - 1]) {
      log.writeUInt32BE(pageBytes, 8);
      sign(log);
      expect(markOf(log).frames, `${pageBytes}`).toBe(0);
    }
    log.writeUInt32BE(4096, 8);
    expect(markOf(sign(log)).frames).toBeGreaterThan(0);
  });

  it(`is read to an end behind each of ${FUZZED_HEADS} heads drawn by chance`, () => {
    const log = realLog();
    const real = markOf(log);
    expect(real.frames).toBeGreaterThan(2);
    const random = seededRandom('heads of logs');
    const descriptor = openSync(file, 'r+');
    let accepted = 0;
    for (let at = 0; at < FUZZED_HEADS; at += 1) {
      const head = drawnHead(random, log, at);
      writeSync(descriptor, head, 0, HEAD_BYTES, 0);
      const { frames } = markInFile();
      if (frames === 0) continue;
      // Salts, page size and checksum must belong to the frames; nothing else matches them.
      expect(frames).toBe(real.frames);
      expect(head.subarray(8, 12)).toEqual(log.subarray(8, 12));
      expect(head.subarray(16)).toEqual(log.subarray(16, HEAD_BYTES));
      accepted += 1;
    }
    closeSync(descriptor);
    expect(accepted).toBeGreaterThan(0);
  });
});
