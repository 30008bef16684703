/**
 * `fleetbed demo`: runs server, fleet and conformance suite together, each through its public
 * interface. The server starts before the code of fleet and suite is loaded.
 */
import type { Command } from 'commander';
import { groupRows, type UngroupedRows, type ValuesOf } from '../../../fixtures/base/option-row.ts';
import type { RunStarter } from '../../../server/control/sources/runs.ts';
import { type RunningServer, startServer } from '../../../server/server.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp, fleetCodes } from '../../options/exit-code-help.ts';
import { addOptionRows } from '../../options/option-rows.ts';
import { prepareReports, reportOption } from '../../options/reports.ts';
import { sharedHelp } from '../../options/shared-options.ts';
import type { ExitCode } from '../../output/exit-codes.ts';
import { createOutput, type Output } from '../../output/output.ts';
import { stopSignal } from '../../output/stop-signal.ts';
import { type ServerReady, serverReady } from '../../server-access/ready.ts';
import { writeRunFile } from '../../server-access/run-file.ts';
import { delayWasmOptimization } from '../../server-access/wasm-optimization.ts';
import { runStarter } from '../serve/console-runs.ts';
import type { DemoFormat } from './demo-runs.ts';

const formats: readonly { readonly format: DemoFormat }[] = [
  { format: 'json' },
  { format: 'junit' },
];

const rows = groupRows('Options', {
  exit: {
    flag: '--exit',
    help: 'exit after the run instead of staying up',
    cli: { kind: 'switch' },
  },
  report: reportOption(formats, (list) => `write a report: ${list} (verdicts); repeatable`),
  json: {
    flag: '--json',
    help: sharedHelp.json,
    cli: { kind: 'switch' },
  },
} as const satisfies UngroupedRows);

type DemoOptions = ValuesOf<typeof rows>;

interface DemoPorts {
  readonly port: number;
  readonly controlPort: number;
}

const wantedPorts: DemoPorts = { port: 8080, controlPort: 8081 };

const codes = exitCodeHelp({
  pass: 'fleet and suite passed',
  failed: 'a case or the fleet failed',
  setUp: 'the server cannot start, or a report cannot be written',
  inconclusive: 'ended before fleet and suite had a result',
  generatorLimited: fleetCodes.generatorLimited,
  interrupted: 'Ctrl-C during the run of fleet and suite',
});

/** Adds the options and the action of `fleetbed demo`. */
export function configure(command: Command): void {
  command.addHelpText('after', codes);
  addOptionRows(command, rows).action(async (options: DemoOptions) => {
    process.exitCode = await demo(options);
  });
  addExamples(command, 'fleetbed demo', 'fleetbed demo --exit --report junit=demo.xml');
}

async function demo(options: DemoOptions): Promise<ExitCode> {
  const output = createOutput(options.json ?? false);
  await prepareReports(options.report);
  const signal = stopSignal();
  let whenDone: ServerReady | undefined;
  // Runs that a user starts from the console wait until the demo's own runs have finished.
  const startRun = runStarter(() => whenDone);
  delayWasmOptimization();
  const server = await startOnFreePorts(wantedPorts, output, startRun);
  let removeRunFile: (() => void) | undefined;
  try {
    removeRunFile = await writeRunFile(serverReady(server), output);
    output.progress(`server: ready at ${server.baseUrl}`);
    const { runOnServer } = await import('./demo-runs.ts');
    return await runOnServer(server, {
      exit: options.exit ?? false,
      report: options.report,
      signal,
      output,
      onStay: () => {
        whenDone = serverReady(server);
      },
    });
  } finally {
    removeRunFile?.();
    await server.close();
  }
}

async function startOnFreePorts(
  ports: DemoPorts,
  output: Output,
  startRun: RunStarter,
): Promise<RunningServer> {
  try {
    // Its warnings would be about the event loop, which fleet and suite share with the server.
    const server = await startServer({ ...ports, logLevel: 'error', startRun });
    printReplacedPorts(server, ports, output);
    return server;
  } catch (error) {
    const otherPorts = withoutBusyPort(ports, error);
    if (!otherPorts) throw error;
    return startOnFreePorts(otherPorts, output, startRun);
  }
}

/** Prints the ports that replace busy ones. */
function printReplacedPorts(
  { baseUrl, controlUrl }: RunningServer,
  ports: DemoPorts,
  output: Output,
): void {
  const usedPorts = { port: new URL(baseUrl).port, controlPort: new URL(controlUrl).port };
  for (const name of ['port', 'controlPort'] as const) {
    if (ports[name] !== 0) continue;
    output.progress(`port ${wantedPorts[name]} is in use; using ${usedPorts[name]}`);
  }
}

/**
 * Returns the ports with 0 (any free port) in place of the busy port; undefined for any other
 * error.
 */
function withoutBusyPort(ports: DemoPorts, error: unknown): DemoPorts | undefined {
  if (!(error instanceof Error && 'port' in error && 'code' in error)) return undefined;
  if (error.code !== 'EADDRINUSE') return undefined;
  if (error.port === ports.port) return { ...ports, port: 0 };
  return error.port === ports.controlPort ? { ...ports, controlPort: 0 } : undefined;
}
