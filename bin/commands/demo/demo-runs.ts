/** The runs of the demo on its server: a fleet that updates itself, and the conformance suite. */
import { type ConformanceResult, listCases } from '../../../conformance/conformance.ts';
import { conformanceJunit } from '../../../conformance/report/junit.ts';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { seededRandom } from '../../../fixtures/base/random.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { artifactMediaType } from '../../../fixtures/contract/operations.ts';
import { controlPaths } from '../../../fixtures/control/control-listener.ts';
import { writeArtifact } from '../../../fixtures/formats/mender-artifact-writer.ts';
import { singleFilePayload } from '../../../fixtures/formats/update-modules.ts';
import type { RunningServer } from '../../../server/server.ts';
import {
  type FleetPlan,
  type FleetResult,
  simulateFleet,
} from '../../../simulator/engine/simulate-fleet.ts';
import { planDefaults } from '../../../simulator/plan/plan.ts';
import { progressLine } from '../../../simulator/report/text.ts';
import {
  jsonFile,
  type ReportFiles,
  type ReportFormat,
  writeReports,
} from '../../options/reports.ts';
import { CommandError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes, worstExitCode } from '../../output/exit-codes.ts';
import { fleetError, fleetExitCode } from '../../output/fleet-outcome.ts';
import type { Output } from '../../output/output.ts';
import { untilAborted } from '../../output/stop-signal.ts';
import { serverReady } from '../../server-access/ready.ts';
import { conformanceExitCode } from '../conform/conformance-outcome.ts';
import { runSuite } from '../conform/run-suite.ts';
import { verdictPrinter } from '../conform/suite-watch.ts';
import { type DemoResults, demoSummary } from './demo-summary.ts';

const DEVICES = 30;
const SEED = 'demo';
const DEVICE_TYPE = 'fleetbed-demo-board';
const ARTIFACT_NAME = 'demo-release-2';
const PAYLOAD_BYTES = 65_536;
/** Time limit of the fleet, which normally needs a few seconds. */
const FLEET_MAX_MS = 40_000;
/**
 * Poll interval of the devices after the demo: short enough to be noticed, long enough to keep the
 * journal readable.
 */
const STAY_POLL_MS = 10_000;
const SUITE_TENANT = { name: 'conformance', adminEmail: 'conformance@example.com' };
const SUITE_JOBS = 4;
const SUITE_CASE_MAX_MS = 60_000;

const formats = [
  { format: 'json', render: jsonFile },
  { format: 'junit', render: ({ conformance }) => conformanceJunit(conformance) },
] as const satisfies readonly ReportFormat<DemoResults>[];

/** The name of a format in which the demo writes its results. */
export type DemoFormat = (typeof formats)[number]['format'];

/** The options and the output of the demo's runs. */
interface DemoContext {
  /** True when server and fleet end with the runs. */
  readonly exit: boolean;
  readonly report: ReportFiles | undefined;
  readonly signal: AbortSignal;
  readonly output: Output;
  /** Called when all runs have finished and server and fleet stay up. */
  readonly onStay: () => void;
}

/**
 * Runs the fleet and then the suite, and prints the results; the fleet stays connected until
 * the signal, unless the demo ends with its runs.
 */
export async function runOnServer(
  server: RunningServer,
  { exit, report, signal, output, onStay }: DemoContext,
): Promise<ExitCode> {
  await uploadArtifact(server);
  output.progress(`server: artifact ${ARTIFACT_NAME} uploaded`);
  let exitCode: ExitCode = exitCodes.inconclusive;
  await runFleet(planFor(server), { signal, output }, async (fleet) => {
    const conformance = await judgeServer(server, signal, output);
    await removeForeignDevices(server, fleet);
    const results = { fleet, conformance };
    await writeReports(formats, report, results);
    output.data({ ...results, server: serverReady(server) });
    output.line(demoSummary(results, exit ? undefined : server));
    exitCode = worstExitCode([fleetExitCode(fleet), conformanceExitCode(conformance)]);
    if (exit) return;
    onStay();
    output.progress('server and fleet stay up; press Ctrl-C to stop');
    await untilAborted(signal);
  });
  return exitCode;
}

