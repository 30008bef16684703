/**
 * Decides what a device deployment serves for a poll.
 * Spec: Device deployments v1, v2
 */
import { initialStatus } from './deployment-progress.ts';
import type { DeviceDeployment } from './device-deployment.ts';

/** The data of a poll, from any of the three polling operations. */
export interface NextRequest {
  readonly deviceType: string;
  readonly artifactName: string;
  /** All pairs that the device sent, including device_type and artifact_name. */
  readonly provides: Readonly<Record<string, string>>;
  readonly wantsControlMap: boolean;
}

/** A device deployment that may be served. */
export interface ServableDeviceDeployment
  extends Pick<DeviceDeployment, 'status' | 'pollData' | 'artifactId'> {
  readonly deployment: {
    readonly forceInstallation: boolean;
    /** `configuration` for a deployment that delivers a configuration and has no artifact of a release. */
    readonly type: 'software' | 'configuration';
  };
}

/** An artifact of the deployment's release. */
export interface Candidate {
  readonly id: string;
  readonly name: string;
  readonly depends: Readonly<Record<string, readonly string[]>>;
  readonly sizeBytes: number;
}

/** The reason why no artifact of a release is suitable for a device, with the values of both. */
export type UnsuitableReason =
  | { readonly condition: 'artifact' }
  | {
      readonly condition: 'device-type' | 'depends';
      /** Name of the unmet dependency: `device_type`, or another key of the device's pairs. */
      readonly name: string;
      /** The device's value; undefined when it sent none. */
      readonly reportedValue: string | undefined;
      readonly accepted: readonly string[];
    };

export type NextDecision =
  | { readonly decision: 'serve'; readonly artifactId?: string }
  | { readonly decision: 'no-artifact'; readonly unsuitableReason: UnsuitableReason }
  | { readonly decision: 'already-installed'; readonly artifactId: string }
  | { readonly decision: 'conflict' };

/**
 * Decides on one device deployment; `candidates` are the artifacts that now exist in its release.
 */
export function decideNext(
  deviceDeployment: ServableDeviceDeployment,
  request: NextRequest,
  candidates: readonly Candidate[],
): NextDecision {
  if (
    deviceDeployment.pollData !== undefined &&
    deviceDeployment.pollData !== pollDataText(request)
  ) {
    return { decision: 'conflict' };
  }
  if (deviceDeployment.deployment.type === 'configuration') return { decision: 'serve' };
  const chosenArtifact =
    candidates.find(({ id }) => id === deviceDeployment.artifactId) ??
    chooseCandidate(candidates, request);
  if (!chosenArtifact)
    return { decision: 'no-artifact', unsuitableReason: unsuitableReason(candidates, request) };
  const isInstalled = chosenArtifact.name === request.artifactName;
  // Only in the initial status: once the device has reported, polling again must not end its
  // update.
  if (
    isInstalled &&
    !deviceDeployment.deployment.forceInstallation &&
    deviceDeployment.status === initialStatus
  ) {
    return { decision: 'already-installed', artifactId: chosenArtifact.id };
  }
  return { decision: 'serve', artifactId: chosenArtifact.id };
}

/** Returns a canonical text of a request; it does not depend on the order of the pairs. */
export function pollDataText({
  provides,
  wantsControlMap,
}: Pick<NextRequest, 'provides' | 'wantsControlMap'>): string {
  const pairs = Object.entries(provides).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([pairs, wantsControlMap]);
}

/** Returns the request of a canonical text. */
export function parsePollData(text: string): NextRequest {
  const [pairs, wantsControlMap] = JSON.parse(text) as [[string, string][], boolean];
  const provides = Object.fromEntries(pairs);
  const { device_type: deviceType = '', artifact_name: artifactName = '' } = provides;
  return { deviceType, artifactName, provides, wantsControlMap };
}

/**
 * Returns why no artifact of a release is suitable for a device; the device type is checked first.
 */
function unsuitableReason(
  candidates: readonly Candidate[],
  { provides }: NextRequest,
): UnsuitableReason {
  if (candidates.length === 0) return { condition: 'artifact' };
  const name = 'device_type';
  const reportedValue = provides[name];
  const ofType = candidates.filter(
    ({ depends }) => !depends[name] || fits(depends, name, reportedValue),
  );
  const [smallest] = sortBySize(ofType);
  if (!smallest) {
    const acceptedTypes = [...new Set(candidates.flatMap(({ depends }) => depends[name] ?? []))];
    return { condition: 'device-type', name, reportedValue, accepted: acceptedTypes };
  }
  const unmet = unmetIn(smallest.depends, provides) ?? name;
  const acceptedValues = smallest.depends[unmet] ?? [];
  return {
    condition: 'depends',
    name: unmet,
    reportedValue: ownProperty(provides, unmet),
    accepted: acceptedValues,
  };
}

/** Returns the smallest artifact whose dependencies the device meets. */
function chooseCandidate(
  candidates: readonly Candidate[],
  request: NextRequest,
): Candidate | undefined {
  return sortBySize(candidates.filter(({ depends }) => !unmetIn(depends, request.provides)))[0];
}

function sortBySize(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted((a, b) => a.sizeBytes - b.sizeBytes);
}

/** Returns the name of the first dependency that the device does not meet. */
function unmetIn(depends: Candidate['depends'], provides: NextRequest['provides']) {
  return Object.keys(depends).find((name) => !fits(depends, name, ownProperty(provides, name)));
}

function fits(depends: Candidate['depends'], name: string, value: string | undefined): boolean {
  return value !== undefined && depends[name]?.includes(value) === true;
}

function ownProperty(provides: NextRequest['provides'], name: string): string | undefined {
  return Object.hasOwn(provides, name) ? provides[name] : undefined;
}
