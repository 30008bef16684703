/** Preauthorizes a device, which accepts it before its first request. */
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { publicKeyFormat, readPublicKey } from '../../crypto/public-key.ts';
import { refuse } from '../../http/refusal.ts';
import { defineEndpoint, type UserContext } from '../../pipeline/endpoint.ts';
import { identityOf } from '../../rules/identity.ts';
import type { StoredDevice } from '../../store/devices.ts';
import { audit, deviceObject, userActor } from '../../tenants/audit.ts';
import { deviceView } from './views.ts';

export const preauthorizeDevice = defineEndpoint('preauthorize-device', ({ body }, context) => {
  const identity = identityOf(body.identity_data);
  if ('reason' in identity)
    return refuse.malformed(`body: identity_data: ${identity.reason}`, {
      path: 'body.identity_data',
      expected: 'a JSON object, or its text',
    });
  const key = readPublicKey(body.pubkey);
  if ('reason' in key)
    return refuse.malformed(`body: pubkey: ${key.reason}`, {
      path: 'body.pubkey',
      expected: publicKeyFormat,
    });
  const { devices } = context.store;
  const knownDevice = devices.findByIdentity(identity.canonical);
  const knownSet = knownDevice && devices.findAuthSet(knownDevice.id, key.pem);
  if (knownDevice && knownSet?.status === 'accepted' && !body.force) {
    const reason = 'the device is already accepted with this key';
    return refuse.conflict(
      reason,
      {
        path: 'state',
        expected: 'a device that is not accepted with this key',
        actual: 'a device that is accepted with this key',
        remedy: 'nothing to do: the device can authenticate',
      },
      deviceView(knownDevice, devices.listAuthSets(knownDevice.id)),
    );
  }
  if (knownDevice && !body.force) {
    const reason = 'the identity is already known; send force: true to preauthorize the key anyway';
    const sets = devices.listAuthSets(knownDevice.id);
    const isAccepted = sets.some(({ status }) => status === 'accepted');
    const isRejected = knownDevice.status === 'rejected';
    return refuse.conflict(
      reason,
      {
        path: 'body.force',
        expected: 'true',
        ...(isAccepted && {
          remedy:
            'send force: true only to replace the accepted key of the device, which then loses its access',
        }),
        ...(isRejected && {
          remedy: 'a user has rejected the device; send force: true only to allow it again',
        }),
      },
      deviceView(knownDevice, sets),
    );
  }
  const device = { id: knownDevice?.id ?? context.random.uuid(), identity: identity.canonical };
  recordPreauthorized(context, { device, knownDevice, publicKeyPem: key.pem });
  audit(context, {
    actor: userActor(context.user),
    action: 'create',
    object: deviceObject(device),
    change: 'preauthorized',
  });
  const location = pathOf(managementOperations['get-device'], { id: device.id });
  return { status: 201, headers: { Location: location } };
});

function recordPreauthorized(
  { store: { devices }, random, nowMs }: UserContext,
  wanted: {
    device: { id: string; identity: string };
    knownDevice: StoredDevice | undefined;
    publicKeyPem: string;
  },
): void {
  const { device, knownDevice, publicKeyPem } = wanted;
  const authSet = knownDevice && devices.findAuthSet(knownDevice.id, publicKeyPem);
  const fresh = {
    id: random.uuid(),
    publicKeyPem,
    status: 'preauthorized',
    nowMs,
  } as const;
  if (authSet) devices.setAuthSetStatus(authSet, 'preauthorized', nowMs);
  else if (knownDevice) devices.recordAuthSet(knownDevice.id, fresh);
  else devices.recordFirstContact(device, fresh);
}
