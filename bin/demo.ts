/** `fleetbed demo`: server, fleet and suite together, each used as its users would. */
import type { Command } from 'commander';
import type { ConformanceResult } from '../conformance/conformance.ts';
import { conformanceJunit } from '../conformance/report/junit.ts';
import { systemClock } from '../fixtures/clock.ts';
import { managementOperations } from '../fixtures/contract/management/index.ts';
import { pathOf } from '../fixtures/contract/operation.ts';
import { artifactMediaType } from '../fixtures/contract/operations.ts';
import { writeArtifact } from '../fixtures/formats/mender-artifact-writer.ts';
import { seededRandom } from '../fixtures/random.ts';
import { type RunningServer, startServer } from '../server/server.ts';
import { progressLine } from '../simulator/report/text.ts';
import { type FleetPlan, type FleetResult, simulateFleet } from '../simulator/simulator.ts';
import { judge } from './conform.ts';
import { conformanceExitCode } from './conformance-outcome.ts';
import { demoSummary } from './demo-summary.ts';
import { type ExitCode, exitCodes, worstExitCode } from './exit-codes.ts';
import { CommandFault } from './fault.ts';
import { fleetExitCode, fleetFault } from './fleet-outcome.ts';
import * as values from './option-values.ts';
import { createOutput, type Output } from './output.ts';
import { serverReady } from './ready.ts';
import { prepareReports, writeReports } from './reports.ts';
import { leaveRunFile } from './run-file.ts';
import { aborted, stopSignal } from './stop-signal.ts';
import { selectedCases, verdictTeller } from './suite-watch.ts';

const DEVICES = 30;
const SEED = 'demo';
const DEVICE_TYPE = 'fleetbed-demo-board';
const ARTIFACT_NAME = 'demo-release-2';
const PAYLOAD_BYTES = 65_536;
/** A fleet of this size needs a few seconds; beyond this something is wrong. */
const FLEET_MAX_MS = 40_000;
const SUITE_JOBS = 4;
const SUITE_CASE_MAX_MS = 60_000;

interface DemoOptions {
  readonly exit?: boolean;
  readonly report?: values.ReportFiles;
  readonly json?: boolean;
}

interface Ports {
  readonly port: number;
  readonly controlPort: number;
}

/** Adds the options of `fleetbed demo` and what it does. */
export function configure(command: Command): void {
  command
    .option('--exit', 'end after the run in place of staying up')
    .option(
      '--report <form=file>',
      'json=FILE, junit=FILE (the verdicts); repeatable',
      values.report,
    )
    .option('--json', 'standard output carries the results as JSON')
    .action(async (options: DemoOptions) => {
      process.exitCode = await demo(options);
    });
}

async function demo(options: DemoOptions): Promise<ExitCode> {
  const output = createOutput(options.json ?? false);
  await prepareReports(options.report);
  const signal = stopSignal();
  const server = await startOnFreePorts({ port: 8080, controlPort: 8081 }, output);
  let removeRunFile: (() => void) | undefined;
  try {
    removeRunFile = await leaveRunFile(serverReady(server), output);
    output.progress(`server: ready at ${server.baseUrl}`);
    await uploadArtifact(server);
    output.progress(`server: has ${ARTIFACT_NAME}`);
    const plan = planFor(server);
    const fleet = await runFleet(plan, signal, output);
    const conformance = await judgeServer(server, signal, output);
    const results = { fleet, conformance };
    await writeReports(options.report, {
      json: results,
      junit: () => conformanceJunit(conformance),
    });
    output.data({ ...results, server: serverReady(server) });
    output.line(demoSummary(results, server));
    if (!options.exit) {
      output.progress('Ctrl-C ends it');
      await aborted(signal);
    }
    return worstExitCode([fleetOutcome(fleet, plan), conformanceExitCode(conformance)]);
  } finally {
    removeRunFile?.();
    await server.close();
  }
}

async function startOnFreePorts(ports: Ports, output: Output): Promise<RunningServer> {
  try {
    return await startServer({ ...ports, logLevel: 'warn' });
  } catch (fault) {
    const others = avoidBusy(ports, fault);
    if (!others) throw fault;
    output.progress('server: a port is busy; taking a free one');
    return startOnFreePorts(others, output);
  }
}

