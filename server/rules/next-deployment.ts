/** Which deployment a device is served next. Spec: Device deployments, GET and POST next */
import type { DeviceDeploymentStatus } from '../../fixtures/contract/vocabulary.ts';

/** What a device says of itself, whichever of the three doors it comes through. */
export interface NextRequest {
  readonly deviceType: string;
  readonly artifactName: string;
  /** All pairs, device_type and artifact_name among them. */
  readonly provides: Readonly<Record<string, string>>;
  readonly takesControlMap: boolean;
}

/** A part that may be served. */
export interface ServablePart {
  readonly status: DeviceDeploymentStatus;
  /** Canonical text of the request it was first served for; absent before that. */
  readonly request?: string;
  readonly artifactId?: string;
  readonly forceInstallation: boolean;
  /** Configuration deployments bring their own artifact. */
  readonly isConfiguration: boolean;
}

/** An artifact of the deployment's release. */
export interface Candidate {
  readonly id: string;
  readonly name: string;
  readonly depends: Readonly<Record<string, readonly string[]>>;
  readonly sizeBytes: number;
}

export type NextDecision =
  | { readonly decision: 'serve'; readonly artifactId?: string }
  | { readonly decision: 'no-artifact' }
  | { readonly decision: 'already-installed'; readonly artifactId: string }
  | { readonly decision: 'conflict' };

/** Decides on one part; `candidates` are the artifacts that exist now under the release's name. */
export function decideNext(
  part: ServablePart,
  request: NextRequest,
  candidates: readonly Candidate[],
): NextDecision {
  if (part.request !== undefined && part.request !== requestText(request)) {
    return { decision: 'conflict' };
  }
  if (part.isConfiguration) return { decision: 'serve' };
  const chosen = candidates.find(({ id }) => id === part.artifactId) ?? choose(candidates, request);
  if (!chosen) return { decision: 'no-artifact' };
  const isInstalled = chosen.name === request.artifactName;
  // Once the device has reported anything, asking again must be safe in the middle of an update.
  if (isInstalled && !part.forceInstallation && part.status === 'pending') {
    return { decision: 'already-installed', artifactId: chosen.id };
  }
  return { decision: 'serve', artifactId: chosen.id };
}

/** One text for equal requests, whatever the order of the pairs. */
export function requestText({ provides, takesControlMap }: NextRequest): string {
  const pairs = Object.entries(provides).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([pairs, takesControlMap]);
}

/** The smallest artifact whose every dependency the device meets. */
function choose(candidates: readonly Candidate[], request: NextRequest): Candidate | undefined {
  return candidates
    .filter(({ depends }) => isMet(depends, request.provides))
    .toSorted((a, b) => a.sizeBytes - b.sizeBytes)[0];
}

function isMet(depends: Candidate['depends'], provides: Readonly<Record<string, string>>): boolean {
  return Object.entries(depends).every(([name, accepted]) => {
    const value = Object.hasOwn(provides, name) ? provides[name] : undefined;
    return value !== undefined && accepted.includes(value);
  });
}
