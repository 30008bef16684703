/** Reconciliation: compares the devices' records of their deployments with the server's records. */
import type { ManagementClient, RunDeployment } from '../api-client/management.ts';
import {
  type DeploymentRecord,
  expectedServerStatus,
  type SimulatedDevice,
} from '../device/device.ts';
import { isFinal } from '../device/update-states.ts';
import { ClientError, FleetStopped } from '../network/errors.ts';
import {
  noUser,
  type Reconciliation,
  type ReconciliationDifference,
} from '../result/result-devices.ts';
import {
  auditDifferences,
  type ListedDeployment,
  listDeviceDeployments,
  type ServerRecord,
  statisticsDifferences,
} from './server-records.ts';

/** Maximum number of deployments that are compared; a run with more is compared in part. */
const DEPLOYMENTS_MAX = 100;
/** Maximum number of differences in the result. */
const DIFFERENCES_MAX = 1000;

/** The devices and the deployment to compare with the server's records. */
export interface ReconciliationSubject {
  readonly devices: readonly SimulatedDevice[];
  readonly runDeployment: RunDeployment | undefined;
  readonly management: ManagementClient | undefined;
  /**
   * True when the devices are only a part of the fleet. The server's totals are not compared then,
   * because they count the whole fleet.
   */
  readonly isShard?: boolean;
  /** True when the user has aborted the deployment of the run. */
  readonly isAborted?: boolean | undefined;
}

/**
 * Compares devices and server after a run. It does not throw when the server's list cannot be read;
 * the result contains the reason.
 */
export async function reconcile(subject: ReconciliationSubject): Promise<Reconciliation> {
  const { management } = subject;
  if (management === undefined) return skippedReconciliation(noUser);
  try {
    return await compareRecords(subject, management);
  } catch (error) {
    if (error instanceof FleetStopped)
      return skippedReconciliation('the run ended before the server responded');
    if (!(error instanceof ClientError)) throw error;
    return skippedReconciliation(error.message);
  }
}

async function compareRecords(
  subject: ReconciliationSubject,
  management: ManagementClient,
): Promise<Reconciliation> {
  const { runDeployment, devices } = subject;
  const idsOfDeployments = new Set(runDeployment === undefined ? [] : [runDeployment.deploymentId]);
  for (const { deployments } of devices)
    for (const deployment of deployments) idsOfDeployments.add(deployment.deploymentId);
  const deploymentIds = [...idsOfDeployments].slice(0, DEPLOYMENTS_MAX);
  const differences: ReconciliationDifference[] = [];
  const sums = new ServerTotals(management);
  let withoutArtifact = 0;
  for (const deploymentId of deploymentIds) {
    const serverRecords = await listDeviceDeployments(management, deploymentId);
    if (deploymentId === runDeployment?.deploymentId)
      withoutArtifact = unfitCount(devices, serverRecords);
    const isAborted = subject.isAborted === true && deploymentId === runDeployment?.deploymentId;
    const comparison = { deploymentId, servers: serverRecords, runDeployment, isAborted };
    differences.push(...devices.flatMap((device) => differenceOf(device, comparison)));
    if (!subject.isShard) await sums.compare(deploymentId, serverRecords);
  }
  const partly = `only ${deploymentIds.length} of ${idsOfDeployments.size} deployments were compared`;
  return {
    checked: true,
    ok: differences.length === 0 && sums.differences.length === 0,
    ...(idsOfDeployments.size > deploymentIds.length && { reason: partly }),
    sources: ['list', ...sums.sources],
    deploymentsChecked: deploymentIds.length,
    withoutArtifact,
    lostReports: differences.filter(({ kind }) => kind === 'lost').length,
    duplicateReports: differences.filter(({ kind }) => kind === 'doubled').length,
    statistics: sums.differences,
    differences: differences.slice(0, DIFFERENCES_MAX),
  };
}

/** Compares the server's totals with the server's own list. */
class ServerTotals {
  readonly #management: ManagementClient;
  readonly differences: Reconciliation['statistics'][number][] = [];
  readonly sources = new Set<ServerRecord>();

  constructor(management: ManagementClient) {
    this.#management = management;
  }

