/**
 * Double entry: what each device holds of its deployments against what the server has recorded,
 * device by device.
 */
import { ClientError } from '../client/errors.ts';
import type { ManagementClient } from '../client/management.ts';
import { type DeploymentPart, type Device, recordedStatus } from '../device/device.ts';
import { isFinal } from '../device/update-states.ts';
import type { Target } from '../device/world.ts';
import { FleetStopped } from '../stopped.ts';

/** One device for which the two books differ. */
interface BalanceDifference {
  readonly deploymentId: string;
  readonly deviceId: string;
  readonly deviceIndex: number;
  readonly ours: string;
  readonly servers: string;
}

/** Whether device and server tell the same story. */
export interface Balance {
  /** False without a login, or when the server's list could not be read. */
  readonly checked: boolean;
  /** True when it was checked and nothing differs. */
  readonly ok: boolean;
  /** Why it was not, or not wholly, checked. */
  readonly because?: string;
  readonly deploymentsChecked: number;
  /** Devices of the run's own deployment for which the server found no artifact that fits. */
  readonly withoutArtifact: number;
  readonly differences: readonly BalanceDifference[];
}

/** Deployments whose lists are fetched; a fleet that saw more is checked in part. */
const DEPLOYMENTS_MAX = 100;
/** Differences that are listed; more tell nothing new. */
const DIFFERENCES_MAX = 1000;

/** What is compared. */
export interface BalanceSubject {
  readonly devices: readonly Device[];
  readonly target: Target | undefined;
  readonly management: ManagementClient | undefined;
}

/** Compares the books after a run. Never throws: a list that cannot be had is a result. */
export async function checkBalance(subject: BalanceSubject): Promise<Balance> {
  const { management, target, devices } = subject;
  if (management === undefined) return unchecked('there was no login to the management API');
  const seen = new Set(target === undefined ? [] : [target.deploymentId]);
  for (const { parts } of devices) for (const part of parts) seen.add(part.deploymentId);
  const deploymentIds = [...seen].slice(0, DEPLOYMENTS_MAX);
  const differences: BalanceDifference[] = [];
  let withoutArtifact = 0;
  try {
    for (const deploymentId of deploymentIds) {
      const servers = await recordedByServer(management, deploymentId);
      const compared = { deploymentId, servers, target };
      if (deploymentId === target?.deploymentId) withoutArtifact = unfitCount(devices, servers);
      differences.push(...devices.flatMap((device) => differenceOf(device, compared)));
    }
  } catch (error) {
    if (error instanceof FleetStopped) return unchecked('the run ended before the server answered');
    if (!(error instanceof ClientError)) throw error;
    return unchecked(error.message);
  }
  const partly =
    seen.size > deploymentIds.length
      ? { because: `only ${deploymentIds.length} of ${seen.size} deployments were compared` }
      : {};
  return {
    checked: true,
    ok: differences.length === 0,
    ...partly,
    deploymentsChecked: deploymentIds.length,
    withoutArtifact,
    differences: differences.slice(0, DIFFERENCES_MAX),
  };
}

function unchecked(because: string): Balance {
  return {
    checked: false,
    ok: false,
    because,
    deploymentsChecked: 0,
    withoutArtifact: 0,
    differences: [],
  };
}

/** Own devices only: the deployment of a shard is for those of other shards too. */
function unfitCount(devices: readonly Device[], recorded: ReadonlyMap<string, string>): number {
  return devices.filter(({ id }) => recorded.get(id ?? '') === 'noartifact').length;
}

async function recordedByServer(
  management: ManagementClient,
  deploymentId: string,
): Promise<ReadonlyMap<string, string>> {
  const recorded = new Map<string, string>();
  for await (const page of management.deploymentDevices(deploymentId)) {
    for (const { id, status } of page) recorded.set(id, status);
  }
  return recorded;
}

interface Compared {
  readonly deploymentId: string;
  /** Device id to status. */
  readonly servers: ReadonlyMap<string, string>;
  readonly target: Target | undefined;
}

const NOT_LISTED = 'not listed';
const NO_PART = 'nothing was offered';

function differenceOf(device: Device, compared: Compared): BalanceDifference[] {
  const { deploymentId, servers } = compared;
  const part = device.parts.find((each) => each.deploymentId === deploymentId);
  const theirs = device.id === undefined ? undefined : servers.get(device.id);
  const agree = part ? partAgrees(part, theirs) : absenceAgrees(device, theirs, compared);
  if (agree) return [];
  return [
    {
      deploymentId,
      deviceId: device.id ?? 'unknown',
      deviceIndex: device.index,
      ours: part ? recordedStatus(part) : NO_PART,
      servers: theirs ?? NOT_LISTED,
    },
  ];
}

/**
 * A report without an answer may have arrived or not, and a run may end before a device has heard
 * that its own operator aborted it.
 */
function partAgrees(part: DeploymentPart, theirs: string | undefined): boolean {
  if (theirs === recordedStatus(part)) return true;
  if (theirs === 'aborted') return part.abortAsked && !isFinal(part.state);
  return theirs !== undefined && theirs === part.unanswered;
}

/**
 * What the server may hold of a device that was never offered anything: a part that waits, or one
 * that it closed by itself because no artifact fits or the device has the artifact already.
 */
function absenceAgrees(device: Device, theirs: string | undefined, compared: Compared): boolean {
  if (theirs === undefined || theirs === 'pending' || theirs === 'noartifact') return true;
  const { target, deploymentId } = compared;
  const ours = target !== undefined && target.deploymentId === deploymentId;
  const hasIt = ours && device.provides.artifact_name === target.artifactName;
  return hasIt && theirs === 'already-installed';
}
