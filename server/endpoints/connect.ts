/** The persistent connection of a device. Spec: Device connect */
import type { Handover } from '../handover.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { refuseHandshake } from '../http/upgrade.ts';

export const connect = defineEndpoint('connect', (_input, context) => {
  const { sockets, store, clock, tenant, device, request } = context;
  const upgrade = (handover: Handover): void =>
    sockets.accept(handover, { deviceId: device.id, store, clock, journal: tenant.journal });
  return refuseHandshake(request) ?? { status: 101, upgrade };
});
