/** Receives the inventory attributes that a device reports. Spec: Device inventory */
import type { Attribute } from '../../../fixtures/contract/resources.ts';
import { refuse } from '../../http/refusal.ts';
import { type DeviceContext, defineEndpoint } from '../../pipeline/endpoint.ts';
import { attributesAfter, type StoredAttribute, tooManyAttributes } from '../../rules/inventory.ts';

export const patchAttributes = defineEndpoint('patch-attributes', ({ body }, context) => {
  return storeAttributes(context, context.store.inventory.list(context.device.id), body);
});

export const putAttributes = defineEndpoint('put-attributes', ({ body }, context) => {
  return storeAttributes(context, [], body);
});

function storeAttributes(
  { store, device, nowMs }: DeviceContext,
  storedAttributes: readonly StoredAttribute[],
  reported: readonly Attribute[],
) {
  const newAttributes = attributesAfter(storedAttributes, reported, nowMs);
  const tooMany = tooManyAttributes(newAttributes);
  if (tooMany) return refuse.malformed(`body: ${tooMany}`);
  store.inventory.replace(device.id, newAttributes);
  return { status: 200 } as const;
}
