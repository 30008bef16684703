/**
 * Reports tests that are skipped because a program is missing, and checks that tests leave no file
 * and no process behind.
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { enterableFolder } from './enterable-folder.ts';
import { testTools } from './test-tools.ts';

/**
 * Creates one temporary folder for all tests of a run.
 * @returns a function that removes it after the last test
 */
export function setup(lane: TestProject): () => void {
  for (const [name, { isThere, files, option }] of Object.entries(testTools)) {
    const laneFiles = files.filter((file) => lane.name !== 'quick' || !file.includes('.full.'));
    if (isThere || laneFiles.length === 0) continue;
    const remedy = `node bin/dev/setup.mjs ${option} gets it, or says how`;
    process.stderr.write(
      `${name} is missing, so these are skipped: ${laneFiles.join(', ')} (${remedy})\n`,
    );
  }
  const previousTmpdir = process.env.TMPDIR;
  const location = enterableFolder([tmpdir(), '/tmp', '/var/tmp']);
  const folder = mkdtempSync(join(location, 'fleetbed-tests-'));
  // Debian's clients run as an unprivileged user, who must be able to reach their folders below it.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  return () => {
    if (previousTmpdir === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = previousTmpdir;
    const processes = processesOf(folder);
    rmSync(folder, { recursive: true, force: true });
    if (processes.length === 0) return;
    for (const line of processes) killProcess(Number.parseInt(line, 10));
    throw new Error(`the tests left processes behind: ${processes.join('; ')}`);
  };
}

/** Returns the processes that use this temporary folder, except those of the test runner. */
function processesOf(folder: string): string[] {
  const entry = `TMPDIR=${folder}`;
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => textOf(`/proc/${pid}/environ`).split('\0').includes(entry))
    .map((pid) => `${pid} ${textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`)
    .filter((line) => !line.includes('vitest'));
}

/** Returns the text of a file; '' when the process has ended or belongs to another user. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Kills the process, which may have ended meanwhile. */
function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}
