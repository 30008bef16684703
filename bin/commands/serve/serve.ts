/** `fleetbed serve`: runs the reference server until Ctrl-C. */
import type { Command } from 'commander';
import { clockStartingAt } from '../../../fixtures/base/clock.ts';
import type { OptionRows, ValuesOf } from '../../../fixtures/base/option-row.ts';
import { type DialectName, dialects } from '../../../fixtures/contract/dialects.ts';
import type { RunningServer } from '../../../server/server.ts';
import { SettingError, settingRows } from '../../../server/settings.ts';
import { StateError } from '../../../server/store/engine/state-error.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import { addOptionRows, settingsOfOptions } from '../../options/option-rows.ts';
import { CommandError, describeError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { createOutput, type Output } from '../../output/output.ts';
import { stopSignal, untilAborted } from '../../output/stop-signal.ts';
import {
  consoleUrl,
  prepareReadyFile,
  type ServerReady,
  serverReady,
  writeReadyFile,
} from '../../server-access/ready.ts';
import { writeRunFile } from '../../server-access/run-file.ts';
import {
  prepareCaFolder,
  publishTls,
  type TlsReady,
  tlsOptionRows,
  tlsPlan,
} from '../../server-access/tls.ts';
import { delayWasmOptimization } from '../../server-access/wasm-optimization.ts';
import { runStarter } from './console-runs.ts';

/** The options for the start state of a server, in addition to its settings. */
export const startRows = {
  world: {
    flag: '--world <file>',
    group: 'State and time',
    help: 'world file with the start state; SIGHUP reloads it',
    cli: { kind: 'text' },
  },
  date: {
    flag: '--date <date>',
    group: 'State and time',
    help: 'start the clock at this date or time; it runs on from there',
    cli: { kind: 'moment' },
  },
  faults: {
    flag: '--faults <file>',
    group: 'Dialects, variation and faults',
    help: 'fault plan (YAML or JSON); exit code 1 when a planned fault never fired',
    cli: { kind: 'text' },
  },
} as const satisfies OptionRows;

const commandRows = {
  ...startRows,
  judge: {
    flag: '--judge',
    group: 'Journal and log',
    help: 'judge the devices by the duties of clients',
    cli: { kind: 'switch', off: 'do not judge the devices' },
    default: { value: true, isOmittedFromHelp: true },
  },
  readyFile: {
    flag: '--ready-file <file>',
    group: 'Output',
    help: 'write this JSON file when ready',
    cli: { kind: 'text' },
  },
  json: {
    flag: '--json',
    group: 'Output',
    help: 'print the addresses as a line of JSON when ready',
    cli: { kind: 'switch' },
  },
} as const satisfies OptionRows;

/** The options of a server that a command starts, as commander parses them. */
export interface ServeOptions extends ValuesOf<typeof commandRows> {
  /** The dialects; true when the option has no value. */
  readonly dialect?: readonly DialectName[] | true;
  /** The seed of variations; true when the option has no value. */
  readonly variationSeed?: string | true;
}

const help = exitCodeHelp({
  pass: 'ended by Ctrl-C',
  failed: 'a planned fault never fired',
  setUp: 'a port, file or folder cannot be used',
});

/** Adds the options and the action of `fleetbed serve`. */
export function configure(command: Command): void {
  for (const rows of [settingRows, commandRows, tlsOptionRows]) addOptionRows(command, rows);
  command.addHelpText('after', help).action(async (options: ServeOptions) => {
    process.exitCode = await serve(options);
  });
  addExamples(
    command,
    'fleetbed serve',
    'fleetbed serve --port 0 --control-port 0 --auto-accept --ready-file ready.json',
    'fleetbed serve --world world.yaml --date 2027-08-25 --dialect open-source',
    'fleetbed serve --tls --tls-ca-out certificates --data state',
  );
}

async function serve(options: ServeOptions): Promise<ExitCode> {
  const { json = false } = options;
  const output = createOutput(json);
  if (options.dialect === true) {
    printDialects(output, json);
    return exitCodes.pass;
  }
  if (options.variationSeed === true) {
    await printVariations(output, json);
    return exitCodes.pass;
  }
  const stop = stopSignal();
  return runWithServer(options, output, async ({ server, ready, tls }) => {
    if (json) output.data(ready);
    else output.line([readyLine(server), ...tlsLines(tls)].join('\n'));
    await untilAborted(stop);
    return exitCodes.pass;
  });
}

/** A server that accepts requests. */
interface Serving {
  readonly server: RunningServer;
  readonly ready: ServerReady;
  readonly tls: TlsReady | undefined;
}

/**
 * Starts a server with its start state, calls `work` while it runs, and stops it.
 * @returns the exit code of the work; instead of 0, that of planned faults which never fired
 * @throws CommandError when the server cannot start
 */
export async function runWithServer<Code extends number>(
  options: ServeOptions,
  output: Output,
  work: (serving: Serving) => Promise<Code>,
): Promise<Code | ExitCode> {
  const { readyFile, world, faults, date, judge = true } = options;
  const { tls: tlsSettings, caFolder } = tlsPlan(options);
  await prepareReadyFile(readyFile);
  await prepareCaFolder(caFolder);
  const rules = await readFaultPlan(faults);
  delayWasmOptimization();
  // The server is imported here so that `--help` does not load it.
  const { startServer } = await import('../../../server/server.ts');
  let readyServer: ServerReady | undefined;
  const server = await startServer({
    ...settingsOfOptions(settingRows, options),
    startRun: runStarter(() => readyServer),
    ...(judge && { judge: loadClientReader }),
    ...(tlsSettings && { tls: tlsSettings }),
    ...(date !== undefined && { clock: clockStartingAt(date) }),
  }).catch((error: unknown) => {
    if (error instanceof StateError) throw new CommandError(error.message, exitCodes.setUp, error);
    if (!(error instanceof SettingError)) throw error;
    throw new CommandError(error.message, exitCodes.usage, error);
  });
  server.faults.add(rules);
  let removeRunFile: (() => void) | undefined;
  let code: Code;
  try {
    const tls = await publishTls(server, caFolder);
    const ready = serverReady(server, tls);
    readyServer = ready;
    if (world !== undefined) await loadStartState(server, world, output);
    await writeReadyFile(readyFile, ready);
    removeRunFile = await writeRunFile(ready, output);
    code = await work({ server, ready, tls });
  } finally {
    removeRunFile?.();
    await server.close();
  }
  return faults === undefined || code !== exitCodes.pass ? code : faultsExitCode(server, output);
}

/** Loads the client judge, which the first request of a device needs. */
async function loadClientReader() {
  const { clientReader } = await import('../../client-test/client-reader.ts');
  return clientReader;
}

// The readers of fault plans and world files load slowly, so they are imported only if a file is
// given.

/** Reads the fault plan. @throws CommandError with file, line and column of each error */
async function readFaultPlan(file: string | undefined) {
  if (file === undefined) return [];
  const { readPlanFile } = await import('../../server-access/fault-plan-file.ts');
  return readPlanFile('--faults', file);
}

/** Returns the exit code of the server, and prints the planned faults that never fired. */
async function faultsExitCode({ faults }: RunningServer, output: Output): Promise<ExitCode> {
  const { unfiredLines } = await import('../../server-access/fault-plan-file.ts');
  const lines = unfiredLines(faults.unfired());
  for (const line of lines) output.warn(line);
  return lines.length === 0 ? exitCodes.pass : exitCodes.failed;
}

/** Loads the start state now and again on SIGHUP; an invalid file leaves the state unchanged. */
async function loadStartState(server: RunningServer, file: string, output: Output): Promise<void> {
  const { loadWorldFile, worldLines } = await import('../../server-access/world-file.ts');
  const load = async () => {
    for (const line of worldLines(await loadWorldFile('--world', file, server)))
      output.progress(line);
  };
  await load();
  process.on('SIGHUP', () => {
    load().catch((error: unknown) => output.warn(describeError(error).sentence));
  });
}

/** Prints every dialect and what it changes; no server starts. */
function printDialects(output: Output, json: boolean): void {
  if (json) {
    output.data(dialects);
    return;
  }
  for (const [name, { differs, contract, metIn }] of Object.entries(dialects)) {
    output.line(`${name}\n  ${differs}\n  contract: ${contract}\n  met in: ${metIn}`);
  }
}

/** Prints every variation and the rule that allows it; no server starts. */
async function printVariations(output: Output, json: boolean): Promise<void> {
  const { variationRows } = await import('../../../server/variation/variations.ts');
  const rows = variationRows.map(({ id, varies, rule }) => ({ id, varies, rule }));
  if (json) {
    output.data(rows);
    return;
  }
  for (const { id, varies, rule } of rows) output.line(`${id}\n  ${varies}\n  rule: ${rule}`);
}

function readyLine(server: RunningServer): string {
  const { baseUrl, adminEmail, adminPassword } = server;
  const password = adminPassword === '' ? 'the password set earlier' : `password ${adminPassword}`;
  return `ready at ${baseUrl}, ${adminEmail} with ${password}, console ${consoleUrl(server)}`;
}

/**
 * Returns lines with the file of the test CA and with the TLS defect behind each URL of the
 * ports with broken TLS.
 */
function tlsLines({ caFile, brokenTls }: TlsReady = { brokenTls: {} }): string[] {
  const wrong = Object.entries(brokenTls).map(([name, url]) => `broken TLS at ${url}: ${name}`);
  return caFile === undefined ? wrong : [`test CA in ${caFile}`, ...wrong];
}
