/** `fleetbed conform client --command …` or `--wait`: tests a client by scenes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duties } from '../../../../conformance/client-judge/duties/duties.ts';
import {
  type ClientCapability,
  type ClientTestResult,
  capabilityNames,
  clientTestSchema,
  readClientTestResult,
} from '../../../../conformance/client-judge/report/client-test-result.ts';
import { clientTestHtml } from '../../../../conformance/client-judge/report/html.ts';
import { outcomesJunit } from '../../../../conformance/report/outcomes-junit.ts';
import {
  readWaivers,
  type Waiver,
  WaiverFileError,
} from '../../../../conformance/result/waivers.ts';
import { knownNames } from '../../../../fixtures/base/nearest.ts';
import type { UngroupedRows, ValuesOf } from '../../../../fixtures/base/option-row.ts';
import { groupRows, switchOption } from '../../../../fixtures/base/option-row.ts';
import { systemRandom } from '../../../../fixtures/base/random.ts';
import { defaultHeaderPrefix } from '../../../../fixtures/contract/vendor-names.ts';
import { runClientTest } from '../../../client-test/client-test.ts';
import type { ClientTestOptions } from '../../../client-test/client-test-options.ts';
import {
  changeLines,
  clientTestLines,
  clientTestOutcomes,
  clientTestSummary,
  scheduleLines,
} from '../../../client-test/client-test-text.ts';
import { allScenes } from '../../../client-test/scenes.ts';
import { scheduleOf } from '../../../client-test/schedule.ts';
import {
  jsonFile,
  prepareReports,
  type ReportFormat,
  reportOption,
  writeReports,
} from '../../../options/reports.ts';
import { ciFormats } from '../../../output/ci-summary.ts';
import { CommandError, setupError } from '../../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../../output/exit-codes.ts';
import { readNamedFile } from '../../../output/files.ts';
import { createOutput } from '../../../output/output.ts';
import { stopSignal } from '../../../output/stop-signal.ts';
import { withKnownIds } from '../options.ts';

/** The formats that `--report` accepts. */
const formats: readonly ReportFormat<ClientTestResult>[] = [
  { format: 'json', render: jsonFile },
  { format: 'html', render: clientTestHtml },
  {
    format: 'junit',
    render: (testResult) =>
      outcomesJunit(clientTestLines(testResult)[0] ?? '', clientTestOutcomes(testResult)),
  },
  ...ciFormats(clientTestSummary),
];

