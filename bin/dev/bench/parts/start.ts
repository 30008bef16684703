/**
 * Part `start`: measures the start time of commands against bare Node, the size of the package on
 * disk, and how long a fresh clone takes to become usable.
 */
import { once } from 'node:events';
import { systemClock } from '../../../../fixtures/base/clock.ts';
import { type CommandArgs, fleetbed, serveOptions } from '../children.ts';
import { freshCloneRows } from '../fresh-clone.ts';
import { packageSizeRows } from '../package-size.ts';
import { type BenchContext, measureInRounds } from '../rounds.ts';
import { type BenchRow, limitRow, median, type RoundFigures, rowOf } from '../row.ts';

const HELP_MAX_MS = 100;
const READY_MAX_MS = 200;
/** Starts per round; the median counts, because a single start is short. */
const STARTS = 3;
const unit = 'ms';
const serveArgs = fleetbed(...serveOptions);

/** Measures all rows of the part. A process may use both cores, as it does for users. */
export async function startRows(context: BenchContext): Promise<BenchRow[]> {
  const start = (name: string, args: CommandArgs) => ({
    name,
    measure: async (): Promise<number> => {
      const times: number[] = [];
      for (let count = 0; count < STARTS; count++) times.push(await startMs(context, args));
      return median(times);
    },
  });
  const [bare, help, serveHelp, ready] = await measureInRounds(context, {
    title: 'starts',
    rounds: context.rounds,
    programs: [
      start('node -e 0', ['-e', '0']),
      start('fleetbed', fleetbed('--help')),
      start('fleetbed', fleetbed('serve', '--help')),
      start('fleetbed', serveArgs),
    ],
  });
  const note = (subject: RoundFigures): string => {
    const times = median(subject.values) / median(bare.values);
    return `${times.toFixed(1)} times ${bare.name}, which takes ${median(bare.values).toFixed(0)} ms`;
  };
  const limitedRow = (title: string, subject: RoundFigures, limit: number): BenchRow =>
    limitRow({ title, unit, subject, limit, note: note(subject) });
  return [
    limitedRow('fleetbed --help', help, HELP_MAX_MS),
    rowOf({
      title: 'serve --help',
      unit,
      better: 'lower',
      subject: serveHelp,
      baseline: bare,
      note: note(serveHelp),
    }),
    limitedRow('serve until its first response', ready, READY_MAX_MS),
    ...packageSizeRows(),
    // Installing packages takes longer than all other rows of a short run together.
    ...(context.quick ? [] : await freshCloneRows(context)),
  ];
}

/**
 * Returns the start time of a process in milliseconds: until its first output for a server, until
 * its exit for other commands.
 */
async function startMs({ children }: BenchContext, args: CommandArgs): Promise<number> {
  const startedMs = systemClock.monotonicMs();
  const child = children.spawn('alone', args);
  const exit = once(child, 'exit');
  if (args === serveArgs) {
    await once(child.stdout, 'data');
    const tookMs = systemClock.monotonicMs() - startedMs;
    child.kill('SIGTERM');
    await exit;
    return tookMs;
  }
  child.stdout.resume();
  await exit;
  return systemClock.monotonicMs() - startedMs;
}
