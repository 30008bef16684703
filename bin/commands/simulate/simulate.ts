/** `fleetbed simulate`: runs a fleet of devices against a server. */
import type { Command } from 'commander';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { countText } from '../../../fixtures/base/count-text.ts';
import { groupRows, type UngroupedRows, type ValuesOf } from '../../../fixtures/base/option-row.ts';
import {
  type FleetPlan,
  type FleetProgress,
  requireDeployable,
} from '../../../simulator/engine/simulate-fleet.ts';
import { planSchema } from '../../../simulator/plan/plan-input.ts';
import { failedRunReport, fleetReport } from '../../../simulator/report/text.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp, fleetCodes } from '../../options/exit-code-help.ts';
import { fleetFormats } from '../../options/fleet-formats.ts';
import { addOptionRows } from '../../options/option-rows.ts';
import { repeatLine } from '../../options/repeat-line.ts';
import { prepareReports, reportOption, writeReports } from '../../options/reports.ts';
import { sharedHelp } from '../../options/shared-options.ts';
import { addSubcommands, type Subcommands } from '../../options/subcommands.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { fleetError, fleetExitCode } from '../../output/fleet-outcome.ts';
import { createOutput, type Output } from '../../output/output.ts';
import { stopSignals } from '../../output/stop-signal.ts';
import { packageVersion } from '../../output/version.ts';
import { prepareReadyFile } from '../../server-access/ready.ts';
import {
  addVirtualOptions,
  type VirtualOptions,
  virtualPlanProblem,
  virtualProblem,
} from '../../virtual/options.ts';
import { AcceptanceHint } from './acceptance-hint.ts';
import { addCleanup } from './cleanup.ts';
import { listenAddress, listenAddressFormat } from './listen-address.ts';
import { type PlanWithSources, planFrom } from './plan.ts';
import { addPlanOptions } from './plan-options.ts';
import { preflight } from './preflight.ts';
import { ReadyWatch } from './ready-watch.ts';
import { printKeyProgress } from './rsa-keys.ts';
import { openRunObservers, STANDARD_OUTPUT } from './run-observers.ts';
import { type SpreadOptions, simulateSpread, spreadProblem, spreadRows } from './spread.ts';

const resultRows = groupRows('Results', {
  report: reportOption(fleetFormats, (list) => `write a report: ${list}; repeatable`),
  json: {
    flag: '--json',
    help: sharedHelp.json,
    cli: { kind: 'switch' },
  },
  events: {
    flag: '--events <file>',
    help: 'write every event as a JSON line; - for stdout',
    cli: { kind: 'text' },
  },
  metrics: {
    flag: '--metrics <address>',
    help: 'serve Prometheus metrics at PORT or ADDRESS:PORT',
    cli: { kind: 'read', read: listenAddress, accepted: listenAddressFormat },
  },
  readyFile: {
    flag: '--ready-file <file>',
    help: 'write this JSON file once every device has made contact',
    cli: { kind: 'text' },
  },
  planSchema: {
    flag: '--plan-schema',
    help: 'print the JSON Schema of a plan file and exit',
    cli: { kind: 'switch' },
  },
} as const satisfies UngroupedRows);

/** The options for the run and its reports; all other options form the plan. */
type SimulateOptions = SpreadOptions & VirtualOptions & ValuesOf<typeof resultRows>;

/** Adds the options and the action of `fleetbed simulate`. */
export function configure(command: Command): void {
  command.addHelpText('after', exitCodeHelp(fleetCodes));
  addCleanup(command.enablePositionalOptions());
  addRunOptions(command).action(async (options: SimulateOptions) => {
    process.exitCode = await runSimulate(command, options);
  });
  addExamples(
    command,
    '# 100 devices that poll for 30 seconds; accept them with: npx fleetbed accept --all',
    'fleetbed simulate --devices 100 --duration 30s',
    '# Deploy an artifact to 1,000 devices; password in FLEETBED_PASSWORD',
    'fleetbed simulate --devices 1000 --accept --deploy release-2 --until settled --report html=run.html',
    '# Run a plan file on every core (all options: simulator/guide.md)',
    'fleetbed simulate --plan night.yaml --processes auto',
    '# Simulate a month of 1,000 devices in minutes, with a built-in server',
    'fleetbed simulate --virtual --duration 30d --devices 1000 --poll 30m --deploy release-2',
  );
  addSubcommands(command, subcommands);
}

/** Adds every option of a run. */
export function addRunOptions(command: Command): Command {
  addPlanOptions(command);
  for (const rows of [resultRows, spreadRows]) addOptionRows(command, rows);
  addVirtualOptions(command);
  return command;
}

const subcommands: Subcommands = {
  behaviours: {
    summary: 'list the behaviours with their parameters',
    load: () => import('./behaviours.ts'),
  },
};

