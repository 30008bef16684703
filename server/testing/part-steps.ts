/** Steps in the life of a part, in tests of the store: a rule decides, the store records it. */
import type { DeviceDeploymentStatus } from '../../fixtures/contract/vocabulary.ts';
import {
  type DeviceDeployment,
  type Offer,
  offered,
  reported,
  retried,
  type StatusReport,
  settled,
} from '../rules/device-deployment.ts';
import type { DeploymentDeviceStore } from '../store/deployment-devices.ts';
import type { StoredPart } from '../store/part-rows.ts';

/** Serves the part. */
export function recordOffer(
  parts: DeploymentDeviceStore,
  part: StoredPart,
  offer: Offer,
): StoredPart {
  return record(parts, part, { changed: offered(part, offer), nowMs: offer.nowMs });
}

/** Takes a report of the part's device. @throws Error when the part refuses it */
export function recordReport(
  parts: DeploymentDeviceStore,
  part: StoredPart,
  { nowMs, ...report }: StatusReport & { readonly nowMs: number },
): StoredPart {
  const changed = reported(part, report, nowMs);
  if ('because' in changed) throw new Error(changed.because);
  return record(parts, part, { changed, nowMs });
}

/** Moves the part to a status that the server decides. */
export function recordStatus(
  parts: DeploymentDeviceStore,
  part: StoredPart,
  { status, nowMs }: { readonly status: DeviceDeploymentStatus; readonly nowMs: number },
): StoredPart {
  return record(parts, part, { changed: settled(part, status, nowMs), nowMs });
}

/** Begins one of the part's retries. */
export function recordRetry(parts: DeploymentDeviceStore, part: StoredPart): StoredPart {
  return record(parts, part, { changed: retried(part), nowMs: 0 });
}

/** Records the changed part; as it is stored then. */
function record(
  parts: DeploymentDeviceStore,
  part: StoredPart,
  { changed, nowMs }: { readonly changed: DeviceDeployment; readonly nowMs: number },
): StoredPart {
  parts.save(part, changed, nowMs);
  return parts.find(part.deployment.id, part.deviceId) ?? part;
}
