/**
 * Measures how long a fresh clone takes to become usable: installation, build, and the first line
 * of the demo.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { type BenchContext, measureInRounds } from './rounds.ts';
import { type BenchRow, limitRow, rowOf } from './row.ts';

const FIRST_LINE_MAX_S = 15;
const SECOND_START_MAX_S = 3;
const SECOND_MS = 1000;
const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** Measures a temporary copy of the files that git tracks. */
export async function freshCloneRows(context: BenchContext): Promise<BenchRow[]> {
  const clone = copyOfClone();
  try {
    context.output.progress('installing the packages of a fresh clone');
    const install = { name: 'npm ci', values: [await secondsOf(clone, 'npm', ['ci'])] };
    const unbuilt = () => removeBuild(clone);
    const [build, first, second] = await measureInRounds(context, {
      title: 'fresh clone',
      rounds: context.rounds,
      programs: [
        {
          name: 'fleetbed',
          measure: async () => {
            unbuilt();
            return secondsOf(clone, process.execPath, ['bin/dev/setup.mjs']);
          },
        },
        {
          name: 'fleetbed',
          measure: async () => {
            unbuilt();
            return firstLineSeconds(clone);
          },
        },
        { name: 'fleetbed', measure: () => firstLineSeconds(clone) },
      ],
    });
    const unit = 's';
    const baseline = { ...install, values: build.values.map(() => install.values[0] ?? 0) };
    return [
      rowOf({ title: 'build of a clone', unit, better: 'lower', subject: build, baseline }),
      limitRow({
        title: 'first line of npm start, packages installed',
        unit,
        subject: first,
        limit: FIRST_LINE_MAX_S,
      }),
      limitRow({
        title: 'first line of npm start, built',
        unit,
        subject: second,
        limit: SECOND_START_MAX_S,
      }),
    ];
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
}

function copyOfClone(): string {
  const clone = mkdtempSync(join(tmpdir(), 'fleetbed-clone-'));
  const { stdout } = spawnSync('git', ['ls-files', '-z'], { cwd: root });
  for (const file of String(stdout).split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    cpSync(join(root, file), join(clone, file));
  }
  return clone;
}

function removeBuild(clone: string): void {
  for (const folder of ['build', 'dist'])
    rmSync(join(clone, folder), { recursive: true, force: true });
}

/**
 * Runs a program of the clone to its end and returns its duration in seconds.
 * @throws CommandError when the program fails
 */
async function secondsOf(clone: string, program: string, args: readonly string[]) {
  const startedMs = systemClock.monotonicMs();
  const child = spawn(program, args, { cwd: clone, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'close');
  if (code !== 0) throw stepFailure([program, ...args].join(' '));
  return (systemClock.monotonicMs() - startedMs) / SECOND_MS;
}

/**
 * Returns the time until the demo prints that its server is ready, in seconds; then stops the demo.
 */
async function firstLineSeconds(clone: string): Promise<number> {
  const startedMs = systemClock.monotonicMs();
  const child = spawn('npm', ['start'], {
    cwd: clone,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const close = once(child, 'close');
  for await (const line of createInterface({ input: child.stderr })) {
    if (!line.startsWith('server: ready')) continue;
    const seconds = (systemClock.monotonicMs() - startedMs) / SECOND_MS;
    endGroup(child);
    await close;
    return seconds;
  }
  throw stepFailure('npm start');
}

/** Ends the whole process group, because npm does not forward signals. */
function endGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGTERM');
}

function stepFailure(title: string): CommandError {
  return new CommandError(
    `${title} failed in a fresh clone; see its output above.`,
    exitCodes.internal,
  );
}
