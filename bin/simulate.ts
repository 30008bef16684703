/** `fleetbed simulate`: a fleet of devices against a server. */
import { type Command, Option } from 'commander';
import { systemClock } from '../fixtures/clock.ts';
import { defaultHeaderPrefix } from '../fixtures/contract/vendor-names.ts';
import { keyTypes } from '../fixtures/contract/vocabulary.ts';
import { systemRandom } from '../fixtures/random.ts';
import { behaviours } from '../simulator/behaviours/catalogue.ts';
import { defaultDeviceType } from '../simulator/fleet/muster.ts';
import { fleetJunit } from '../simulator/report/junit.ts';
import { fleetReport, progressLine } from '../simulator/report/text.ts';
import { type FleetPlan, type FleetProgress, simulateFleet } from '../simulator/simulator.ts';
import type { ExitCode } from './exit-codes.ts';
import { readNamedFile } from './files.ts';

import { fleetExitCode, fleetFault } from './fleet-outcome.ts';
import * as values from './option-values.ts';
import { createOutput, type Output } from './output.ts';
import { prepareReadyFile, writeReadyFile } from './ready.ts';
import { prepareReports, writeReports } from './reports.ts';
import { openAudience, STANDARD_OUTPUT } from './simulate/audience.ts';
import { type ListenAddress, listenAddress } from './simulate/listen-address.ts';
import { stopSignal } from './stop-signal.ts';
import { packageVersion } from './version.ts';

const DEVICES_MAX = 100_000;
const REQUEST_TIME_LIMIT_MS = 30_000;
const PROGRESS_EVERY_MS = 5000;

interface SimulateOptions {
  readonly baseUrl: string;
  readonly devices: number;
  readonly keys?: values.Weights;
  readonly seed?: string;
  readonly poll: number;
  readonly inventory: number;
  readonly ramp: number;
  readonly duration?: number;
  readonly connect?: boolean;
  readonly behaviour?: values.Weights;
  readonly tenantToken?: string;
  readonly headerPrefix: string;
  readonly acceptWith?: values.Credentials;
  readonly deploy?: string;
  readonly deviceType: string;
  readonly ca?: string;
  readonly readyFile?: string;
  readonly report?: values.ReportFiles;
  readonly events?: string;
  readonly metrics?: ListenAddress;
  readonly json?: boolean;
}

const keyShares = values.weights(keyTypes);
const behaviourShares = values.weights([...behaviours.keys()]);
const behaviourMeaning = `${[...behaviours.keys()].join(', ')}; repeatable (default: steady=1)`;

/** Adds the options of `fleetbed simulate` and what it does. */
export function configure(command: Command): void {
  command
    .addOption(
      new Option('--base-url <url>', 'where the server is')
        .argParser(values.baseUrl)
        .default('http://127.0.0.1:8080'),
    )
    .option('--devices <count>', 'how many', values.count(1, DEVICES_MAX), 10)
    .option('--keys <shares>', 'key types (default: rsa=1,ecdsa=1,ed25519=1)', keyShares)
    .option('--seed <text>', 'same seed, same fleet (default: a new one, printed)', values.filled)
    .addOption(duration('--poll', 'between two questions for an update', '5s'))
    .addOption(duration('--inventory', 'between two inventories', '1m'))
    .addOption(
      new Option('--ramp <duration>', 'time over which the first contacts are spread')
        .argParser(values.durationMs)
        .default(1000, '1s'),
    )
    .option('--duration <duration>', 'end after this (default: Ctrl-C)', values.positiveDurationMs)
    .option('--connect', 'hold a websocket for every device')
    .option('--behaviour <name=weight>', behaviourMeaning, behaviourShares)
    .option('--tenant-token <token>', 'sent with every authentication request', values.filled)
    .addOption(
      new Option('--header-prefix <prefix>', "the vendor's part of header names")
        .argParser(values.headerPrefix)
        .default(defaultHeaderPrefix),
    )
    .option('--accept-with <email:password>', 'accept the own devices', values.credentials)
    .option('--deploy <artifact>', 'deploy this artifact to the own devices', values.filled)
    .addOption(
      new Option('--device-type <type>', 'of every device; what an artifact must be made for')
        .argParser(values.filled)
        .default(defaultDeviceType),
    )
    .option('--ca <file>', "PEM file with the server's certificate or its authority's")
    .option('--ready-file <file>', 'write this JSON file when all devices have made contact')
    .option('--report <form=file>', 'json=FILE, junit=FILE; repeatable', values.report)
    .option('--events <file>', 'write every event as NDJSON; - is standard output', values.filled)
    .option('--metrics <address>', 'Prometheus, at PORT or ADDRESS:PORT', listenAddress)
    .option('--json', 'standard output carries the result as JSON')
    .action(async (options: SimulateOptions) => {
      if (options.deploy !== undefined && options.acceptWith === undefined) {
        command.error("error: option '--deploy <artifact>' needs --accept-with EMAIL:PASSWORD");
      }
      if (options.json && options.events === STANDARD_OUTPUT) {
        command.error("error: '--events -' and '--json' both want standard output");
      }
      process.exitCode = await simulate(options);
    });
}

