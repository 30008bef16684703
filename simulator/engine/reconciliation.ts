/**
 * Reconciliation: compares the device deployments that each device holds with those that the server
 * has recorded.
 */

import type { ManagementClient, Target } from '../client/management.ts';
import { type Device, type DeviceDeployment, recordedStatus } from '../device/device.ts';
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
  listedDeployments,
  type ServerRecord,
  statisticsDifferences,
} from './server-records.ts';

/** Deployments whose lists are fetched; a fleet that saw more is checked in part. */
const DEPLOYMENTS_MAX = 100;
/** Differences that are listed; more add no information. */
const DIFFERENCES_MAX = 1000;

/** The devices and the deployment whose states at the server are compared with the fleet's. */
export interface ReconciliationSubject {
  readonly devices: readonly Device[];
  readonly target: Target | undefined;
  readonly management: ManagementClient | undefined;
  /** True when the devices are part of a fleet: the server's totals cover all of it. */
  readonly isShard?: boolean;
  /** True when the user has aborted the deployment of the run. */
  readonly isAborted?: boolean | undefined;
}

/**
 * Compares devices and server after a run. Never throws: a list that cannot be fetched is part of
 * the result.
 */
export async function reconcile(subject: ReconciliationSubject): Promise<Reconciliation> {
  const { management } = subject;
  if (management === undefined) return unchecked(noUser);
  try {
    return await compareRecords(subject, management);
  } catch (error) {
    if (error instanceof FleetStopped)
      return unchecked('the run ended before the server responded');
    if (!(error instanceof ClientError)) throw error;
    return unchecked(error.message);
  }
}

async function compareRecords(
  subject: ReconciliationSubject,
  management: ManagementClient,
): Promise<Reconciliation> {
  const { target, devices } = subject;
  const seen = new Set(target === undefined ? [] : [target.deploymentId]);
  for (const { deployments } of devices)
    for (const deployment of deployments) seen.add(deployment.deploymentId);
  const deploymentIds = [...seen].slice(0, DEPLOYMENTS_MAX);
  const differences: ReconciliationDifference[] = [];
  const sums = new ServersSums(management);
  let withoutArtifact = 0;
  for (const deploymentId of deploymentIds) {
    const servers = await listedDeployments(management, deploymentId);
    if (deploymentId === target?.deploymentId) withoutArtifact = unfitCount(devices, servers);
    const isAborted = subject.isAborted === true && deploymentId === target?.deploymentId;
    const compared = { deploymentId, servers, target, isAborted };
    differences.push(...devices.flatMap((device) => differenceOf(device, compared)));
    if (!subject.isShard) await sums.compare(deploymentId, servers);
  }
  const partly = `only ${deploymentIds.length} of ${seen.size} deployments were compared`;
  return {
    checked: true,
    ok: differences.length === 0 && sums.differences.length === 0,
    ...(seen.size > deploymentIds.length && { because: partly }),
    sources: ['list', ...sums.sources],
    deploymentsChecked: deploymentIds.length,
    withoutArtifact,
    lostReports: differences.filter(({ kind }) => kind === 'lost').length,
    doubledReports: differences.filter(({ kind }) => kind === 'doubled').length,
    statistics: sums.differences,
    differences: differences.slice(0, DIFFERENCES_MAX),
  };
}

/** Compares the server's totals with its own list. */
class ServersSums {
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

function unchecked(because: string): Reconciliation {
  return {
    checked: false,
    ok: false,
    because,
    sources: [],
    deploymentsChecked: 0,
    withoutArtifact: 0,
    lostReports: 0,
    doubledReports: 0,
    statistics: [],
    differences: [],
  };
}

/** Own devices only: the deployment of a shard includes those of other shards. */
function unfitCount(
  devices: readonly Device[],
  recorded: ReadonlyMap<string, ListedDeployment>,
): number {
  return devices.filter(({ id }) => recorded.get(id ?? '')?.status === 'noartifact').length;
}

interface Compared {
  readonly deploymentId: string;
  /** Device deployments as the server lists them, by device ID. */
  readonly servers: ReadonlyMap<string, ListedDeployment>;
  readonly target: Target | undefined;
  readonly isAborted: boolean;
}

const NOT_LISTED = 'not listed';
const NO_DEPLOYMENT = 'no offer';

function differenceOf(device: Device, compared: Compared): ReconciliationDifference[] {
  const { deploymentId, servers } = compared;
  const deployment = device.deployments.find((each) => each.deploymentId === deploymentId);
  const listed = device.id === undefined ? undefined : servers.get(device.id);
  const theirs = listed?.status;
  const isDoubled = (listed?.times ?? 0) > 1;
  const agree =
    !isDoubled &&
    (deployment
      ? deploymentAgrees(deployment, theirs, compared)
      : absenceAgrees(device, theirs, compared));
  if (agree) return [];
  return [
    {
      deploymentId,
      deviceId: device.id ?? 'unknown',
      deviceIndex: device.index,
      kind: isDoubled ? 'doubled' : kindOf(deployment, theirs),
      ours: deployment ? oursOf(deployment, theirs) : NO_DEPLOYMENT,
      servers: isDoubled ? `${theirs}, listed ${listed?.times} times` : (theirs ?? NOT_LISTED),
    },
  ];
}

/**
 * A report is lost when the server's status is one that the device had before. It arrived twice
 * when the server refused it as too late yet has it: the refusal was for the duplicate.
 */
function kindOf(
  deployment: DeviceDeployment | undefined,
  theirs: string | undefined,
): ReconciliationDifference['kind'] {
  if (deployment === undefined) return 'unknown';
  if (lacksSuccess(deployment, theirs)) return 'lost';
  if (deployment.state === 'aborted' && theirs === deployment.refused) return 'doubled';
  const before = ['pending', ...deployment.reported.slice(0, -1)];
  return theirs === undefined || before.includes(theirs) ? 'lost' : 'unknown';
}

/**
 * Returns true when the server has acknowledged a success that it does not list. Asked again, such
 * a server offers the artifact anew or finds it installed, so its list may be newer than the loss.
 */
function lacksSuccess({ reported }: DeviceDeployment, theirs: string | undefined): boolean {
  return reported.includes('success') && theirs !== 'success';
}

function oursOf(deployment: DeviceDeployment, theirs: string | undefined): string {
  return lacksSuccess(deployment, theirs) ? 'success' : recordedStatus(deployment);
}

/**
 * A report without a response may or may not have arrived, and a run may end before a device learns
 * that its own operator aborted it.
 */
function deploymentAgrees(
  deployment: DeviceDeployment,
  theirs: string | undefined,
  { isAborted }: Pick<Compared, 'isAborted'>,
): boolean {
  if (lacksSuccess(deployment, theirs)) return false;
  if (theirs === recordedStatus(deployment)) return true;
  if (theirs === 'aborted')
    return (isAborted || deployment.abortAsked) && !isFinal(deployment.state);
  return theirs !== undefined && theirs === deployment.unanswered;
}

/**
 * What the server may hold for a device that was never offered anything: a pending device
 * deployment, or one that it closed because no artifact fits or the device has the artifact
 * already.
 */
function absenceAgrees(device: Device, theirs: string | undefined, compared: Compared): boolean {
  if (theirs === undefined || theirs === 'pending' || theirs === 'noartifact') return true;
  const { target, deploymentId, isAborted } = compared;
  if (isAborted && theirs === 'aborted') return true;
  const ours = target !== undefined && target.deploymentId === deploymentId;
  const hasIt = ours && device.provides.artifact_name === target.artifactName;
  return hasIt && theirs === 'already-installed';
}
