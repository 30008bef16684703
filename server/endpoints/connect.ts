/** The persistent connection of a device. Spec: Device connect */
import type { Handover } from '../handover.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { refuseHandshake } from '../http/upgrade.ts';

export const connect = defineEndpoint('connect', (_input, context) => {
  const { sockets, store, device, request } = context;
  const upgrade = (handover: Handover): void =>
    sockets.accept(handover, { deviceId: device.id, store });
  return refuseHandshake(request) ?? { status: 101, upgrade };
});
