/** Cases: a device's authentication as users see it. Spec: AuthRequest; Limits */
import { acceptedDevice } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { observationOf } from '../../target/expectations.ts';

/** One more than the limit of the reference server. */
const MANY_KEYS = 101;

/** Returns the external ID that users see now. */
async function shownExternalId(context: TestContext, { id }: SuiteDevice): Promise<string> {
  const device = await context.admin.device(id);
  const externalId = device?.external_id;
  if (externalId === undefined || externalId === null) return 'none';
  return typeof externalId === 'object' ? JSON.stringify(externalId) : String(externalId);
}

/** Authenticates with another key of the device. */
async function authenticateByAnotherKey(
  context: TestContext,
  device: SuiteDevice,
  members: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const signedBy = await context.newKey('ed25519');
  const pubkey = signedBy.publicKeyPem;
  return (await device.authenticate({ members: { pubkey, ...members }, signedBy })).status;
}

const acceptedDeviceCases = defineScenario({
  area: 'authentication',
  name: 'What users see',
  start: 'an accepted device with a token',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    {
      id: 'external-id-is-seen',
      title: 'Whether users see the external_id of a device, and who can change it.',
      requirements: ['auth.external-id-seen'],
      observe: async (device, context) => {
        await device.authenticate({ members: { external_id: 'first' } });
        const earlierExternalId = await shownExternalId(context, device);
        await authenticateByAnotherKey(context, device, { external_id: 'second' });
        const byPendingKey = await shownExternalId(context, device);
        await device.authenticate({ members: { external_id: 'third' } });
        const laterExternalId = await shownExternalId(context, device);
        await context.admin.decide(device.id, device.key, 'rejected');
        await device.authenticate({ members: { external_id: 'fourth' } });
        const externalIdAfterRejection = await shownExternalId(context, device);
        const newDevice = await context.newDevice();
        const { status } = await newDevice.authenticate({ members: { external_id: 'fifth' } });
        return observationOf(
          `first contact: ${status}; reported: ${earlierExternalId}; by a pending key: ${byPendingKey}; changed: ${laterExternalId}; while it is rejected: ${externalIdAfterRejection}`,
        );
      },
    },
  ],
});

const manyKeys = defineScenario({
  area: 'authentication',
  name: 'Many keys',
  start: 'an accepted device with a token',
  effect: 'disruptive',
  needs: ['user'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    {
      id: 'many-keys',
      title: `How many keys of one identity a server keeps, of ${MANY_KEYS} that it is sent.`,
      requirements: ['auth.most-keys'],
      observe: async (device, context) => {
        const statuses = new Set<number>();
        for (let count = 1; count < MANY_KEYS; count += 1) {
          statuses.add(await authenticateByAnotherKey(context, device));
        }
        const setCount = (await context.admin.device(device.id))?.auth_sets.length ?? 0;
        return observationOf(
          `${setCount} are kept, each answered with ${[...statuses].join(' or ')}`,
        );
      },
    },
  ],
});

export const authenticationObservedCases = [...acceptedDeviceCases, ...manyKeys];
