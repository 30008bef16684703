/** Which of a device's parts is served to it now. Spec: Device deployments, GET and POST next */
import type { CallingDevice, RequestContext } from '../http/endpoint.ts';
import type { StoredPart } from '../store/part-rows.ts';

/** What every handler of a device's operation is given. */
export type DeviceContext = RequestContext & { readonly device: CallingDevice };

/**
 * The active part, else one in which the device failed and may try again, else the oldest one that
 * waits. When there is none at all, the device's polls cost no query until there is.
 */
export function partToServe({ store, device, nowMs }: DeviceContext): StoredPart | undefined {
  const { parts } = store;
  const active = parts.findActive(device.id);
  if (active) return active;
  const failed = parts.findFailed(device.id);
  if (failed) return parts.retry(failed);
  const waiting = parts.findWaiting(device.id, nowMs);
  if (!waiting) parts.expectNothing(device.id);
  return waiting?.isHeldBack ? undefined : waiting;
}
