/** One device of the fleet: plain data, small enough to hold many thousands of them. */
import type { DeviceConfiguration } from '../../fixtures/contract/resources.ts';
import type { KeyType, ReportableStatus } from '../../fixtures/contract/vocabulary.ts';
import type { Behaviour } from '../behaviours/behaviour.ts';
import type { DeviceProvides } from '../client/device-client.ts';
import type { Session } from '../client/session.ts';
import type { IdData, IdentityData } from '../identity/identity.ts';
import type { Cohort } from '../plan/cohort.ts';
import type { LifeState } from './life-states.ts';
import { isFinal, type UpdateState } from './update-states.ts';

/** A device deployment, as the device sees it. */
export interface DeviceDeployment {
  readonly deploymentId: string;
  readonly artifactName: string;
  state: UpdateState;
  /** Statuses that the server has acknowledged, in order; never the same one twice in a row. */
  readonly reported: ReportableStatus[];
  /** A report that was sent and never acknowledged: the server may or may not have it. */
  unanswered: ReportableStatus | undefined;
  /**
   * The status that the server last answered with 409; if that happened twice, the server has it
   * anyway.
   */
  refused: ReportableStatus | undefined;
  /** The operator was asked to abort it; the device itself learns of that only from a 409. */
  abortAsked: boolean;
  /** Milliseconds since the Unix epoch: the first offer, the latest change of state, the end. */
  offeredMs: number | undefined;
  stateSinceMs: number | undefined;
  endedMs: number | undefined;
  /** The server answered a report with 409, and the device continued anyway. */
  abortIgnored: boolean;
  /** How often the device has started it. */
  beginnings: number;
  /** Reboots of this update so far. */
  reboots: number;
  /** What was installed when the update started. */
  before: Installed | undefined;
  /** Contents of the artifact, once the device has all of it. */
  fetched: FetchedArtifact | undefined;
  /** What interrupted the update, until the device has handled it. */
  cutShort: CutShort | undefined;
}

/**
 * `power`: the device lost power, so it restarts; `simulator`: the run ended, which the device does
 * not notice: it continues as if no time had passed.
 */
type CutShort = 'power' | 'simulator';

/** What an update continues with once its artifact is available. */
export interface FetchedArtifact {
  /** What the device provides once the artifact is installed. */
  readonly provides: DeviceProvides;
  /** Settings in the artifact; undefined when it is software. */
  readonly settings: Record<string, string> | undefined;
}

/** What is installed on a device. */
export type Installed = Pick<Device, 'provides' | 'configuration'>;

/** A device and its state. */
export interface Device {
  readonly index: number;
  readonly cohort: Cohort;
  readonly keyType: KeyType;
  readonly behaviour: Behaviour;
  readonly identity: IdentityData;
  /** Contents of its id_data; the same as `identity` unless the user overrides it. */
  readonly idData: IdData;
  /** The server's ID for the device, once known. */
  id: string | undefined;
  /** Absent until its key is created. */
  session: Session | undefined;
  /** Session state from before a restart. */
  remembered: Pick<Session, 'token' | 'nextEndpoint'> | undefined;
  life: LifeState;
  /** Device type and installed software, as reported to the server. */
  provides: DeviceProvides;
  configuration: DeviceConfiguration;
  readonly deployments: DeviceDeployment[];
  /** Number of completed onboarding steps after first contact. */
  onboardingDone: number;
  inventoryDueMs: number;
  /** Consecutive cycles that failed for a transient reason. */
  failuresInRow: number;
  /** Requests for the next deployment in this run. */
  polls: number;
  /** How often it has changed its key. */
  keyGeneration: number;
  /** The device has no power: it sends nothing and holds no connection. */
  off: boolean;
  /** When its power returns, in milliseconds since the Unix epoch; undefined while it has power. */
  offUntilMs: number | undefined;
  /** Memory of its behaviour; absent until used. */
  memory: Record<string, number> | undefined;
}

/** What a device is built from. */
export interface DeviceSpec {
  readonly index: number;
  readonly cohort: Cohort;
  readonly keyType: KeyType;
  readonly behaviour: Behaviour;
  readonly identity: IdentityData;
  readonly idData: IdData;
  readonly deviceType: string;
  /** Name of the artifact that is installed at the start. */
  readonly artifactName: string;
}

/** Returns a device that has not contacted the server yet. */
export function newDevice(spec: DeviceSpec): Device {
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
    remembered: undefined,
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

/** Deployments that a device remembers; older ones are dropped. */
const DEPLOYMENTS_MAX = 200;

/**
 * Returns the device deployment: a new one when there is none, otherwise the known one started
 * again, or unchanged when only the simulator was interrupted.
 */
export function beginDeployment(
  device: Device,
  deploymentId: string,
  artifactName: string,
): DeviceDeployment {
  const known = device.deployments.find((deployment) => deployment.deploymentId === deploymentId);
  if (known) {
    const continues = known.cutShort === 'simulator' && isBeforeInstall(known);
    known.cutShort = undefined;
    if (continues) return known;
    known.state = 'offered';
    known.beginnings++;
    return known;
  }
  const deployment: DeviceDeployment = {
    deploymentId,
    artifactName,
    state: 'offered',
    reported: [],
    unanswered: undefined,
    refused: undefined,
    abortAsked: false,
    offeredMs: undefined,
    stateSinceMs: undefined,
    endedMs: undefined,
    abortIgnored: false,
    beginnings: 1,
    reboots: 0,
    before: undefined,
    fetched: undefined,
    cutShort: undefined,
  };
  rememberDeployment(device, deployment);
  return deployment;
}

/** Returns true while the device has nothing yet that could be installed. */
export function isBeforeInstall({ state }: DeviceDeployment): boolean {
  return state === 'offered' || state === 'downloading';
}

/** Adds a device deployment; replaces an existing one of the same deployment. */
export function rememberDeployment(device: Device, deployment: DeviceDeployment): void {
  const { deploymentId } = deployment;
  const at = device.deployments.findIndex((known) => known.deploymentId === deploymentId);
  if (at >= 0) device.deployments[at] = deployment;
  else if (device.deployments.push(deployment) > DEPLOYMENTS_MAX) device.deployments.shift();
}

/** Returns the status that the server must have recorded, judging by the device. */
export function recordedStatus(
  deployment: DeviceDeployment,
): ReportableStatus | 'aborted' | 'pending' {
  if (deployment.state === 'aborted') return 'aborted';
  const last = deployment.reported.at(-1);
  if (last !== undefined) return last;
  // The server itself found that the device has the artifact: there was nothing to report.
  return deployment.state === 'already-installed' ? 'already-installed' : 'pending';
}

/** Returns true when the device deployment has ended and the server knows it. */
export function isSettled(deployment: DeviceDeployment): boolean {
  return isFinal(deployment.state) && deployment.unanswered === undefined;
}
