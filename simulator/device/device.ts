/**
 * The state of one device of the fleet, as plain data that is small enough for many thousands of
 * devices.
 */
import type { DeviceConfiguration } from '../../fixtures/contract/resources.ts';
import type { KeyType, ReportableStatus } from '../../fixtures/contract/vocabulary.ts';
import type { DeviceProvides } from '../api-client/device-client.ts';
import type { ClientSession } from '../api-client/session.ts';
import type { Behaviour } from '../behaviours/behaviour.ts';
import type { IdData, IdentityData } from '../identity/identity.ts';
import type { Cohort } from '../plan/cohort.ts';
import type { LifeState } from './life-states.ts';
import { isFinal, type UpdateState } from './update-states.ts';

/** The device's record of one deployment. */
export interface DeploymentRecord {
  readonly deploymentId: string;
  readonly artifactName: string;
  state: UpdateState;
  /** Statuses that the server has acknowledged, in order, without immediate repetitions. */
  readonly reported: ReportableStatus[];
  /**
   * Status that was reported but not acknowledged, so the server may or may not have recorded it.
   */
  unacknowledgedStatus: ReportableStatus | undefined;
  /**
   * Status whose report the server last answered with 409. Reconciliation counts the report as
   * recorded twice when the server has recorded this status nevertheless.
   */
  refusedStatus: ReportableStatus | undefined;
  /**
   * True when the user was asked to abort the deployment on this device. The device itself
   * learns of the abort only from a 409.
   */
  abortRequested: boolean;
  /**
   * Milliseconds since the Unix epoch of the first offer, the latest change of state, and the end.
   */
  offeredMs: number | undefined;
  stateSinceMs: number | undefined;
  finishedMs: number | undefined;
  /** True when the server answered a report with 409 and the device continued the update. */
  abortIgnored: boolean;
  /** Number of times that the device has started the deployment. */
  attempts: number;
  /** Number of reboots in this update. */
  reboots: number;
  /** The software that was installed before the update, for a rollback. */
  previousSoftware: InstalledSoftware | undefined;
  /** Result of the download; undefined until the device has the whole artifact. */
  downloadedArtifact: DownloadedArtifact | undefined;
  /** Cause of an interruption that the device has not handled yet. */
  interruptedBy: InterruptionCause | undefined;
}

/**
 * Cause of an interruption. `power`: the device lost power and restarts. `simulator`: the run
 * ended; in the next run the device continues as if no time had passed.
 */
type InterruptionCause = 'power' | 'simulator';

/** The part of a downloaded artifact that the rest of the update needs. */
export interface DownloadedArtifact {
  /** The `device_provides` of the device once the artifact is installed. */
  readonly provides: DeviceProvides;
  /** Pairs of a configuration artifact, by the name in the state file; undefined for software. */
  readonly settings: Record<string, string> | undefined;
}

/** Software and configuration that are installed on a device. */
export type InstalledSoftware = Pick<SimulatedDevice, 'provides' | 'configuration'>;

/** Returns what a device has installed once the artifact is committed. */
export function softwareAfterCommit(
  { provides, settings }: DownloadedArtifact,
  device: SimulatedDevice,
): InstalledSoftware {
  return { provides, configuration: settings ?? device.configuration };
}

/** A simulated device with its plan, its state, and what it remembers of its updates. */
export interface SimulatedDevice {
  readonly index: number;
  readonly cohort: Cohort;
  readonly keyType: KeyType;
  readonly behaviour: Behaviour;
  readonly identity: IdentityData;
  /** Contents of the device's `id_data`; equal to `identity` unless the plan overrides it. */
  readonly idData: IdData;
  /** The server's ID for the device, once known. */
  id: string | undefined;
  /** Session with the server; undefined until the device's key has been created. */
  session: ClientSession | undefined;
  /** Session state from an earlier run, restored from the state folder. */
  storedSession: Pick<ClientSession, 'token' | 'nextEndpoint'> | undefined;
  life: LifeState;
  /** Device type and installed software, as sent to the server. */
  provides: DeviceProvides;
  configuration: DeviceConfiguration;
  readonly deployments: DeploymentRecord[];
  /** Number of onboarding steps that the device has completed. */
  onboardingDone: number;
  inventoryDueMs: number;
  /** Number of consecutive cycles that failed with an error that may pass. */
  failuresInRow: number;
  /** Number of requests for the next deployment in this run. */
  polls: number;
  /** Number of times that the device has changed its key. */
  keyGeneration: number;
  /** True while the device has no power: it sends nothing and has no connection. */
  off: boolean;
  /**
   * Milliseconds since the Unix epoch when the device's power returns; undefined while it has
   * power.
   */
  offUntilMs: number | undefined;
  /** Numbers stored by the device's behaviour; undefined until first used. */
  memory: Record<string, number> | undefined;
}

