import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeLock } from './lock.ts';

let folder: string;
let file: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-lock-'));
  file = join(folder, 'lock');
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const lock = () => takeLock(file, 'the state folder x');

/** A process that does nothing until it is killed. */
function sleeper(): ChildProcess {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: 'pipe' });
  children.push(child);
  return child;
}

describe('a lock', () => {
  it('names its process, and is gone once it is released', () => {
    const taken = lock();
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: process.pid });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    taken.release();
    expect(existsSync(file)).toBe(false);
  });

  it('keeps a second one away', () => {
    lock();
    expect(lock).toThrow(
      `process ${process.pid} is using the state folder x; end it first, or remove ${file} when`,
    );
  });

  it('keeps others away as long as its process lives, and not after a kill', async () => {
    const child = sleeper();
    writeFileSync(file, JSON.stringify({ pid: child.pid, host: hostname() }));
    expect(lock).toThrow(`process ${child.pid} is using`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(lock).not.toThrow();
  });

  it('is not taken for that of a later process with the same number', () => {
    const { pid } = sleeper();
    writeFileSync(file, JSON.stringify({ pid, host: hostname(), started: '1' }));
    expect(lock).not.toThrow();
  });

  it('of another machine is never taken over', () => {
    writeFileSync(file, JSON.stringify({ pid: 1, host: 'elsewhere', started: '1' }));
    expect(lock).toThrow('process 1 on elsewhere is using the state folder x');
  });

  it('that cannot be read is not taken over', () => {
    writeFileSync(file, 'hello');
    expect(lock).toThrow('another process is using the state folder x');
  });
});
