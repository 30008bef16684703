/** `fleetbed simulate`: a fleet of devices against a server. Its options are in `simulate/`. */
import type { Command } from 'commander';
import { systemClock } from '../fixtures/clock.ts';
import { planSchema } from '../simulator/fleet/plan-words.ts';
import { fleetHtml } from '../simulator/report/html.ts';
import { fleetJunit } from '../simulator/report/junit.ts';
import { fleetReport } from '../simulator/report/text.ts';
import type { FleetPlan, FleetProgress } from '../simulator/simulator.ts';
import { type ExitCode, exitCodes, worstExitCode } from './exit-codes.ts';
import { figuresExitCode, fleetExitCode, fleetFault } from './fleet-outcome.ts';
import * as values from './option-values.ts';
import { createOutput, type Output } from './output.ts';
import { prepareReadyFile } from './ready.ts';
import { prepareReports, writeReports } from './reports.ts';
import { openAudience, STANDARD_OUTPUT } from './simulate/audience.ts';
import { addCleanup } from './simulate/cleanup.ts';
import { keyTeller } from './simulate/identity-options.ts';
import { type ListenAddress, listenAddress } from './simulate/listen-address.ts';
import { planFrom } from './simulate/plan.ts';
import { addPlanOptions } from './simulate/plan-options.ts';
import { preflight } from './simulate/preflight.ts';
import { ReadyWatch } from './simulate/ready-watch.ts';
import {
  addSpreadOptions,
  type SpreadOptions,
  simulateSpread,
  spreadFault,
  spreadPlan,
} from './simulate/spread.ts';
import { stopSignal } from './stop-signal.ts';
import { packageVersion } from './version.ts';

/** The options that are about the run and its reports; the others make up the plan. */
interface RunOptions extends SpreadOptions {
  readonly planSchema?: boolean;
  readonly readyFile?: string;
  readonly report?: values.ReportFiles;
  readonly events?: string;
  readonly metrics?: ListenAddress;
  readonly json?: boolean;
}

/** Adds the options of `fleetbed simulate` and what it does. */
export function configure(command: Command): void {
  addCleanup(command.enablePositionalOptions());
  addPlanOptions(command)
    .option('--plan-schema', 'print the JSON Schema of a plan file, and run nothing')
    .option('--ready-file <file>', 'write this JSON file when all devices have made contact')
    .option(
      '--report <form=file>',
      'json=FILE, junit=FILE, html=FILE; repeatable',
      values.reportOrPage,
    )
    .option('--events <file>', 'write every event as NDJSON; - is standard output', values.filled)
    .option('--metrics <address>', 'Prometheus, at PORT or ADDRESS:PORT', listenAddress)
    .option('--json', 'standard output carries the result as JSON')
    .action(async (options: RunOptions) => {
      process.exitCode = await act(command, options);
    });
  addSpreadOptions(command);
  addSubcommands(command);
}

interface SubcommandRow {
  readonly summary: string;
  readonly load: () => Promise<{ readonly configure: (command: Command) => void }>;
}

const subcommands: Readonly<Record<string, SubcommandRow>> = {
  behaviours: {
    summary: 'show every behaviour: whom it stands for, and what a good server does',
    load: () => import('./simulate/behaviours.ts'),
  },
};

/** Each is loaded when it is asked for. */
function addSubcommands(command: Command): void {
  command.helpCommand(false);
  for (const [name, { summary }] of Object.entries(subcommands)) {
    command.command(name).description(summary).allowExcessArguments(false);
  }
  command.hook('preSubcommand', async (_, subcommand) => {
    const loaded = await subcommands[subcommand.name()]?.load();
    loaded?.configure(subcommand);
  });
}

async function act(command: Command, options: RunOptions): Promise<ExitCode> {
  if (options.planSchema) {
    process.stdout.write(`${JSON.stringify(planSchema(), null, 2)}\n`);
    return exitCodes.pass;
  }
  if (options.json && options.events === STANDARD_OUTPUT) {
    command.error("error: '--events -' and '--json' both want standard output");
  }
  const plan = spreadPlan(await planFrom(command), options);
  const wrong = spreadFault(options, command.getOptionValueSource('redis') === 'cli');
  if (wrong !== undefined) command.error(`error: ${wrong}`);
  return simulate(plan, options);
}

async function simulate(plan: FleetPlan, options: RunOptions): Promise<ExitCode> {
  const output = outputOf(options);
  await prepareReports(options.report);
  await prepareReadyFile(options.readyFile);
  // Beyond one machine, each worker has limits of its own.
  if (options.shards === undefined) await preflight(plan, options.processes ?? 1);
  const signal = stopSignal();
  const title = `${plan.devices} devices against ${plan.baseUrl}, seed "${plan.seed}"`;
  output.progress(title);
  const watch = new ReadyWatch(plan, options.readyFile);
  const audience = await openAudience(options, { clock: systemClock, output, title, signal });
  signal.addEventListener('abort', () => audience.output.progress(endingLine(plan)), {
    once: true,
  });
  const hooks = {
    signal,
    clock: systemClock,
    version: packageVersion(),
    ...audience.hooks,
    onKeys: keyTeller(audience.output),
    say: (text: string) => audience.output.progress(text),
    onProgress: (progress: FleetProgress) => {
      watch.see(progress);
      audience.see(progress);
    },
  };
  const result = await simulateSpread(plan, hooks, options).then(
    async (whole) => ({ ...whole, ...(await audience.close()) }),
    async (error: unknown) => {
      await audience.close();
      throw fleetFault(error, plan);
    },
  );
  await watch.readyWritten;
  await writeReports(options.report, {
    json: result,
    junit: () => fleetJunit(result),
    html: () => fleetHtml(result),
  });
  output.data(result);
  output.line(fleetReport(result));
  return worstExitCode([fleetExitCode(result, plan), figuresExitCode(result)]);
}

/** What the first Ctrl-C has come to. */
function endingLine({ drainMs = 0 }: FleetPlan): string {
  const open = drainMs > 0 ? `open deployments have ${drainMs / 1000} s left` : 'nothing is begun';
  return `ending: ${open}; Ctrl-C stops at once`;
}

/** Where the events have standard output to themselves, everything for human eyes goes beside it. */
function outputOf({ json = false, events }: RunOptions): Output {
  if (events !== STANDARD_OUTPUT) return createOutput(json);
  return createOutput(json, { stdout: process.stderr, stderr: process.stderr });
}
