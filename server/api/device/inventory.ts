/** Attributes that a device reports. Spec: Device inventory */

import { refuse } from '../../http/refusal.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';
import { tooManyAttributes } from '../../rules/inventory.ts';

export const patchAttributes = defineEndpoint(
  'patch-attributes',
  ({ body }, { store, device, nowMs }) => {
    const tooMany = tooManyAttributes(store.inventory.list(device.id), body);
    if (tooMany) return refuse.malformed(`body: ${tooMany}`);
    store.inventory.upsert(device.id, body, nowMs);
    return { status: 200 };
  },
);

export const putAttributes = defineEndpoint(
  'put-attributes',
  ({ body }, { store, device, nowMs }) => {
    const tooMany = tooManyAttributes([], body);
    if (tooMany) return refuse.malformed(`body: ${tooMany}`);
    store.inventory.replace(device.id, body, nowMs);
    return { status: 200 };
  },
);
