/** Makes the devices of a plan: who they are, which key each has, how each one behaves. */
import { keyTypes } from '../../fixtures/contract/vocabulary.ts';
import type { Random } from '../../fixtures/random.ts';
import { behaviours } from '../behaviours/catalogue.ts';
import { type Device, newDevice } from '../device/device.ts';
import { identityData } from '../identity/identity.ts';
import { dealt, dealtAcross } from './assignment.ts';
import type { FleetPlan } from './plan.ts';

/** Device type of a fleet whose plan names none. */
export const defaultDeviceType = 'fleetbed-board';
/** What is installed on a device that starts with nothing particular. */
const FACTORY_ARTIFACT = 'factory-image';
const DEFAULT_ID_PREFIX = 'FB';

/**
 * The devices, by index; the same for the same plan and seed. Behaviours are dealt within each key
 * type, so that neither tells anything of the other.
 */
export function musteredDevices(plan: FleetPlan, random: Random): readonly Device[] {
  const keyWeights = keyTypes.map((choice) => ({ choice, weight: plan.keys[choice] }));
  const deviceKeyTypes = dealt(keyWeights, plan.devices);
  const behaviourWeights = plan.behaviours.flatMap(({ name, weight }) => {
    const choice = behaviours.get(name);
    return choice ? [{ choice, weight }] : [];
  });
  const deviceBehaviours = dealtAcross(behaviourWeights, deviceKeyTypes);
  const facts = { deployedArtifact: plan.deploy };
  return deviceBehaviours.map((behaviour, index) =>
    newDevice({
      index,
      keyType: deviceKeyTypes[index] ?? 'ed25519',
      behaviour,
      identity: identityData(random, index, plan.idPrefix ?? DEFAULT_ID_PREFIX),
      deviceType: plan.deviceType ?? defaultDeviceType,
      artifactName: behaviour.hooks.installedAtStart?.(facts) ?? FACTORY_ARTIFACT,
    }),
  );
}
