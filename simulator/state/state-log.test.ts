import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FleetStateError } from './state-error.ts';
import { readStateLog, StateLog } from './state-log.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-state-log-'));
  path = join(folder, 'log');
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Writes a state log of these lines and closes it. */
function writeLog(...lines: readonly unknown[]): void {
  const log = StateLog.begin(path, lines.slice(0, 1));
  for (const line of lines.slice(1)) log.append(line);
  log.close();
}

describe('a state log in a file', () => {
  it('returns what was written, and only its owner can read it', () => {
    writeLog({ a: 1 }, { b: 'ü\n' });
    expect([...readStateLog(path)]).toEqual([{ a: 1 }, { b: 'ü\n' }]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('has written each line to the file before the call returns', () => {
    const log = StateLog.begin(path, []);
    log.append({ a: 1 });
    expect([...readStateLog(path)]).toEqual([{ a: 1 }]);
    log.close();
  });

  it('continues after all its lines were replaced', () => {
    const log = StateLog.begin(path, [{ old: 1 }]);
    log.append({ old: 2 });
    log.replace([{ fresh: 1 }]);
    log.append({ fresh: 2 });
    expect(log.sizeBytes).toBe(statSync(path).size);
    log.close();
    expect([...readStateLog(path)]).toEqual([{ fresh: 1 }, { fresh: 2 }]);
    expect(readdirSync(folder)).toEqual(['log']);
  });

  it('can have lines that are longer than one read from the file', () => {
    const long = 'x'.repeat(3 * 2 ** 20);
    writeLog({ long }, { short: 1 });
    expect([...readStateLog(path)]).toEqual([{ long }, { short: 1 }]);
  });

  it('has no lines when there is no file', () => {
    expect([...readStateLog(path)]).toEqual([]);
  });
});

describe('a state log whose writer was killed', () => {
  it('is read up to the last whole line, wherever the last line was cut', () => {
    writeLog({ first: 1 }, { second: 'abc' });
    const whole = statSync(path).size;
    const first = readFileSync(path, 'utf8').indexOf('\n') + 1;
    for (let size = whole - 1; size >= first; size--) {
      truncateSync(path, size);
      const lines = [...readStateLog(path)];
      // Only the line break at the end of the last line was missing.
      if (size === whole - 1) expect(lines).toHaveLength(2);
      else expect(lines, `${size} bytes`).toEqual([{ first: 1 }]);
    }
  });
});

describe('a state log that was modified', () => {
  it.each([
    ['a damaged line in its midst', (text: string) => text.replace('second', 'secund')],
    ['a damaged last line', (text: string) => text.replace('third', 'thurd')],
    ['a line without a checksum', (text: string) => `${text}{"a":1}\n`],
    ['text of another kind', () => 'hello\nworld\n'],
  ])('is refused for %s, with the number of the line', (_, change) => {
    writeLog({ first: 1 }, { second: 2 }, { third: 3 });
    writeFileSync(path, change(readFileSync(path, 'utf8')));
    const read = () => [...readStateLog(path)];
    expect(read).toThrow(FleetStateError);
    expect(read).toThrow(
      /line \d of .*log is damaged or was not written by Fleetbed; use another path/,
    );
  });

  it('is refused when a line is too long and has no end', () => {
    writeLog({ first: 1 });
    appendFileSync(path, Buffer.alloc(20 * 2 ** 20, 'x'));
    expect(() => [...readStateLog(path)]).toThrow(/^line 2 of .* is damaged/);
  });

  it('cannot be written where there is no folder', () => {
    expect(() => StateLog.begin(join(folder, 'absent', 'log'), [])).toThrow(
      /^cannot write \S+: there is no such file or folder; use another path\.$/,
    );
  });
});
