import { copyFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkDatabase } from './database-check.ts';
import { noSums, readSums, writeSums } from './page-sums.ts';
import { openFileSql } from './sql-file.ts';
import { TestFolder } from './testing/engines.ts';

let folder: TestFolder;
let database: string;
let killed: string;

beforeEach(() => {
  folder = new TestFolder();
  database = join(folder.path, 'database.sqlite');
  killed = join(folder.path, 'killed.sqlite');
});

afterEach(() => folder.remove());

/** Copies the files in the state that a killed process would leave. */
function leaveKilled(): void {
  for (const end of ['', '-wal', '-sums']) copyFileSync(database + end, killed + end);
}

function changeByte(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

/** Writes a database through several checkpoints, with changes left in its log. */
function write(rows: number): void {
  const sql = openFileSql(database);
  sql.script('CREATE TABLE rows (at INTEGER PRIMARY KEY, text TEXT)');
  for (let at = 0; at < rows; at += 1) {
    sql.run('INSERT INTO rows VALUES (?, ?)', [at, 'x'.repeat(20_000)]);
    if (at === rows - 1) leaveKilled();
  }
  sql.close();
}

/** Returns the head that the engine writes when it restarts a log, before the first frame. */
function nextHead(log: Buffer): Buffer {
  const head = Buffer.from(log.subarray(0, 32));
  head.writeUInt32BE(head.readUInt32BE(16) + 1, 16);
  const isLittle = head.readUInt32BE(0) === 0x377f0682;
  let [sum0, sum1] = [0, 0];
  for (let at = 0; at < 24; at += 8) {
    const word = (offset: number) =>
      isLittle ? head.readUInt32LE(offset) : head.readUInt32BE(offset);
    sum0 = (sum0 + word(at) + sum1) >>> 0;
    sum1 = (sum1 + word(at + 4) + sum0) >>> 0;
  }
  head.writeUInt32BE(sum0, 24);
  head.writeUInt32BE(sum1, 28);
  return head;
}

describe('the page sums of a database', () => {
  it.each([1, 150, 420])('confirm it after %i commits, closed or killed', (rows) => {
    write(rows);
    expect(checkDatabase(database)).toEqual({ hasChecksums: true, isOpen: false });
    expect(checkDatabase(killed)).toEqual({ hasChecksums: true, isOpen: true });
    expect(readdirSync(folder.path)).not.toContain('database.sqlite-wal');
  });

  it('are valid after a kill between a new log and its first frame', () => {
    write(5);
    const log = readFileSync(`${killed}-wal`);
    nextHead(log).copy(log);
    writeFileSync(`${killed}-wal`, log);
    const mark = readSums(killed)?.mark ?? noSums.mark;
    // Before the log restarts, the database holds all pages, and the sums file covers them.
    copyFileSync(database, killed);
    writeSums(killed, { ...(readSums(database) ?? noSums), mark });
    expect(checkDatabase(killed)).toEqual({ hasChecksums: true, isOpen: true });
  });

  it('detect a changed byte in any page of a closed database', () => {
    write(3);
    const pages = readFileSync(database).length / 4096;
    for (let page = 0; page < pages; page += 1) {
      const at = page * 4096 + 2000;
      changeByte(database, at);
      expect(() => checkDatabase(database)).toThrow(`page ${page + 1} was changed`);
      changeByte(database, at);
    }
    checkDatabase(database);
  });

  it('detect a changed byte of a killed database outside the logged pages', () => {
    write(420);
    changeByte(killed, 4096 * 300 + 77);
    expect(() => checkDatabase(killed)).toThrow('page 301 was changed');
  });

  it.each<[string, (log: string) => void, string]>([
    ['is cut short', (log) => truncateSync(log, 32 + 4120), 'cut short'],
    ['is empty', (log) => truncateSync(log), 'is empty'],
    ['has a changed byte', (log) => changeByte(log, 5000), 'is damaged'],
    ['has another beginning', (log) => changeByte(log, 17), 'is damaged'],
  ])('detect a log that %s', (_, damage, problem) => {
    write(5);
    damage(`${killed}-wal`);
    expect(() => checkDatabase(killed)).toThrow(`${killed}-wal`);
    expect(() => checkDatabase(killed)).toThrow(problem);
  });
});
