/**
 * `fleetbed conform self-test`: puts each defect in front of a good server, and reports which
 * cases detect it.
 */
import { type Command, Option } from 'commander';
import {
  committedResultPath,
  type FindCommittedRow,
  formatCommittedResult,
  loadCommittedRows,
} from '../../../conformance/self-test/committed-result.ts';
import type { Defect } from '../../../conformance/self-test/defect.ts';
import { allDefects } from '../../../conformance/self-test/defects/index.ts';
import { type FuzzDefect, randomDefects } from '../../../conformance/self-test/fuzz/draw.ts';
import {
  type FuzzResult,
  type FuzzRow,
  reachesFloor,
  runFuzz,
} from '../../../conformance/self-test/fuzz/fuzz.ts';
import { needsNoFix } from '../../../conformance/self-test/judgement.ts';
import {
  isSuccessful,
  type KillMatrix,
  type MatrixRow,
  type RunDefect,
  runMatrix,
  sampleOf,
} from '../../../conformance/self-test/matrix.ts';
import {
  fuzzRowText,
  fuzzText,
  isProblem,
} from '../../../conformance/self-test/report/fuzz-text.ts';
import { matrixHtml } from '../../../conformance/self-test/report/html.ts';
import { matrixText, rowText } from '../../../conformance/self-test/report/text.ts';
import { runAsWorker } from '../../../conformance/self-test/workers.ts';
import { selectedRows } from '../../../conformance/suite/selection.ts';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { secretVariables } from '../../../fixtures/base/secret-variables.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import { addOptionRows } from '../../options/option-rows.ts';
import { SecretOption } from '../../options/secret-option.ts';
import { headerPrefixOption } from '../../options/shared-options.ts';
import { addUrlOption } from '../../options/url-option.ts';
import { CommandError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { FOR_ALL, requireWritable, writeWhole } from '../../output/files.ts';
import { createOutput, type Output } from '../../output/output.ts';
import { withKnownIds } from './options.ts';
import { selfTestOn } from './self-test/good-targets.ts';
import { defaultFloor, defaultSeed, selfTestRows } from './self-test-options.ts';
import { selfTestProgress } from './self-test-progress.ts';
import { begin, type SelfTestCommandOptions, targetOf } from './self-test-run.ts';

const codes = exitCodeHelp({
  pass: 'every defect is killed',
  failed: 'a defect survives, or a good server fails',
  interrupted: 'Ctrl-C',
});

/** Adds the options and the action of the subcommand. */
export function configure(command: Command): void {
  command.addHelpText('after', codes);
  addExamples(
    command,
    '# The defects of links, against reference servers',
    'fleetbed conform self-test link-',
    '# All defects, in front of another good server',
    'fleetbed conform self-test --url https://staging.example.com --html matrix.html',
    '# 500 alterations of responses at random places',
    'fleetbed conform self-test --fuzz 500 --seed 1 --processes 2',
    '# The client judge, against defective clients',
    'fleetbed conform self-test --clients',
    '# In a clone: the defects whose code changed, and 100 others',
    'fleetbed conform self-test --sample 100 --seed "$(git rev-parse HEAD)"',
  );
  command
    .argument('[defect...]', 'run only defects whose ID starts with this')
    .optionsGroup('Target:');
  addUrlOption(command, {
    description: 'a good server (default: a new reference server for each defect)',
    isInEnvironment: false,
  })
    .addOption(
      new SecretOption(
        '--token <jwt>',
        'token of a user of the server at --url',
        secretVariables.userToken,
      ),
    )
    .addOption(headerPrefixOption())
    .optionsGroup('Which cases:')
    .option('--cases <id-prefix...>', 'run only cases whose ID starts with this');
  addOptionRows(command, selfTestRows)
    .addOption(new Option('--worker').hideHelp())
    .action(async (prefixes: readonly string[], options: SelfTestCommandOptions) => {
      process.exitCode = await runSelfTest(prefixes, options);
    });
}

async function runSelfTest(
  prefixes: readonly string[],
  options: SelfTestCommandOptions,
): Promise<ExitCode> {
  const { fuzz, seed = defaultSeed, list: isList, json = false } = options;
  requireFuzz(options);
  if (options.updateResult && (prefixes.length > 0 || options.cases !== undefined)) {
    const sentence =
      '--update-result replaces the result of all defects; run it without IDs and --cases.';
    throw new CommandError(sentence, exitCodes.usage);
  }
  if (options.clients) {
    const { testWithDefectiveClients } = await import('./self-test/defective-clients.ts');
    const { floor } = options;
    return testWithDefectiveClients({ prefixes, fuzz, seed, floor }, createOutput(json));
  }
  const fuzzDefects = fuzz === undefined ? undefined : randomDefects(fuzz, seed);
  if (options.worker) {
    await runAsWorker(fuzzDefects ?? allDefects, (signal) =>
      selfTestOn(targetOf(options), { signal }),
    );
    return exitCodes.pass;
  }
  const output = createOutput(json);
  if (fuzzDefects !== undefined) {
    const defects = withKnownIds(() => selectedRows(fuzzDefects, prefixes, 'defect'));
    return isList ? printDefects(defects, output) : fuzzSuite(defects, options, output);
  }
  const defects = withKnownIds(() => selectedRows(allDefects, prefixes, 'defect'));
  return isList ? printDefects(defects, output) : selfTest(defects, options, output);
}

/** Refuses options of random alterations without `--fuzz`. @throws CommandError */
function requireFuzz({ fuzz, sample, seed, floor }: SelfTestCommandOptions): void {
  if (fuzz !== undefined) return;
  const sentence =
    floor !== undefined
      ? '--floor is an option of random alterations; add --fuzz.'
      : seed !== undefined && sample === undefined
        ? '--seed selects alterations or a sample of the defects; add --fuzz or --sample.'
        : undefined;
  if (sentence !== undefined) throw new CommandError(sentence, exitCodes.usage);
}

function printDefects(defects: readonly Defect[], output: Output): ExitCode {
  output.data(defects.map(({ alter: _, ...facts }) => facts));
  for (const { id, title } of defects) output.line(`${id}  ${title}`);
  return exitCodes.pass;
}

async function selfTest(
  defects: readonly Defect[],
  options: SelfTestCommandOptions,
  output: Output,
): Promise<ExitCode> {
  if (options.html !== undefined) await requireWritable('--html', options.html);
  const matrix = await runAll(defects, options, output);
  const isWhole = defects.length === allDefects.length;
  if (options.html !== undefined) await writeWhole(options.html, matrixHtml(matrix, isWhole));
  if (options.updateResult && !matrix.interrupted) {
    await writeWhole(committedResultPath(), await formatCommittedResult(matrix), FOR_ALL);
  }
  output.data(matrix);
  output.line(matrixText(matrix, isWhole));
  if (matrix.interrupted) return exitCodes.interrupted;
  return isSuccessful(matrix) ? exitCodes.pass : exitCodes.failed;
}

async function runAll(
  defects: readonly Defect[],
  options: SelfTestCommandOptions,
  output: Output,
): Promise<KillMatrix> {
  const { baseline, workers, signal, close } = await begin(defects, options, output);
  const committedResult = await knownResults(defects, options, output);
  try {
    return await runMatrix({
      defects,
      affectedCases: baseline.affectedCases,
      named: baseline.named,
      baselineFailures: baseline.failures,
      workers: workers.map((runDefect): RunDefect => {
        return async (defect, ids) => committedResult(defect, ids) ?? runDefect(defect, ids);
      }),
      signal,
      onRow: selfTestProgress<MatrixRow>({
        output,
        clock: systemClock,
        total: defects.length,
        text: rowText,
        isFailed: (row) => !needsNoFix(row),
      }),
    });
  } finally {
    close();
  }
}

/** Returns the committed results of defects that this self-test does not run again. */
async function knownResults(
  defects: readonly Defect[],
  { updateResult, sample, seed = defaultSeed }: SelfTestCommandOptions,
  output: Output,
): Promise<FindCommittedRow> {
  if (!updateResult && sample === undefined) return () => undefined;
  const findCommittedRow = await loadCommittedRows();
  if (sample === undefined) return findCommittedRow;
  const sampleIds = sampleOf({ id: seed, sample }, new Set(defects.map(({ id }) => id)));
  output.progress(
    `self-test: the defects that changed since the committed result, and ${sampleIds.size} others by --seed ${seed}`,
  );
  return (defect, ids) => (sampleIds.has(defect.id) ? undefined : findCommittedRow(defect, ids));
}

async function fuzzSuite(
  defects: readonly FuzzDefect[],
  options: SelfTestCommandOptions,
  output: Output,
): Promise<ExitCode> {
  const { floor = defaultFloor } = options;
  const result = await runDrawn(defects, options, output);
  output.data(result);
  output.line(fuzzText(result, floor));
  if (result.interrupted) return exitCodes.interrupted;
  return reachesFloor(result, floor) ? exitCodes.pass : exitCodes.failed;
}

async function runDrawn(
  defects: readonly FuzzDefect[],
  options: SelfTestCommandOptions,
  output: Output,
): Promise<FuzzResult> {
  const { fuzz: count = defects.length, seed = defaultSeed } = options;
  const { baseline, workers, signal, close } = await begin(defects, options, output);
  try {
    return await runFuzz({
      defects,
      count,
      seed,
      affectedCases: baseline.affectedCases,
      baselineFailures: baseline.failures,
      workers,
      signal,
      onRow: selfTestProgress<FuzzRow>({
        output,
        clock: systemClock,
        total: defects.length,
        text: fuzzRowText,
        isFailed: isProblem,
      }),
    });
  } finally {
    close();
  }
}
