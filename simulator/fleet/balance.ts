/**
 * Double entry: what each device holds of its deployments against what the server has recorded,
 * device by device.
 */
import { ClientError } from '../client/errors.ts';
import type { ManagementClient } from '../client/management.ts';
import { type DeploymentPart, type Device, recordedStatus } from '../device/device.ts';
import { isFinal } from '../device/update-states.ts';
import type { Target } from '../device/world.ts';
import type { Balance, BalanceDifference } from '../report/result-devices.ts';
import { FleetStopped } from '../stopped.ts';

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
    lostReports: differences.filter(({ kind }) => kind === 'lost').length,
    doubledReports: differences.filter(({ kind }) => kind === 'doubled').length,
    statistics: [],
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
    lostReports: 0,
    doubledReports: 0,
    statistics: [],
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
      kind: kindOf(part, theirs),
      ours: part ? recordedStatus(part) : NO_PART,
      servers: theirs ?? NOT_LISTED,
    },
  ];
}

/**
 * A report is lost when the server stands where the device stood before it, doubled when the server
 * has more than the device has ever said.
 */
function kindOf(
  part: DeploymentPart | undefined,
  theirs: string | undefined,
): BalanceDifference['kind'] {
  if (part === undefined) return 'unknown';
  const before = ['pending', ...part.reported.slice(0, -1)];
  return theirs === undefined || before.includes(theirs) ? 'lost' : 'unknown';
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