  async compare(
    deploymentId: string,
    servers: ReadonlyMap<string, ListedDeployment>,
  ): Promise<void> {
    const statistics = await statisticsDifferences(this.#management, deploymentId, servers);
    if (statistics) this.sources.add('statistics');
    const audit = await auditDifferences(this.#management, deploymentId);
    if (audit) this.sources.add('audit log');
    this.differences.push(...(statistics ?? []), ...(audit ?? []));
  }
}

function skippedReconciliation(reason: string): Reconciliation {
  return {
    checked: false,
    ok: false,
    reason,
    sources: [],
    deploymentsChecked: 0,
    withoutArtifact: 0,
    lostReports: 0,
    duplicateReports: 0,
    statistics: [],
    differences: [],
  };
}

/**
 * Returns the number of this process's devices for which no artifact was compatible. The list also
 * contains devices of other shards.
 */
function unfitCount(
  devices: readonly SimulatedDevice[],
  recorded: ReadonlyMap<string, ListedDeployment>,
): number {
  return devices.filter(({ id }) => recorded.get(id ?? '')?.status === 'noartifact').length;
}

interface ComparedDeployment {
  readonly deploymentId: string;
  /** The server's records of a deployment, by device ID. */
  readonly servers: ReadonlyMap<string, ListedDeployment>;
  readonly runDeployment: RunDeployment | undefined;
  readonly isAborted: boolean;
}

const NOT_LISTED = 'not listed';
const NO_DEPLOYMENT = 'no offer';

function differenceOf(
  device: SimulatedDevice,
  compared: ComparedDeployment,
): ReconciliationDifference[] {
  const { deploymentId, servers } = compared;
  const deployment = device.deployments.find((each) => each.deploymentId === deploymentId);
  const serverDevice = device.id === undefined ? undefined : servers.get(device.id);
  const serverStatus = serverDevice?.status;
  const isDoubled = (serverDevice?.times ?? 0) > 1;
  const agree =
    !isDoubled &&
    (deployment
      ? deploymentAgrees(deployment, serverStatus, compared)
      : absenceAgrees(device, serverStatus, compared));
  if (agree) return [];
  return [
    {
      deploymentId,
      deviceId: device.id ?? 'unknown',
      deviceIndex: device.index,
      kind: isDoubled ? 'doubled' : kindOf(deployment, serverStatus),
      fleetStatus: deployment ? fleetStatusOf(deployment, serverStatus) : NO_DEPLOYMENT,
      serverStatus: isDoubled
        ? `${serverStatus}, listed ${serverDevice?.times} times`
        : (serverStatus ?? NOT_LISTED),
    },
  ];
}

/**
 * Returns the kind of a difference. `lost`: the server's status is one that the device had earlier,
 * so a later report is missing. `doubled`: the server has the status although it answered the
 * report with 409, so the report arrived twice. `unknown`: any other difference.
 */
function kindOf(
  deployment: DeploymentRecord | undefined,
  serverStatus: string | undefined,
): ReconciliationDifference['kind'] {
  if (deployment === undefined) return 'unknown';
  if (lacksSuccess(deployment, serverStatus)) return 'lost';
  if (deployment.state === 'aborted' && serverStatus === deployment.refusedStatus) return 'doubled';
  const earlierStatuses = ['pending', ...deployment.reported.slice(0, -1)];
  return serverStatus === undefined || earlierStatuses.includes(serverStatus) ? 'lost' : 'unknown';
}

/**
 * Returns true when the server acknowledged a success but does not list it. This check ignores the
 * listed status, because such a server may have offered the artifact again and recorded a later
 * status.
 */
function lacksSuccess({ reported }: DeploymentRecord, serverStatus: string | undefined): boolean {
  return reported.includes('success') && serverStatus !== 'success';
}

function fleetStatusOf(deployment: DeploymentRecord, theirs: string | undefined): string {
  return lacksSuccess(deployment, theirs) ? 'success' : expectedServerStatus(deployment);
}

/**
 * Returns true when the records agree. An unacknowledged report may or may not be recorded, and the
 * run may end before a device learns that the user aborted its deployment.
 */
function deploymentAgrees(
  deployment: DeploymentRecord,
  serverStatus: string | undefined,
  { isAborted }: Pick<ComparedDeployment, 'isAborted'>,
): boolean {
  if (lacksSuccess(deployment, serverStatus)) return false;
  if (serverStatus === expectedServerStatus(deployment)) return true;
  if (serverStatus === 'aborted')
    return (isAborted || deployment.abortRequested) && !isFinal(deployment.state);
  return serverStatus !== undefined && serverStatus === deployment.unacknowledgedStatus;
}

/**
 * Returns true when the server's record fits a device that was offered nothing. The record may be
 * pending, or closed because no artifact is compatible or the device already has the artifact.
 */
function absenceAgrees(
  device: SimulatedDevice,
  serverStatus: string | undefined,
  compared: ComparedDeployment,
): boolean {
  if (serverStatus === undefined || serverStatus === 'pending' || serverStatus === 'noartifact')
    return true;
  const { runDeployment, deploymentId, isAborted } = compared;
  if (isAborted && serverStatus === 'aborted') return true;
  const isRunDeployment =
    runDeployment !== undefined && runDeployment.deploymentId === deploymentId;
  const hasIt = isRunDeployment && device.provides.artifact_name === runDeployment.artifactName;
  return hasIt && serverStatus === 'already-installed';
}
