/** Cases: audit entries of actions by a device. Spec: AuditLog entry */
import { acceptedDevice, pendingDevice, requireStatus } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { observationOf } from '../../target/expectations.ts';
import { ENTRY_WAIT_MAX_MS, entries, textAt } from './audit-reading.ts';

/** IDs of two devices that have acted in different ways. */
interface Actors {
  /** First seen unknown, then again with another key. */
  readonly pending: string;
  /** Accepted before its first contact. */
  readonly trusted: string;
}

async function actors(context: TestContext): Promise<Actors> {
  const device = await pendingDevice(context);
  const signedBy = await context.newKey();
  const members = { pubkey: signedBy.publicKeyPem };
  requireStatus('a new key that waits', await device.authenticate({ members, signedBy }), 401);
  return { pending: device.id, trusted: (await acceptedDevice(context)).id };
}

/** Returns the actions with the device as actor, oldest first. */
async function loggedActions(context: TestContext, deviceId: string): Promise<readonly string[]> {
  const query = { object_id: deviceId, actor_type: 'device', sort: 'asc' };
  return (await entries(context, query)).map((entry) => textAt(entry, 'action') ?? 'nothing');
}

export const auditDeviceActions = defineScenario({
  area: 'audit-log',
  name: 'Actions of devices',
  start: 'an unknown device that came with two keys, and a pre-authorized device',
  effect: 'write',
  needs: ['user'],
  arrange: actors,
  cases: [
    {
      id: 'acts-of-devices',
      title: 'Which entries have the device itself as their actor.',
      requirements: ['audit.device-actors'],
      observe: async ({ pending, trusted }, context) => {
        const [ofPending, ofTrusted] = await context.eventually(
          async () =>
            [await loggedActions(context, pending), await loggedActions(context, trusted)] as const,
          ([unknown, known]) => unknown.length > 1 && known.length > 0,
          ENTRY_WAIT_MAX_MS,
        );
        const actionsText = (actions: readonly string[]): string => actions.join(', ') || 'none';
        return observationOf(
          `of a pending device: ${actionsText(ofPending)}; of an accepted one: ${actionsText(ofTrusted)}`,
        );
      },
    },
  ],
});
