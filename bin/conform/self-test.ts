/** `fleetbed conform self-test`: puts each defect in front of a good server and reports what catches it. */

import { type Command, Option } from 'commander';
import { listCases } from '../../conformance/conformance.ts';
import type { Defect } from '../../conformance/self-test/defect.ts';
import { allDefects } from '../../conformance/self-test/defects/index.ts';
import {
  holds,
  type KillMatrix,
  type PlayDefect,
  playMatrix,
} from '../../conformance/self-test/matrix.ts';
import {
  forkedPlayers,
  obey,
  ownPlayer,
  type Players,
} from '../../conformance/self-test/players.ts';
import { recordedResults, recordPath, recordText } from '../../conformance/self-test/recorded.ts';
import { matrixHtml } from '../../conformance/self-test/report/html.ts';
import { matrixText, rowText } from '../../conformance/self-test/report/text.ts';
import { playBaseline } from '../../conformance/self-test/self-test.ts';
import { defaultHeaderPrefix } from '../../fixtures/contract/vendor-names.ts';
import { addExamples } from '../examples.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { CommandFault } from '../fault.ts';
import { FOR_ALL, requireWritable, writeWhole } from '../files.ts';
import * as values from '../option-values.ts';
import { createOutput, type Output } from '../output.ts';
import { SecretOption, secretVariables } from '../secret-option.ts';
import { type GivenTarget, selfTestOn } from '../self-test/good-targets.ts';
import { stopSignal } from '../stop-signal.ts';
import { addUrlOption } from '../url-option.ts';

const PROCESSES_MAX = 16;

interface SelfTestCommandOptions {
  readonly url?: string;
  readonly token?: string;
  readonly headerPrefix: string;
  readonly cases?: readonly string[];
  readonly processes: number;
  readonly html?: string;
  readonly list?: boolean;
  readonly record?: boolean;
  readonly json?: boolean;
  readonly worker?: boolean;
}

/** Adds the options of the subcommand and what it does. */
export function configure(command: Command): void {
  addExamples(
    command,
    '# The defects of links, against reference servers',
    'fleetbed conform self-test link-',
    '# All defects, in front of another good server',
    'fleetbed conform self-test --url https://staging.example.com --html matrix.html',
  );
  command
    .argument('[defect...]', 'run only defects whose ID starts with this')
    .optionsGroup('Target:');
  addUrlOption(command, {
    description: 'a good server (default: a new reference server for each defect)',
    isInEnvironment: false,
  })
    .addOption(
      new SecretOption('--token <jwt>', 'token of a user of the server at --url', {
        variable: secretVariables.userToken,
      }),
    )
    .addOption(
      new Option('--header-prefix <prefix>', "vendor prefix of the API's header names")
        .argParser(values.headerPrefix)
        .default(defaultHeaderPrefix),
    )
    .optionsGroup('Which cases:')
    .option('--cases <id-prefix...>', 'run only cases whose ID starts with this')
    .option('--list', 'list the defects without running them')
    .addOption(
      new Option('--processes <count>', 'processes that run defects in parallel')
        .argParser(values.count(1, PROCESSES_MAX))
        .default(1),
    )
    .optionsGroup('Reports:')
    .option('--html <file>', 'write the matrix as a page', values.filled)
    .option('--record', 'run what changed since the committed result, and update it')
    .option('--json', 'write the result to stdout as JSON')
    .addOption(new Option('--worker').hideHelp())
    .action(async (beginnings: readonly string[], options: SelfTestCommandOptions) => {
      process.exitCode = await act(beginnings, options);
    });
}

async function act(
  beginnings: readonly string[],
  options: SelfTestCommandOptions,
): Promise<ExitCode> {
  if (options.worker) {
    await obey(allDefects, (signal) => selfTestOn(targetOf(options), { signal }));
    return exitCodes.pass;
  }
  const output = createOutput(options.json ?? false);
  const defects = chosenDefects(beginnings);
  return options.list ? list(defects, output) : selfTest(defects, options, output);
}

/** Those whose ids begin so; all without a beginning. @throws CommandFault when none begins so */
function chosenDefects(beginnings: readonly string[]): readonly Defect[] {
  for (const beginning of beginnings) {
    if (allDefects.some(({ id }) => id.startsWith(beginning))) continue;
    const sentence = `no defect has an ID that starts with "${beginning}"; --list shows them all.`;
    throw new CommandFault(sentence, exitCodes.usage);
  }
  if (beginnings.length === 0) return allDefects;
  return allDefects.filter(({ id }) => beginnings.some((beginning) => id.startsWith(beginning)));
}

function list(defects: readonly Defect[], output: Output): ExitCode {
  output.data(defects.map(({ mutation: _, ...facts }) => facts));
  for (const { id, title } of defects) output.line(`${id}  ${title}`);
  return exitCodes.pass;
}

async function selfTest(
  defects: readonly Defect[],
  options: SelfTestCommandOptions,
  output: Output,
): Promise<ExitCode> {
  if (options.html !== undefined) await requireWritable('--html', options.html);
  const matrix = await playAll(defects, options, output);
  const isWhole = defects.length === allDefects.length;
  if (options.html !== undefined) await writeWhole(options.html, matrixHtml(matrix, isWhole));
  if (options.record && !matrix.interrupted) {
    await writeWhole(recordPath(), await recordText(matrix), FOR_ALL);
  }
  output.data(matrix);
  output.line(matrixText(matrix, isWhole));
  if (matrix.interrupted) return exitCodes.interrupted;
  return holds(matrix) ? exitCodes.pass : exitCodes.failed;
}

async function playAll(
  defects: readonly Defect[],
  options: SelfTestCommandOptions,
  output: Output,
): Promise<KillMatrix> {
  const signal = stopSignal();
  const selfTestOptions = selfTestOn(targetOf(options), { signal });
  output.progress('self-test: running every case without a defect');
  const baseline = await playBaseline(defects, selfTestOptions, caseIds(options.cases));
  const { processes } = options;
  const players: Players =
    processes === 1
      ? ownPlayer(selfTestOptions)
      : forkedPlayers(processes, workerWords(options), workerSecrets(options));
  const recorded = options.record ? await recordedResults() : () => undefined;
  let played = 0;
  try {
    return await playMatrix({
      defects,
      affectedCases: baseline.affectedCases,
      baselineFaults: baseline.faults,
      players: players.players.map((play): PlayDefect => {
        return async (defect, ids) => recorded(defect, ids) ?? play(defect, ids);
      }),
      signal,
      onRow: (row) => output.progress(`${++played} of ${defects.length} ${rowText(row)}`),
    });
  } finally {
    players.close();
  }
}

function caseIds(beginnings: readonly string[] | undefined): ReadonlySet<string> | undefined {
  if (beginnings === undefined) return undefined;
  const ids = listCases().map(({ id }) => id);
  return new Set(ids.filter((id) => beginnings.some((beginning) => id.startsWith(beginning))));
}

function targetOf({ url, token = '', headerPrefix }: SelfTestCommandOptions): GivenTarget | 'own' {
  return url === undefined ? 'own' : { baseUrl: url, headerPrefix, userToken: token };
}

function workerWords({ url, headerPrefix }: SelfTestCommandOptions): readonly string[] {
  return [
    ...['conform', 'self-test', '--worker', '--header-prefix', headerPrefix],
    ...(url === undefined ? [] : ['--url', url]),
  ];
}

/** The command line of a process can be read by everyone. */
function workerSecrets({ token }: SelfTestCommandOptions): Readonly<Record<string, string>> {
  return token === undefined ? {} : { [secretVariables.userToken]: token };
}
