/** Manages tags: attributes that users give to a device. An ETag protects against lost updates. */
import type { Attribute } from '../../../fixtures/contract/resources.ts';
import { Refusal, refuse } from '../../http/refusal.ts';
import { defineEndpoint, type UserContext } from '../../pipeline/endpoint.ts';
import { attributesAfter, tooManyTags } from '../../rules/inventory.ts';
import { ifMatchHolds } from '../../rules/preconditions.ts';
import { audit, deviceObject, userActor } from '../../tenants/audit.ts';
import { provisionedDevice } from './provisioned-devices.ts';

export const replaceTags = defineEndpoint('replace-tags', ({ parameters, body }, context) => {
  return writeTags(context, { deviceId: parameters.id, tags: body, isWhole: true });
});

export const addTags = defineEndpoint('add-tags', ({ parameters, body }, context) => {
  return writeTags(context, { deviceId: parameters.id, tags: body, isWhole: false });
});

interface TagChange {
  readonly deviceId: string;
  readonly tags: readonly Attribute[];
  /** True if tags that are not in the request are removed. */
  readonly isWhole: boolean;
}

function writeTags(context: UserContext, { deviceId, tags, isWhole }: TagChange) {
  const { store, request, random, user, nowMs } = context;
  const device = provisionedDevice(context, deviceId);
  if (device instanceof Refusal) return device;
  if (!ifMatchHolds(request.headers['if-match'], store.tags.version(device.id))) {
    return refuse.preconditionFailed(
      'the ETag does not match; read the device again and send its current ETag',
      { path: 'header.If-Match', expected: 'the current ETag of the device' },
    );
  }
  const newTags = attributesAfter(isWhole ? [] : store.tags.list(device.id), tags, nowMs);
  const tooMany = tooManyTags(newTags);
  if (tooMany) return refuse.malformed(`body: ${tooMany}`);
  store.tags.replace(device.id, newTags);
  store.tags.setVersion(device.id, random.uuid());
  audit(context, {
    actor: userActor(user),
    action: 'update',
    object: deviceObject(device),
    change: `tags: ${JSON.stringify(tags.map(({ name, value }) => ({ name, value })))}`,
  });
  return { status: 200 } as const;
}
