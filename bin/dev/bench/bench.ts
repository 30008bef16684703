/** `npm run bench`, and `npm run bench:PART` for one part: measures Fleetbed against baselines. */
import { Argument, Command, CommanderError } from 'commander';
import { printableJson } from '../../../fixtures/base/printable.ts';
import { describeError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { requireWritable, writeWhole } from '../../output/files.ts';
import { createOutput } from '../../output/output.ts';
import { Children, exitOnSignals } from './children.ts';
import { environment } from './environment.ts';
import { conformanceRows } from './parts/conformance.ts';
import { estimateRows } from './parts/estimate.ts';
import { scaleRows } from './parts/scale.ts';
import { serverRows } from './parts/server.ts';
import { simulatorRows } from './parts/simulator.ts';
import { startRows } from './parts/start.ts';
import { pinGenerator } from './pinning.ts';
import {
  type BenchResult,
  joinedResult,
  type PartResult,
  readResult,
  requireSameMachine,
  resultOf,
} from './result.ts';
import type { BenchContext } from './rounds.ts';
import { isFailing } from './row.ts';
import { changesText, resultMarkdown, resultText } from './text.ts';

const ROUNDS = 5;
const QUICK_ROUNDS = 3;

/** The parts that run by default. */
const defaultParts = {
  server: serverRows,
  simulator: simulatorRows,
  estimate: estimateRows,
  conformance: conformanceRows,
  start: startRows,
};
/** All parts; the long ones run only when they are named. */
const parts = { ...defaultParts, scale: scaleRows };

interface BenchOptions {
  readonly quick?: boolean;
  readonly json?: string;
  readonly compare?: string;
  readonly table?: readonly string[];
}

const help = `
Exit codes: 0 measured; 2 the command line is wrong; 3 a file cannot be used; 4 a ratio is below half
of its goal in every round; 5 the machine is too busy to be measured.
`;

const output = createOutput(false);
exitOnSignals();
try {
  await program().parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

function program(): Command {
  return new Command('bench')
    .description('measure server, simulator, suite and start of commands against baselines')
    .addArgument(
      new Argument('[part]', 'only this part; scale runs only when named').choices(
        Object.keys(parts),
      ),
    )
    .option('--quick', 'smaller quantities and fewer rounds: one to two minutes')
    .option('--json <file>', 'write the result as JSON')
    .option('--compare <file>', 'show the change since this JSON result')
    .option(
      '--table <file...>',
      'measure nothing: show these JSON results of one machine and day as a Markdown table',
    )
    .addHelpText('after', help)
    .exitOverride()
    .action(async (part: keyof typeof parts | undefined, options: BenchOptions) => {
      process.exitCode = await bench(
        part === undefined ? Object.keys(defaultParts) : [part],
        options,
      );
    });
}

async function bench(chosen: readonly string[], options: BenchOptions): Promise<ExitCode> {
  const { quick = false, json, compare, table } = options;
  if (table !== undefined) return shownTable(table);
  if (json !== undefined) await requireWritable('--json', json);
  const earlierResult = compare === undefined ? undefined : await readResult('--compare', compare);
  const result = await measureParts(chosen, { quick, earlierResult });
  output.line(resultText(result));
  if (earlierResult) output.line(`\n${changesText(earlierResult, result)}`);
  if (json !== undefined)
    await writeWhole(json, `${printableJson(JSON.stringify(result, null, 2))}\n`);
  const failing = result.parts.flatMap(({ rows }) => rows).filter(isFailing);
  for (const { title } of failing)
    output.line(`FAILED: ${title} is below half of its goal in every round`);
  return failing.length === 0 ? exitCodes.pass : exitCodes.failed;
}

async function shownTable(files: readonly string[]): Promise<ExitCode> {
  const results = await Promise.all(files.map((file) => readResult('--table', file)));
  const [first, ...laterResults] = results;
  if (first !== undefined) output.line(resultMarkdown(joinedResult(first, ...laterResults)));
  return exitCodes.pass;
}

interface MeasureOptions {
  readonly quick: boolean;
  /** The result to compare with, which must be of this machine. */
  readonly earlierResult: BenchResult | undefined;
}

async function measureParts(
  chosen: readonly string[],
  { quick, earlierResult }: MeasureOptions,
): Promise<BenchResult> {
  const pinning = pinGenerator();
  const children = new Children(pinning);
  const rounds = quick ? QUICK_ROUNDS : ROUNDS;
  const context: BenchContext = { children, output, quick, rounds };
  const form = `${quick ? 'quick' : 'full'}, ${rounds} rounds`;
  const about = { ...environment(pinning), form };
  if (earlierResult) requireSameMachine('--compare', earlierResult, resultOf(about, []));
  try {
    const results: PartResult[] = [];
    for (const [name, rowsOf] of Object.entries(parts)) {
      if (chosen.includes(name)) results.push({ name, rows: await rowsOf(context) });
    }
    return resultOf(about, results);
  } finally {
    await children.end();
  }
}

/** Commander has already printed its own message. A request for help is not an error. */
function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommanderError)
    return error.exitCode === 0 ? exitCodes.pass : exitCodes.usage;
  const { exitCode, sentence } = describeError(error);
  output.progress(sentence);
  return exitCode;
}