function duration(flag: string, meaning: string, shown: string): Option {
  return new Option(`${flag} <duration>`, `time ${meaning}`)
    .argParser(values.positiveDurationMs)
    .default(values.positiveDurationMs(shown), shown);
}

async function simulate(options: SimulateOptions): Promise<ExitCode> {
  const output = outputOf(options);
  await prepareReports(options.report);
  await prepareReadyFile(options.readyFile);
  const plan = await planOf(options);
  const signal = stopSignal();
  output.progress(`${plan.devices} devices against ${plan.baseUrl}, seed "${plan.seed}"`);
  const watch = new FleetWatch(plan, options.readyFile, output);
  const audience = await openAudience(options, { clock: systemClock, output });
  const result = await simulateFleet(plan, {
    signal,
    clock: systemClock,
    ...audience.hooks,
    onProgress: (progress) => {
      watch.see(progress);
      audience.see(progress);
    },
  })
    .catch((error: unknown) => {
      throw fleetFault(error, plan);
    })
    .finally(() => audience.close());
  await watch.readyWritten;
  await writeReports(options.report, { json: result, junit: () => fleetJunit(result) });
  output.data(result);
  output.line(fleetReport(result));
  return fleetExitCode(result, plan);
}

/** Where the events have standard output to themselves, everything for human eyes goes beside it. */
function outputOf({ json = false, events }: SimulateOptions): Output {
  if (events !== STANDARD_OUTPUT) return createOutput(json);
  return createOutput(json, { stdout: process.stderr, stderr: process.stderr });
}

async function planOf(options: SimulateOptions): Promise<FleetPlan> {
  const { keys = { rsa: 1, ecdsa: 1, ed25519: 1 }, behaviour = { steady: 1 }, ca } = options;
  const caPem = ca === undefined ? undefined : await readNamedFile('--ca', ca);
  const { duration: durationMs, tenantToken, acceptWith, deploy } = options;
  return {
    baseUrl: options.baseUrl,
    devices: options.devices,
    keys: { rsa: keys.rsa ?? 0, ecdsa: keys.ecdsa ?? 0, ed25519: keys.ed25519 ?? 0 },
    seed: options.seed ?? systemRandom.uuid().slice(0, 8),
    pollIntervalMs: options.poll,
    inventoryIntervalMs: options.inventory,
    rampMs: options.ramp,
    connect: options.connect ?? false,
    behaviours: Object.entries(behaviour).map(([name, weight]) => ({ name, weight })),
    headerPrefix: options.headerPrefix,
    deviceType: options.deviceType,
    requestTimeLimitMs: REQUEST_TIME_LIMIT_MS,
    ...(durationMs !== undefined && { durationMs }),
    ...(tenantToken !== undefined && { tenantToken }),
    ...(acceptWith !== undefined && { acceptWith }),
    ...(deploy !== undefined && { deploy }),
    ...(caPem !== undefined && { tls: { caPem } }),
  };
}

/** Shows where the run stands every few seconds, and writes the ready file at the right moment. */
class FleetWatch {
  readonly #plan: FleetPlan;
  readonly #readyFile: string | undefined;
  readonly #output: Output;
  #nextShownMs = PROGRESS_EVERY_MS;
  /** Settled once the ready file is written; rejects when it cannot be. */
  readyWritten: Promise<void> | undefined;

  constructor(plan: FleetPlan, readyFile: string | undefined, output: Output) {
    this.#plan = plan;
    this.#readyFile = readyFile;
    this.#output = output;
  }

  see(progress: FleetProgress): void {
    if (progress.elapsedMs >= this.#nextShownMs) {
      this.#output.progress(progressLine(progress));
      this.#nextShownMs = progress.elapsedMs + PROGRESS_EVERY_MS;
    }
    if (progress.funnel.silent > 0 || this.readyWritten) return;
    const { baseUrl, devices, seed } = this.#plan;
    const ready = { event: 'ready', baseUrl, devices, seed, version: packageVersion() };
    this.readyWritten = writeReadyFile(this.#readyFile, ready);
    // Reported when the run is over; until then nobody awaits it.
    this.readyWritten.catch(() => undefined);
  }
}
