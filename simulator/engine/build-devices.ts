/** Builds the devices of a plan: their identities, keys and behaviours. */
import { keyTypes } from '../../fixtures/contract/vocabulary.ts';
import { behaviours } from '../behaviours/catalogue.ts';
import { withParameters } from '../behaviours/parameters.ts';
import { type DeviceSpec, newDevice, type SimulatedDevice } from '../device/device.ts';
import type { Identities } from '../identity/identities.ts';
import { type Cohort, cohortsOf } from '../plan/cohort.ts';
import type { FleetPlan } from '../plan/plan.ts';
import { deviceRange } from '../plan/shard.ts';
import { assignAcrossGroups, assignByWeight } from './assignment.ts';

/**
 * Name of the artifact that is installed on a device at first, unless its behaviour names another.
 */
const FACTORY_ARTIFACT = 'factory-image';

type Assignment = Pick<DeviceSpec, 'cohort' | 'keyType' | 'behaviour'>;

/**
 * Returns the devices that a plan runs, in order of index. The same plan and seed give the same
 * devices. Cohorts, keys and behaviours are assigned over the whole fleet first, so that a device
 * does not depend on the number of shards.
 */
export function buildDevices(plan: FleetPlan, identities: Identities): readonly SimulatedDevice[] {
  const { first, end } = deviceRange(plan);
  const facts = { deployedArtifact: plan.deploy };
  return assignments(plan)
    .slice(first, end)
    .map((assignment, position) =>
      newDevice({
        ...assignment,
        ...identities.of(first + position),
        keyType: identities.keyring.ownKeyType(first + position) ?? assignment.keyType,
        index: first + position,
        deviceType: plan.deviceType,
        artifactName: assignment.behaviour.hooks.installedAtStart?.(facts) ?? FACTORY_ARTIFACT,
      }),
    );
}

function assignments(plan: FleetPlan): readonly Assignment[] {
  const cohorts = cohortsOf(plan).map((cohort) => ({ choice: cohort, weight: cohort.weight }));
  const members = new Map<Cohort, number[]>();
  for (const [index, cohort] of assignByWeight(cohorts, plan.devices).entries()) {
    const indices = members.get(cohort);
    if (indices) indices.push(index);
    else members.set(cohort, [index]);
  }
  const deviceAssignments: Assignment[] = new Array(plan.devices);
  for (const [cohort, indices] of members) {
    const ownAssignments = cohortAssignments(cohort, indices.length);
    for (const [position, index] of indices.entries()) {
      const assignment = ownAssignments[position];
      if (assignment) deviceAssignments[index] = assignment;
    }
  }
  return deviceAssignments;
}

/**
 * Assigns key types and behaviours within a cohort. Behaviours are assigned within each key type,
 * so that key type and behaviour are independent.
 */
function cohortAssignments(cohort: Cohort, count: number): readonly Assignment[] {
  const keyWeights = keyTypes.map((choice) => ({ choice, weight: cohort.keys[choice] }));
  const ownKeyTypes = assignByWeight(keyWeights, count);
  const behaviourWeights = cohort.behaviours.flatMap(({ name, weight }) => {
    const choice = behaviours.get(name);
    if (choice === undefined) return [];
    return [{ choice: withParameters(choice, cohort.behaviourParameters?.[name]), weight }];
  });
  return assignAcrossGroups(behaviourWeights, ownKeyTypes).map((behaviour, position) => ({
    cohort,
    behaviour,
    keyType: ownKeyTypes[position] ?? 'ed25519',
  }));
}