async function uploadArtifact({ baseUrl, adminToken }: RunningServer): Promise<void> {
  const content = seededRandom(SEED).bytes(PAYLOAD_BYTES);
  const artifact = await writeArtifact({
    name: ARTIFACT_NAME,
    deviceTypes: [DEVICE_TYPE],
    ...singleFilePayload('/var/lib/fleetbed', { name: 'payload.bin', content }),
    modifiedMs: systemClock.now(),
  });
  const form = new FormData();
  const file = new Blob([Uint8Array.from(artifact)], { type: artifactMediaType });
  form.append('artifact', file, `${ARTIFACT_NAME}.mender`);
  const { method, path } = managementOperations['upload-artifact'];
  const headers = { Authorization: `Bearer ${adminToken}` };
  const response = await fetch(baseUrl + pathOf({ path }), { method, headers, body: form });
  if (response.status === 201) return;
  const sentence = `the server refused the demo's artifact with ${response.status}: ${await response.text()}`;
  throw new CommandError(sentence, exitCodes.setUp);
}

function planFor({ baseUrl, adminEmail, adminPassword, headerPrefix }: RunningServer): FleetPlan {
  return {
    ...planDefaults,
    baseUrl,
    devices: DEVICES,
    seed: SEED,
    pollIntervalMs: 500,
    inventoryIntervalMs: 5000,
    durationMs: FLEET_MAX_MS,
    drainMs: 0,
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

/** Runs the fleet and keeps it connected until `until` resolves. */
async function runFleet(
  plan: FleetPlan,
  { signal, output }: { readonly signal: AbortSignal; readonly output: Output },
  until: (result: FleetResult) => Promise<void>,
): Promise<void> {
  let isOver = false;
  try {
    await simulateFleet(plan, {
      signal,
      clock: systemClock,
      onProgress: (progress) => {
        if (!isOver) output.progress(`fleet: ${progressLine(progress)}`);
      },
      stay: {
        pollIntervalMs: STAY_POLL_MS,
        until: (result) => {
          isOver = true;
          return until(result);
        },
      },
    });
  } catch (error) {
    throw fleetError(error, plan);
  }
}

async function judgeServer(
  server: RunningServer,
  signal: AbortSignal,
  output: Output,
): Promise<ConformanceResult> {
  const { baseUrl, headerPrefix } = server;
  output.progress('suite: testing the server, in a tenant of its own');
  return runSuite({
    baseUrl,
    headerPrefix,
    ...(await suiteTenant(server)),
    control: { url: server.controlUrl, token: server.controlToken },
    // The server is our own, and the fleet lives in another tenant.
    disruptive: true,
    jobs: SUITE_JOBS,
    caseTimeLimitMs: SUITE_CASE_MAX_MS,
    requestTimeLimitMs: 10_000,
    signal,
    onVerdict: verdictPrinter(output, listCases().length),
  });
}

/**
 * Removes the devices of the cases that authenticate without a tenant token, and so appear in the
 * fleet's tenant.
 */
async function removeForeignDevices(
  server: RunningServer,
  { devices }: FleetResult,
): Promise<void> {
  const fleetIds = new Set(devices.map(({ deviceId }) => deviceId));
  const { 'list-devices': list, 'decommission-device': remove } = managementOperations;
  const headers = { Authorization: `Bearer ${server.adminToken}` };
  const response = await fetch(`${server.baseUrl}${pathOf(list)}?per_page=500`, { headers });
  const listedDevices = response.ok
    ? ((await response.json()) as readonly { readonly id: string }[])
    : [];
  for (const { id } of listedDevices.filter((device) => !fleetIds.has(device.id))) {
    await fetch(server.baseUrl + pathOf(remove, { id }), { method: remove.method, headers });
  }
}

/** Creates a tenant for the suite, so that the console shows only the devices of the fleet. */
async function suiteTenant({ controlUrl, controlToken }: RunningServer) {
  const headers = {
    Authorization: `Bearer ${controlToken}`,
    'Content-Type': 'application/json',
  };
  const body = JSON.stringify(SUITE_TENANT);
  const response = await fetch(controlUrl + controlPaths.tenants, {
    method: 'POST',
    headers,
    body,
  });
  if (response.status !== 201) {
    const sentence = `the server refused a tenant for the suite with ${response.status}: ${await response.text()}`;
    throw new CommandError(sentence, exitCodes.setUp);
  }
  const {
    adminEmail: email,
    adminPassword: password,
    tenantToken,
  } = (await response.json()) as {
    readonly [Name in 'adminEmail' | 'adminPassword' | 'tenantToken']: string;
  };
  return { credentials: { email, password }, tenantToken };
}
