/** Opens the persistent WebSocket connection of a device. Spec: Device connect */
import { refuseHandshake } from '../../http/upgrade.ts';
import type { UpgradeRequest } from '../../http/upgrade-request.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';

export const connect = defineEndpoint('connect', (_input, context) => {
  const { sockets, tenant, device, request } = context;
  const upgrade = (handover: UpgradeRequest): void =>
    sockets.accept(handover, { deviceId: device.id, tenant });
  return refuseHandshake(request) ?? { status: 101, upgrade };
});
