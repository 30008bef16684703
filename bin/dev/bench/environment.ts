/** The environment of a benchmark, shown at the head of its report. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { packageVersion } from '../../output/version.ts';
import { hasCpuTime } from './cpu-time.ts';
import type { Pinning } from './pinning.ts';

const BYTES_PER_GIB = 1024 ** 3;
/** Packages whose version affects the figures. */
const packages = ['express', 'fastify', 'autocannon', 'ws'];

/** Returns the facts of the environment by label, in display order. */
export function environment(pinning: Pinning): Readonly<Record<string, string>> {
  const commit = gitCommit();
  return {
    date: new Date(systemClock.now()).toISOString(),
    machine: machine(),
    memory: `${(totalmem() / BYTES_PER_GIB).toFixed(1)} GiB`,
    node: process.versions.node,
    fleetbed: `${packageVersion()}${commit === undefined ? '' : `, commit ${commit}`}`,
    packages: packages.map((name) => `${name} ${versionOf(name)}`).join(', '),
    cores: pinning.text,
    rates: hasCpuTime
      ? 'per second of CPU time of the process'
      : 'per second on the clock: no CPU time by process here',
  };
}

/** Returns the processors in one line. */
export function machine(): string {
  return `${cpus().length} x ${cpus()[0]?.model ?? 'unknown CPU'}`;
}

/** Returns the commit of the sources; undefined outside of a clone or without git. */
function gitCommit(): string | undefined {
  try {
    const git = (...args: string[]): string =>
      execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' with changes' : ''}`;
  } catch {
    return undefined;
  }
}

function versionOf(name: string): string {
  const file = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return String(JSON.parse(readFileSync(file, 'utf8')).version);
}