/** The options of a client test. */
export const clientTestRows = groupRows('Client test', {
  command: {
    flag: '--command <command>',
    help: 'start the client by this shell command; {server}, {ca} and {dir} are replaced',
    cli: { kind: 'text' },
  },
  wait: {
    flag: '--wait',
    help: 'wait for a client that is started by hand',
    ...switchOption,
  },
  advertise: {
    flag: '--advertise <host>',
    help: 'host name or address of this machine for the client',
    cli: { kind: 'text' },
    default: { value: '127.0.0.1' },
  },
  port: {
    flag: '--port <port>',
    help: 'port of the server for the client; 0 for any free port',
    cli: { kind: 'port' },
    default: { value: 0 },
  },
  headerPrefix: {
    flag: '--header-prefix <prefix>',
    help: "vendor prefix of the API's header names",
    cli: { kind: 'header-prefix' },
    default: { value: defaultHeaderPrefix },
  },
  scene: {
    flag: '--scene <name>',
    help: 'run only this scene; repeatable',
    cli: { kind: 'texts' },
  },
  skip: {
    flag: '--skip <name=reason>',
    help: 'do not run this scene; the report shows the reason; repeatable',
    cli: { kind: 'texts' },
  },
  capability: {
    flag: '--capability <name>',
    help: 'assume that the client has this capability, and run its scenes; repeatable',
    cli: { kind: 'names', values: capabilityNames },
  },
  cuts: {
    flag: '--cuts',
    help: 'also kill and start the client at every point of an update',
    ...switchOption,
  },
  powerOff: {
    flag: '--power-off <command>',
    help: 'cut the power of the client by this command instead of killing its process',
    cli: { kind: 'text' },
  },
  powerOn: {
    flag: '--power-on <command>',
    help: 'give the client its power again by this command',
    cli: { kind: 'text' },
  },
  installed: {
    flag: '--installed <command>',
    help: 'command that prints the name of the installed artifact',
    cli: { kind: 'text' },
  },
  payloadType: {
    flag: '--payload-type <type>',
    help: 'type of the payload of the artifacts',
    cli: { kind: 'text' },
    default: { value: 'single-file' },
  },
  time: {
    flag: '--time <duration>',
    help: 'time budget: also run long scenes, as many as fit in it (default: quick scenes only)',
    cli: { kind: 'positive-duration' },
  },
  contactTime: {
    flag: '--contact-time <duration>',
    help: 'time limit for the first request of the client',
    cli: { kind: 'positive-duration' },
    default: { value: 60_000, text: '1m' },
  },
  retryTime: {
    flag: '--retry-time <duration>',
    help: 'time limit of a step, in addition to the poll interval; raise it if the client retries after minutes',
    cli: { kind: 'positive-duration' },
    default: { value: 30_000, text: '30s' },
  },
  parallel: {
    flag: '--parallel <count>',
    help: 'scenes to run in parallel, each with its own client',
    cli: { kind: 'count', min: 1, max: 32 },
    default: { value: 4 },
  },
  seed: {
    flag: '--seed <text>',
    help: 'seed of IDs and artifacts (default: random)',
    cli: { kind: 'text' },
  },
  requireAllMust: {
    flag: '--require-all-must',
    help: 'fail if a MUST was not tested',
    ...switchOption,
  },
  failOn: {
    flag: '--fail-on <level>',
    help: 'lowest level of a broken duty that fails the client test',
    cli: { kind: 'choices', values: ['should', 'must'] },
    default: { value: 'should' },
  },
  waivers: {
    flag: '--waivers <file>',
    help: 'file of duties that are known to be broken, each with an expiry date',
    cli: { kind: 'file' },
  },
  compare: {
    flag: '--compare <file>',
    help: 'JSON report of an earlier client test: show what has changed since',
    cli: { kind: 'file' },
  },
  schema: {
    flag: '--schema',
    help: 'print the JSON Schema of the result',
    ...switchOption,
  },
  list: {
    flag: '--list',
    help: 'list the scenes with their duration, for a client with the poll interval of --interval',
    ...switchOption,
  },
  interval: {
    flag: '--interval <duration>',
    help: 'poll interval of the client, for --list',
    cli: { kind: 'positive-duration' },
    default: { value: 5000, text: '5s' },
  },
  report: reportOption(formats, (list) => `write a report: ${list}; repeatable`),
} as const satisfies UngroupedRows);

export type ClientTestRowValues = ValuesOf<typeof clientTestRows> & { readonly json?: boolean };

/** Tests the client of the options. @throws CommandError */
export async function testClient(options: ClientTestRowValues): Promise<ExitCode> {
  const output = createOutput(options.json ?? false);
  if (options.schema) {
    process.stdout.write(`${JSON.stringify(clientTestSchema(), null, 2)}\n`);
    return exitCodes.pass;
  }
  const waivers = await readDutyWaivers(options.waivers);
  const earlierResult =
    options.compare === undefined ? undefined : await readEarlier(options.compare);
  const folder = mkdtempSync(join(tmpdir(), 'fleetbed-client-'));
  const testOptions = { ...clientTestOptions(options, folder), waivers };
  if (options.list) {
    rmSync(folder, { recursive: true });
    const { interval: intervalMs, parallel } = options;
    // The list is that of a client which --command starts; --wait leaves some scenes out.
    const startOptions = { ...testOptions, command: '' };
    const schedule = scheduleOf(allScenes, {
      options: startOptions,
      intervalMs,
      capabilities: undefined,
    });
    for (const line of scheduleLines(schedule, { parallel, intervalMs })) output.line(line);
    output.data(schedule.map(({ scene: { name }, ...rest }) => ({ scene: name, ...rest })));
    return exitCodes.pass;
  }
  await prepareReports(options.report);
  const signal = stopSignal();
  output.progress(`seed ${testOptions.seed}; the output of the client is in ${folder}`);
  const testResult = await runClientTest(testOptions, signal, {
    onOpen: (url) => {
      if (testOptions.command === undefined) output.progress(`Start the client now, at ${url}`);
    },
    onSceneEnd: ({ scene, outcome, reason }, left) => {
      const reasonText = reason === undefined ? '' : `: ${reason}`;
      output.progress(`${scene} ${outcome}${reasonText} (${left} left)`);
    },
  }).catch((error: unknown) => {
    throw startError(error);
  });
  await writeReports(formats, options.report, testResult);
  output.data(testResult);
  for (const line of clientTestLines(testResult)) output.line(line);
  if (earlierResult) for (const line of changeLines(earlierResult, testResult)) output.line(line);
  return exitCodeOf(testResult, options.requireAllMust);
}

