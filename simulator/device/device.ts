/** One device of the fleet: plain data, small enough to be held many thousand times. */
import type { DeviceConfiguration } from '../../fixtures/contract/resources.ts';
import type { KeyType, ReportableStatus } from '../../fixtures/contract/vocabulary.ts';
import type { Behaviour } from '../behaviours/behaviour.ts';
import type { DeviceProvides } from '../client/device-client.ts';
import type { Session } from '../client/session.ts';
import type { IdData, IdentityData } from '../identity/identity.ts';
import type { Cohort } from '../plan/cohort.ts';
import type { LifeState } from './life-states.ts';
import { isFinal, type UpdateState } from './update-states.ts';

/** A device's part in one deployment, as the device sees it. */
export interface DeploymentPart {
  readonly deploymentId: string;
  readonly artifactName: string;
  state: UpdateState;
  /** What the server has acknowledged, in order; the same status is never there twice in a row. */
  readonly reported: ReportableStatus[];
  /** A report that was sent and never acknowledged: the server may have it or not. */
  unanswered: ReportableStatus | undefined;
  /** The status that the server last answered with 409; it has it all the same if that came twice. */
  refused: ReportableStatus | undefined;
  /** The operator was asked to abort it; the device itself learns that from a 409 only. */
  abortAsked: boolean;
  /** Milliseconds since the Unix epoch: the first offer, the latest change of state, the end. */
  offeredMs: number | undefined;
  stateSinceMs: number | undefined;
  endedMs: number | undefined;
  /** The server answered a report with 409, and the device went on all the same. */
  abortIgnored: boolean;
  /** How often the device has begun with it. */
  beginnings: number;
  /** Reboots of this update so far. */
  reboots: number;
  /** What was installed when the update began. */
  before: Installed | undefined;
  /** What the artifact brings, once the device has all of it. */
  fetched: FetchedArtifact | undefined;
  /** What stopped the update midway, while the device has not dealt with that yet. */
  cutShort: CutShort | undefined;
}

/**
 * `power`: the device lost its power, so it restarts; `simulator`: the run ended, of which the
 * device knows nothing: it goes on as if no time had passed.
 */
type CutShort = 'power' | 'simulator';

/** What an update goes on with once its artifact is there. */
export interface FetchedArtifact {
  /** What the device provides once the artifact is installed. */
  readonly provides: DeviceProvides;
  /** The settings that the artifact carries; undefined when it is software. */
  readonly settings: Record<string, string> | undefined;
}

/** What is installed on a device. */
export type Installed = Pick<Device, 'provides' | 'configuration'>;

/** A device and all that it remembers. */
export interface Device {
  readonly index: number;
  readonly cohort: Cohort;
  readonly keyType: KeyType;
  readonly behaviour: Behaviour;
  readonly identity: IdentityData;
  /** What its id_data holds; the same as `identity` unless the user decides it. */
  readonly idData: IdData;
  /** The server's id of it, once known. */
  id: string | undefined;
  /** Absent until its key is made. */
  session: Session | undefined;
  /** What it knows of its standing from before a restart. */
  remembered: Pick<Session, 'token' | 'nextDoor'> | undefined;
  life: LifeState;
  /** What it is and what is installed on it, as it tells the server. */
  provides: DeviceProvides;
  configuration: DeviceConfiguration;
  readonly parts: DeploymentPart[];
  /** How many of the onboarding steps after first contact are done. */
  dutiesDone: number;
  inventoryDueMs: number;
  /** Cycles in a row that failed for a passing reason. */
  failuresInRow: number;
  /** How often it has changed its key. */
  keyGeneration: number;
  /** It has no power: it does not talk and holds no connection. */
  off: boolean;
  /** When its power returns, in milliseconds since the Unix epoch; undefined while it has power. */
  offUntilMs: number | undefined;
  /** What its behaviour remembers; absent until there is something. */
  memory: Record<string, number> | undefined;
}

/** What a device is made from. */
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

/** A device that has not yet asked the server for anything. */
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
    parts: [],
    dutiesDone: 0,
    inventoryDueMs: Number.NEGATIVE_INFINITY,
    failuresInRow: 0,
    keyGeneration: 0,
    off: false,
    offUntilMs: undefined,
    memory: undefined,
  };
}

/** Parts that a device remembers; older ones are forgotten. */
const PARTS_MAX = 200;

/**
 * The device's part in a deployment: a new one when it has none, the known one begun anew otherwise,
 * or as it stood when it is only the simulator that was away.
 */
export function beginPart(
  device: Device,
  deploymentId: string,
  artifactName: string,
): DeploymentPart {
  const known = device.parts.find((part) => part.deploymentId === deploymentId);
  if (known) {
    const goesOn = known.cutShort === 'simulator' && isBeforeInstall(known);
    known.cutShort = undefined;
    if (goesOn) return known;
    known.state = 'offered';
    known.beginnings++;
    return known;
  }
  const part: DeploymentPart = {
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
  rememberPart(device, part);
  return part;
}

/** Whether the device has nothing yet that could be installed. */
export function isBeforeInstall({ state }: DeploymentPart): boolean {
  return state === 'offered' || state === 'downloading';
}

/** Makes a part one of the device's; one that it has of the same deployment gives way. */
export function rememberPart(device: Device, part: DeploymentPart): void {
  const { deploymentId } = part;
  const at = device.parts.findIndex((known) => known.deploymentId === deploymentId);
  if (at >= 0) device.parts[at] = part;
  else if (device.parts.push(part) > PARTS_MAX) device.parts.shift();
}

/** What the device holds that the server must have recorded of its part. */
export function recordedStatus(part: DeploymentPart): ReportableStatus | 'aborted' | 'pending' {
  if (part.state === 'aborted') return 'aborted';
  const last = part.reported.at(-1);
  if (last !== undefined) return last;
  // The server itself found that the device has the artifact: there was nothing to report.
  return part.state === 'already-installed' ? 'already-installed' : 'pending';
}

/** Whether the part has come to an end that the server knows of. */
export function isSettled(part: DeploymentPart): boolean {
  return isFinal(part.state) && part.unanswered === undefined;
}
