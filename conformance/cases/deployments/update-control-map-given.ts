/** Cases: which contents a user can give to an update control map. Spec: UpdateControlMap */
import { type DeviceAndArtifact, deviceAndArtifact } from '../../context/start-states.ts';
import { AdminFailure } from '../../context/target-admin.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { observationOf } from '../../target/expectations.ts';

type ControlMapInput = NonNullable<Parameters<TestContext['deploy']>[0]['update_control_map']>;

/** Returns a phrase that says which of the maps a user can give to a deployment. */
async function acceptedMapsText(
  { device, artifact }: DeviceAndArtifact,
  context: TestContext,
  maps: Readonly<Record<string, unknown>>,
): Promise<string> {
  const observations: string[] = [];
  for (const [name, map] of Object.entries(maps)) {
    const update_control_map = map as ControlMapInput;
    const deployment = { artifact_name: artifact.name, devices: [device.id], update_control_map };
    try {
      await context.deploy(deployment);
      observations.push(`${name}: accepted`);
    } catch (error) {
      if (!(error instanceof AdminFailure)) throw error;
      observations.push(`${name}: refused`);
    }
  }
  return observations.join(', ');
}

function stateMaps(states: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    states.map((state) => [state, { states: { [state]: { action: 'pause' } } }]),
  );
}

function entryMaps(entries: readonly object[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    entries.map((entry) => [JSON.stringify(entry), { states: { ArtifactInstall_Enter: entry } }]),
  );
}

export const givenControlMapCases = defineScenario({
  area: 'update-control-map',
  name: 'Contents of a map',
  start: 'an accepted device to which a user deploys with several maps',
  effect: 'write',
  needs: ['user', 'update-control-map'],
  arrange: (context) => deviceAndArtifact(context, 'plain'),
  cases: [
    {
      id: 'other-fields',
      title: 'Which further fields and priorities a map may have.',
      requirements: ['map.other-fields'],
      observe: async (arranged, context) => {
        const maps = {
          'a further field': { priority: 1, colour: 'blue' },
          'priority 11': { priority: 11 },
        };
        return observationOf(await acceptedMapsText(arranged, context, maps));
      },
    },
    {
      id: 'state-names',
      title: 'Which states a map may name, among those that clients know and others.',
      requirements: ['map.state-names'],
      observe: async (arranged, context) => {
        const knownStates = [
          'ArtifactInstall_Enter',
          'ArtifactReboot_Enter',
          'ArtifactCommit_Enter',
        ];
        return observationOf(
          await acceptedMapsText(arranged, context, stateMaps([...knownStates, 'Download_Enter'])),
        );
      },
    },
    {
      id: 'actions',
      title: 'Which actions a state may have, among those that clients know and others.',
      requirements: ['map.actions'],
      observe: async (arranged, context) => {
        const actions = ['pause', 'continue', 'force_continue', 'fail', 'stop'];
        const maps = entryMaps(actions.map((action) => ({ action })));
        return observationOf(await acceptedMapsText(arranged, context, maps));
      },
    },
    {
      id: 'state-fields',
      title: 'Which fields a state may have beside its action.',
      requirements: ['map.state-fields'],
      observe: async (arranged, context) => {
        const fields = [
          { on_map_expire: 'fail' },
          { on_action_executed: 'continue' },
          { after: 1 },
        ];
        const maps = entryMaps(fields.map((field) => ({ action: 'pause', ...field })));
        return observationOf(await acceptedMapsText(arranged, context, maps));
      },
    },
  ],
});
