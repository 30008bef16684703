/** Cases: the map that stops a device at chosen moments. Spec: UpdateControlMap */
import { wrappedControlMapShape } from '../../fixtures/contract/resources.ts';
import { defineScenario } from '../case.ts';
import {
  expectEqual,
  expectPresent,
  expectShape,
  expectStatus,
  observed,
  observedAnswer,
  shown,
} from '../expectations.ts';
import type { Stage } from '../stage/stage.ts';
import {
  acceptedDevice,
  activeDeployment,
  deploymentOf,
  factoryProvides,
  instructedId,
  type OfferedDeployment,
} from '../stage/start-states.ts';

const givenMap = {
  priority: 3,
  states: { ArtifactInstall_Enter: { action: 'pause' } },
} as const;

async function mappedDeployment(stage: Stage): Promise<OfferedDeployment> {
  const world = await deploymentOf(stage, 'plain', givenMap);
  const body = { device_provides: factoryProvides, update_control_map: true };
  const answer = await world.device.call('post-next-deployment-v2', { body });
  return { ...world, id: instructedId(answer) };
}

const mapped = defineScenario({
  area: 'update-control-map',
  name: 'A deployment with a map',
  start: 'a device that has been offered a deployment with an update control map',
  risk: 'write',
  needs: ['operator'],
  arrange: mappedDeployment,
  cases: [
    {
      id: 'active-deployment-is-200',
      title: 'The map of an active deployment is answered 200, wrapped in an object.',
      requirements: ['map.of-active-deployment', 'map.id-is-the-deployment'],
      covers: ['get-update-control-map 200'],
      run: async ({ device, id }) => {
        const answer = await device.call('get-update-control-map', { path: { id } });
        expectStatus(answer, 200);
        const { update_control_map } = expectShape(answer, wrappedControlMapShape);
        const map = expectPresent('an update control map', update_control_map);
        expectEqual('id of the map', map.id, id);
      },
    },
    {
      id: 'fields-are-as-given',
      title: 'Priority and the action of each state are those that the user gave.',
      requirements: ['map.fields'],
      run: async ({ device, id }) => {
        const answer = await device.call('get-update-control-map', { path: { id } });
        expectStatus(answer, 200);
        const { update_control_map: map } = expectShape(answer, wrappedControlMapShape);
        expectEqual('priority', map?.priority, 3);
        expectEqual('action', map?.states?.ArtifactInstall_Enter?.action, 'pause');
      },
    },
    {
      id: 'other-fields',
      title: 'A map may have fields that the contract does not show.',
      requirements: ['map.other-fields'],
      observe: async ({ device, id }) => {
        const answer = await device.call('get-update-control-map', { path: { id } });
        const { update_control_map: map } = expectShape(answer, wrappedControlMapShape);
        return observed(`the map ${shown(map)}`);
      },
    },
    {
      id: 'finished-deployment-is-404',
      title: 'After the device has reported success its map is answered 404.',
      requirements: ['map.finished-is-404'],
      covers: ['get-update-control-map 404'],
      run: async ({ device, id }) => {
        const body = { status: 'success' };
        await device.call('put-deployment-status', { path: { id }, body });
        const answer = await device.call('get-update-control-map', { path: { id } });
        expectStatus(answer, 404);
      },
    },
    {
      id: 'another-device-is-404',
      title: 'The map of a deployment of another device is answered 404.',
      requirements: ['map.unknown-is-404'],
      run: async ({ id }, stage) => {
        const other = await acceptedDevice(stage);
        expectStatus(await other.call('get-update-control-map', { path: { id } }), 404);
      },
    },
  ],
});

const plain = defineScenario({
  area: 'update-control-map',
  name: 'No map',
  start: 'a device that has been offered a deployment without a map',
  risk: 'write',
  needs: ['operator'],
  arrange: activeDeployment,
  cases: [
    {
      id: 'deployment-without-map',
      title: 'An active deployment that has no map.',
      requirements: ['map.deployment-without-one'],
      observe: async ({ device, id }) =>
        observedAnswer(await device.call('get-update-control-map', { path: { id } })),
    },
    {
      id: 'unknown-deployment-is-404',
      title: 'The map of a deployment that nobody made is answered 404.',
      requirements: ['map.unknown-is-404'],
      run: async ({ device }, stage) => {
        const path = { id: stage.random.uuid() };
        expectStatus(await device.call('get-update-control-map', { path }), 404);
      },
    },
    {
      id: 'malformed-id-is-refused',
      title: 'The map of an id that is none is answered 400 or 404.',
      requirements: ['map.malformed-id'],
      covers: ['get-update-control-map 400'],
      run: async ({ device }) => {
        const path = { id: 'no-such-form' };
        expectStatus(await device.call('get-update-control-map', { path }), 400, 404);
      },
    },
  ],
});

/** Spec: UpdateControlMap */
export const updateControlMapCases = [...mapped, ...plain];
