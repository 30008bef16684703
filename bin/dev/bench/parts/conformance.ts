/** Part `conformance`: measures the duration of the whole suite against the reference server. */
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConformanceResult } from '../../../../conformance/result/result.ts';
import { fleetbed } from '../children.ts';
import { type BenchContext, measureInRounds } from '../rounds.ts';
import { type BenchRow, limitRow, median } from '../row.ts';

const JOBS = 8;
const RUN_MAX_SECONDS = 20;
/** A run is long enough that one round is sufficient. */
const QUICK_ROUNDS = 1;

/** Measures the only row of the part. */
export async function conformanceRows(context: BenchContext): Promise<BenchRow[]> {
  const title = `whole suite, ${JOBS} jobs`;
  const runs: ConformanceResult[] = [];
  const measure = async (): Promise<number> => {
    const run = await suiteRun(context);
    runs.push(run);
    return run.durationMs / 1000;
  };
  const [subject] = await measureInRounds(context, {
    title,
    rounds: context.quick ? QUICK_ROUNDS : context.rounds,
    programs: [{ name: 'fleetbed', measure }],
  });
  const rates = runs.map(({ footprint, durationMs }) => footprint.requests / (durationMs / 1000));
  const cases = runs[0]?.verdicts.length ?? 0;
  const note = `${cases} cases, ${Math.round(median(rates))} requests/s`;
  return [limitRow({ title, unit: 's', subject, limit: RUN_MAX_SECONDS, note })];
}

/** Runs the suite once on a new server. @throws Error when the suite does not pass */
async function suiteRun({ children }: BenchContext): Promise<ConformanceResult> {
  const server = await children.serve();
  const { baseUrl, controlUrl, controlToken, adminPassword } = server.ready;
  const folder = await mkdtemp(join(tmpdir(), 'fleetbed-bench-'));
  try {
    const file = join(folder, 'result.json');
    const target = ['--url', baseUrl, '--control-url', controlUrl];
    const run = ['--disruptive', '--jobs', String(JOBS), '--report', `json=${file}`];
    const suite = children.spawn('generator', fleetbed('conform', ...run, ...target), {
      FLEETBED_PASSWORD: adminPassword,
      FLEETBED_CONTROL_TOKEN: controlToken,
    });
    suite.stdout.resume();
    const [code] = await once(suite, 'exit');
    if (code !== 0) throw new Error(`the suite ended with exit code ${code}`);
    return JSON.parse(await readFile(file, 'utf8'));
  } finally {
    await rm(folder, { recursive: true });
    await server.end();
  }
}