async function runSimulate(command: Command, options: SimulateOptions): Promise<ExitCode> {
  if (options.planSchema) {
    process.stdout.write(`${JSON.stringify(planSchema(), null, 2)}\n`);
    return exitCodes.pass;
  }
  if (options.json && options.events === STANDARD_OUTPUT) {
    command.error("'--events -' and '--json' both write to standard output; use one of them");
  }
  const contradiction = virtualProblem(command);
  if (contradiction !== undefined) command.error(`${contradiction}`);
  if (options.virtual) return actVirtually(command, options);
  if (options.estimate) {
    const { estimate, virtualUser } = await import('./estimate.ts');
    const { plan } = await planFrom(command, { acceptWith: virtualUser });
    return estimate(plan, outputOf(options), options.virtualStart);
  }
  const { shard, deploymentId } = options;
  const requestedPlan = await planFrom(command, { shard, deploymentId });
  const wrong = spreadProblem(options, command.getOptionValueSource('redis') === 'cli');
  if (wrong !== undefined) command.error(`${wrong}`);
  return simulate(requestedPlan, options, command);
}

/** Returns the arguments of the command as they were typed. */
function argsOf(command: Command): readonly string[] {
  return process.argv.slice(process.argv.indexOf(command.name()) + 1);
}

async function actVirtually(command: Command, options: SimulateOptions): Promise<ExitCode> {
  const { simulateVirtually, virtualUser } = await import('./virtual.ts');
  const { plan } = await planFrom(command, { acceptWith: virtualUser });
  const wrong = virtualPlanProblem(plan, options);
  if (wrong !== undefined) command.error(`${wrong}`);
  const args = argsOf(command);
  return simulateVirtually({ plan, options, output: outputOf(options), command, args });
}

async function simulate(
  written: PlanWithSources,
  options: SimulateOptions,
  command: Command,
): Promise<ExitCode> {
  const { plan } = written;
  const output = outputOf(options);
  await prepareReports(options.report);
  await prepareReadyFile(options.readyFile);
  // On several machines, each worker has its own limits.
  if (options.shards === undefined) await preflight(plan, options.processes ?? 1);
  const { signal, forceStop } = stopSignals();
  await requireDeployable(plan, { clock: systemClock, signal }).catch((error: unknown) => {
    throw fleetError(error, plan);
  });
  const title = `${countText(plan.devices, 'device')} against ${plan.baseUrl}, seed "${plan.seed}"`;
  output.progress(title);
  const watch = new ReadyWatch(plan, options.readyFile);
  const audience = await openRunObservers(options, { clock: systemClock, output, title, signal });
  const print = (text: string): void => audience.output.progress(text);
  signal.addEventListener('abort', () => print(stoppingLine(plan)), { once: true });
  forceStop.addEventListener('abort', () => print('stopping now; the summary follows'), {
    once: true,
  });
  const acceptance = new AcceptanceHint(plan, print);
  let last: FleetProgress | undefined;
  const environment = {
    signal,
    forceStop,
    clock: systemClock,
    version: packageVersion(),
    ...audience.callbacks,
    onKeys: printKeyProgress(audience.output),
    print,
    onProgress: (progress: FleetProgress) => {
      last = progress;
      watch.record(progress);
      acceptance.show(progress);
      audience.show(progress);
    },
  };
  const repeatArguments = { ownArguments: ['--seed', plan.seed], replaced: ['--seed'] };
  const repeat = `\n\nrepeat: ${repeatLine(argsOf(command), command, repeatArguments)}`;
  const result = await simulateSpread(written, environment, options).then(
    async (whole) => ({ ...whole, ...(await audience.close()) }),
    async (error: unknown) => {
      await audience.close();
      if (last !== undefined && last.exchanges > 0) output.line(failedRunReport(last) + repeat);
      if (options.report) output.warn('no report was written: it needs the result of all devices');
      throw fleetError(error, plan);
    },
  );
  await watch.readyWritten;
  await writeReports(fleetFormats, options.report, result);
  output.data(result);
  output.line(fleetReport(result) + repeat);
  return fleetExitCode(result);
}

/** Returns the message for the first Ctrl-C. */
function stoppingLine({ drainMs }: FleetPlan): string {
  if (drainMs === 0) return 'stopping; the summary follows';
  return `stopping: open deployments have ${drainMs / 1000} s to finish; press Ctrl-C again to stop now`;
}

/** Returns the output: if events go to standard output, text goes to standard error. */
function outputOf({ json = false, events }: SimulateOptions): Output {
  if (events !== STANDARD_OUTPUT) return createOutput(json);
  return createOutput(json, { stdout: process.stderr, stderr: process.stderr });
}