/** Properties of a new device. */
export interface DeviceSpec {
  readonly index: number;
  readonly cohort: Cohort;
  readonly keyType: KeyType;
  readonly behaviour: Behaviour;
  readonly identity: IdentityData;
  readonly idData: IdData;
  readonly deviceType: string;
  /** Name of the artifact that is installed on the device at first. */
  readonly artifactName: string;
}

/** Returns a device that has not contacted the server. */
export function newDevice(spec: DeviceSpec): SimulatedDevice {
  const { index, cohort, keyType, behaviour, identity, idData, deviceType, artifactName } = spec;
  return {
    index,
    cohort,
    keyType,
    behaviour,
    identity,
    idData,
    id: undefined,
    session: undefined,
    storedSession: undefined,
    life: 'unstarted',
    provides: { device_type: deviceType, artifact_name: artifactName },
    configuration: {},
    deployments: [],
    onboardingDone: 0,
    inventoryDueMs: Number.NEGATIVE_INFINITY,
    failuresInRow: 0,
    polls: 0,
    keyGeneration: 0,
    off: false,
    offUntilMs: undefined,
    memory: undefined,
  };
}

/** Number of deployments that a device remembers; the oldest record is dropped first. */
const DEPLOYMENTS_MAX = 200;

/**
 * Returns the device's record of a deployment that is offered. Creates the record at the first
 * offer. At a later offer the update starts again, or continues when only the simulator had been
 * stopped.
 */
export function beginDeployment(
  device: SimulatedDevice,
  deploymentId: string,
  artifactName: string,
): DeploymentRecord {
  const deviceDeployment = device.deployments.find(
    (deployment) => deployment.deploymentId === deploymentId,
  );
  if (deviceDeployment) {
    const continues =
      deviceDeployment.interruptedBy === 'simulator' && isBeforeInstall(deviceDeployment);
    deviceDeployment.interruptedBy = undefined;
    if (continues) return deviceDeployment;
    deviceDeployment.state = 'offered';
    deviceDeployment.attempts++;
    return deviceDeployment;
  }
  const deployment: DeploymentRecord = {
    deploymentId,
    artifactName,
    state: 'offered',
    reported: [],
    unacknowledgedStatus: undefined,
    refusedStatus: undefined,
    abortRequested: false,
    offeredMs: undefined,
    stateSinceMs: undefined,
    finishedMs: undefined,
    abortIgnored: false,
    attempts: 1,
    reboots: 0,
    previousSoftware: undefined,
    downloadedArtifact: undefined,
    interruptedBy: undefined,
  };
  recordDeployment(device, deployment);
  return deployment;
}

/** Returns true while the device has not downloaded the artifact completely. */
export function isBeforeInstall({ state }: DeploymentRecord): boolean {
  return state === 'offered' || state === 'downloading';
}

/** Adds a record of a deployment to the device, or replaces its existing record. */
export function recordDeployment(device: SimulatedDevice, deployment: DeploymentRecord): void {
  const { deploymentId } = deployment;
  const at = device.deployments.findIndex((known) => known.deploymentId === deploymentId);
  if (at >= 0) device.deployments[at] = deployment;
  else if (device.deployments.push(deployment) > DEPLOYMENTS_MAX) device.deployments.shift();
}

/** Returns the status that the server should have recorded, according to the device. */
export function expectedServerStatus(
  deployment: DeploymentRecord,
): ReportableStatus | 'aborted' | 'pending' {
  if (deployment.state === 'aborted') return 'aborted';
  const last = deployment.reported.at(-1);
  if (last !== undefined) return last;
  // The server found out by itself that the device has the artifact, so the device reported
  // nothing.
  return deployment.state === 'already-installed' ? 'already-installed' : 'pending';
}

/**
 * Returns true when the device has finished the deployment and the server has acknowledged the
 * final status.
 */
export function isSettled(deployment: DeploymentRecord): boolean {
  return isFinal(deployment.state) && deployment.unacknowledgedStatus === undefined;
}