/** @throws CommandError */
async function readDutyWaivers(file: string | undefined): Promise<readonly Waiver[]> {
  if (file === undefined) return [];
  const text = await readNamedFile('--waivers', file);
  const ids = duties.map(({ id }) => id);
  try {
    return withKnownIds(() => readWaivers(text, file, ids, 'duty'));
  } catch (error) {
    throw error instanceof WaiverFileError ? setupError(error, file) : error;
  }
}

/** @throws CommandError */
async function readEarlier(file: string): Promise<ClientTestResult> {
  const text = await readNamedFile('--compare', file);
  try {
    return readClientTestResult(text);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const remedy = 'give a file written by conform client --report json=FILE';
    throw new CommandError(`--compare: ${file} ${problem}; ${remedy}.`, exitCodes.setUp, error);
  }
}

/** Returns the exit code of a client test. */
export function exitCodeOf(
  { outcome, duties }: ClientTestResult,
  requireAllMust: boolean,
): ExitCode {
  const isBroken = duties.some(({ level, state }) => level === 'must' && state === 'broken');
  if (outcome === 'broken' || isBroken) return exitCodes.failed;
  if (outcome === 'interrupted') return exitCodes.interrupted;
  const isUndecided = duties.some(
    ({ level, state }) => level === 'must' && ['open', 'not-tested', 'not-judged'].includes(state),
  );
  if (requireAllMust && isUndecided) return exitCodes.failed;
  return outcome === 'met' ? exitCodes.pass : exitCodes.inconclusive;
}

/** @throws CommandError for options that contradict one another, or name no scene */
function clientTestOptions(
  options: ClientTestRowValues,
  folder: string,
): Omit<ClientTestOptions, 'waivers'> {
  const { command, powerOff, powerOn, scene = [], skip = [], seed } = options;
  if ((powerOff === undefined) !== (powerOn === undefined))
    throw usage('--power-off and --power-on belong together; give both, or neither.');
  const skips = new Map(
    skip.map((text) => {
      const [name = '', ...reason] = text.split('=');
      if (reason.join('=') === '')
        throw usage(`--skip ${text} has no reason; write --skip ${name}=REASON.`);
      return [name, reason.join('=')] as const;
    }),
  );
  for (const name of [...scene, ...skips.keys()]) requireScene(name);
  const { advertise, port, headerPrefix, installed, payloadType, parallel, cuts: isCut } = options;
  return {
    command,
    advertise,
    port,
    headerPrefix,
    powerOff,
    powerOn,
    installed,
    payloadType,
    folder,
    seed: seed ?? systemRandom.bytes(6).toString('hex'),
    parallel,
    isCut,
    skips,
    selection: scene,
    timeMs: options.time,
    contactMs: options.contactTime,
    retryMs: options.retryTime,
    capabilities: (options.capability ?? []) as readonly ClientCapability[],
    failOn: options.failOn,
  };
}

/** @throws CommandError */
function requireScene(name: string): void {
  const names = allScenes.map((each) => each.name);
  if (names.includes(name)) return;
  throw usage(`There is no scene "${name}"; ${knownNames('scene', name, names)}.`);
}

function usage(sentence: string): CommandError {
  return new CommandError(sentence, exitCodes.usage);
}

function startError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code !== 'EADDRINUSE' && code !== 'EACCES') return error;
  return new CommandError(
    `The server cannot listen (${code}); choose another --port, or 0 for any.`,
    exitCodes.setUp,
    error,
  );
}
