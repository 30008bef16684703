/** The limit of accepted devices that holds for a tenant, and whether it leaves room for one more. */
import type { DeviceStatus } from '../fixtures/contract/vocabulary.ts';
import type { RequestContext } from './http/endpoint.ts';
import { mayAccept } from './rules/device-limit.ts';

type LimitContext = Pick<RequestContext, 'store' | 'settings'>;

/** The tenant's own limit, else the server's; -1 when there is none. */
export function deviceLimit({ store, settings }: LimitContext): number {
  return store.tenantSettings.deviceLimit() ?? settings.deviceLimit;
}

/** Whether a key of the device may be accepted; a device that is not known yet has no status. */
export function hasRoomFor(context: LimitContext, device?: { status: DeviceStatus }): boolean {
  return mayAccept({
    limit: deviceLimit(context),
    acceptedCount: context.store.devices.acceptedCount(),
    isAccepted: device?.status === 'accepted',
  });
}
