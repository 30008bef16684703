/** The persistent connection of a device. Spec: Device connect */

import { refuseHandshake } from '../../http/upgrade.ts';
import type { Handover } from '../../http/upgrade-request.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';

export const connect = defineEndpoint('connect', (_input, context) => {
  const { sockets, store, clock, tenant, device, request } = context;
  const upgrade = (handover: Handover): void =>
    sockets.accept(handover, { deviceId: device.id, store, clock, journal: tenant.journal });
  return refuseHandshake(request) ?? { status: 101, upgrade };
});