/** Any free port in place of the busy one; undefined when the fault is another one. */
function avoidBusy(ports: Ports, fault: unknown): Ports | undefined {
  if (!(fault instanceof Error && 'port' in fault && 'code' in fault)) return undefined;
  if (fault.code !== 'EADDRINUSE') return undefined;
  if (fault.port === ports.port) return { ...ports, port: 0 };
  return fault.port === ports.controlPort ? { ...ports, controlPort: 0 } : undefined;
}

async function uploadArtifact({ baseUrl, adminToken }: RunningServer): Promise<void> {
  const content = seededRandom(SEED).bytes(PAYLOAD_BYTES);
  const artifact = await writeArtifact({
    name: ARTIFACT_NAME,
    deviceTypes: [DEVICE_TYPE],
    payloadType: 'single-file',
    files: [{ name: 'payload.bin', content }],
    modifiedMs: systemClock.now(),
  });
  const form = new FormData();
  const file = new Blob([Uint8Array.from(artifact)], { type: artifactMediaType });
  form.append('artifact', file, `${ARTIFACT_NAME}.mender`);
  const { method, path } = managementOperations['upload-artifact'];
  const headers = { Authorization: `Bearer ${adminToken}` };
  const answer = await fetch(baseUrl + pathOf({ path }), { method, headers, body: form });
  if (answer.status === 201) return;
  const sentence = `the server answered ${answer.status} to the demo's artifact: ${await answer.text()}`;
  throw new CommandFault(sentence, exitCodes.setUp);
}

function planFor({ baseUrl, adminEmail, adminPassword, headerPrefix }: RunningServer): FleetPlan {
  return {
    baseUrl,
    devices: DEVICES,
    keys: { rsa: 1, ecdsa: 1, ed25519: 1 },
    seed: SEED,
    pollIntervalMs: 500,
    inventoryIntervalMs: 5000,
    rampMs: 1000,
    durationMs: FLEET_MAX_MS,
    until: 'settled',
    connect: true,
    behaviours: [
      { name: 'steady', weight: 7 },
      { name: 'failing-install', weight: 1 },
      { name: 'aborted-midway', weight: 1 },
      { name: 'already-installed', weight: 1 },
    ],
    headerPrefix,
    deviceType: DEVICE_TYPE,
    acceptWith: { email: adminEmail, password: adminPassword },
    deploy: ARTIFACT_NAME,
    deploymentName: 'demo',
    requestTimeLimitMs: 10_000,
  };
}

async function runFleet(
  plan: FleetPlan,
  signal: AbortSignal,
  output: Output,
): Promise<FleetResult> {
  try {
    return await simulateFleet(plan, {
      signal,
      clock: systemClock,
      onProgress: (progress) => output.progress(`fleet: ${progressLine(progress)}`),
    });
  } catch (error) {
    throw fleetFault(error, plan);
  }
}

/** A fleet that did not come to its end in time has decided nothing. */
function fleetOutcome(fleet: FleetResult, plan: FleetPlan): ExitCode {
  const own = fleet.ended === 'settled' ? exitCodes.pass : exitCodes.undecided;
  return worstExitCode([own, fleetExitCode(fleet, plan)]);
}

async function judgeServer(
  server: RunningServer,
  signal: AbortSignal,
  output: Output,
): Promise<ConformanceResult> {
  const { baseUrl, headerPrefix, adminEmail, adminPassword } = server;
  output.progress('suite: judging the server');
  return judge({
    baseUrl,
    headerPrefix,
    credentials: { email: adminEmail, password: adminPassword },
    control: { url: server.controlUrl, token: server.controlToken },
    // The server is our own, and the fleet is done with it.
    disruptive: true,
    jobs: SUITE_JOBS,
    caseTimeLimitMs: SUITE_CASE_MAX_MS,
    requestTimeLimitMs: 10_000,
    signal,
    onVerdict: verdictTeller(output, selectedCases().length),
  });
}
