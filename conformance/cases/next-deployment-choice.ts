/** Cases: which deployment a device is offered. Spec: Device deployments v1, v2 */
import {
  deploymentInstructionsV1Shape,
  deploymentInstructionsV2Shape,
} from '../../fixtures/contract/resources.ts';
import { defineScenario } from '../case.ts';
import {
  expectEqual,
  expectPresent,
  expectShape,
  expectStatus,
  observed,
} from '../expectations.ts';
import { sampleArtifacts } from '../stage/sample-artifacts.ts';
import {
  acceptedDevice,
  deploymentOf,
  factoryProvides,
  pendingDeployment,
} from '../stage/start-states.ts';

const controlMap = {
  priority: 3,
  states: { ArtifactInstall_Enter: { action: 'pause' } },
} as const;

const [neededChecksum] = sampleArtifacts.dependent.depends['rootfs-image.checksum'];

/** Provides that satisfy the artifact which depends on another, and the plain one too. */
const suitsBoth = { ...factoryProvides, 'rootfs-image.checksum': neededChecksum };

const dependent = defineScenario({
  area: 'next-deployment',
  name: 'An artifact that depends on another',
  start: 'a device for which an artifact waits that needs the checksum of the release before',
  risk: 'write',
  needs: ['operator'],
  arrange: (stage) => deploymentOf(stage, 'dependent'),
  cases: [
    {
      id: 'unmet-depends-is-204',
      title: 'A device that does not provide what the artifact depends on is answered 204.',
      requirements: ['next.depends'],
      run: async ({ device }) => {
        const body = { device_provides: factoryProvides };
        expectStatus(await device.call('post-next-deployment-v2', { body }), 204);
      },
    },
    {
      id: 'met-depends-is-200',
      title: 'A device that provides it in a free pair is offered the artifact, in version 2.',
      requirements: ['next.depends', 'next.free-pairs'],
      run: async ({ device, artifact }) => {
        const body = { device_provides: suitsBoth };
        const answer = await device.call('post-next-deployment-v2', { body });
        expectStatus(answer, 200);
        const instructions = expectShape(answer, deploymentInstructionsV2Shape);
        expectEqual('artifact name', instructions.artifact.artifact_name, artifact.name);
      },
    },
    {
      id: 'met-depends-is-200-in-v1',
      title: 'The free pairs of POST of version 1 count in the same way.',
      requirements: ['next.depends', 'next.free-pairs'],
      run: async ({ device }) =>
        expectStatus(await device.call('post-next-deployment', { body: suitsBoth }), 200),
    },
  ],
});

const several = defineScenario({
  area: 'next-deployment',
  name: 'Several deployments',
  start: 'a device for which two deployments wait',
  risk: 'write',
  needs: ['operator'],
  arrange: async (stage) => {
    const world = await pendingDeployment(stage);
    const { name } = await stage.artifact('dependent');
    const later = await stage.deploy({ artifact_name: name, devices: [world.device.id] });
    return { ...world, laterId: later.id };
  },
  cases: [
    {
      id: 'which-comes-first',
      title: 'Of two pending deployments either may be offered first.',
      requirements: ['next.oldest-first'],
      observe: async ({ device, deploymentId, laterId }) => {
        const answer = await device.call('post-next-deployment', { body: suitsBoth });
        const { id } = expectShape(answer, deploymentInstructionsV1Shape);
        const words = { [deploymentId]: 'the older one', [laterId]: 'the younger one' };
        return observed(words[id] ?? 'an id of neither');
      },
    },
  ],
});

const mapped = defineScenario({
  area: 'next-deployment',
  name: 'A deployment with an update control map',
  start: 'a device for which a deployment with an update control map waits',
  risk: 'write',
  needs: ['operator'],
  arrange: (stage) => deploymentOf(stage, 'plain', controlMap),
  cases: [
    {
      id: 'control-map-is-in-the-artifact',
      title: "A device that supports maps finds the map in `artifact`, under the deployment's id.",
      requirements: ['next.control-map'],
      run: async ({ device }) => {
        const body = { device_provides: factoryProvides, update_control_map: true };
        const answer = await device.call('post-next-deployment-v2', { body });
        expectStatus(answer, 200);
        const { id, artifact } = expectShape(answer, deploymentInstructionsV2Shape);
        const map = expectPresent('an update control map', artifact.update_control_map);
        expectEqual('id of the map', map.id, id);
        expectEqual('priority', map.priority, 3);
      },
    },
    {
      id: 'control-map-unasked',
      title: 'A device that does not say that it supports maps may be given one or none.',
      requirements: ['next.control-map-unasked'],
      observe: async ({ device }) => {
        const body = { device_provides: factoryProvides };
        const answer = await device.call('post-next-deployment-v2', { body });
        const { artifact } = expectShape(answer, deploymentInstructionsV2Shape);
        return observed(artifact.update_control_map ? 'the map is given' : 'no map is given');
      },
    },
  ],
});

const everyDevice = defineScenario({
  area: 'next-deployment',
  name: 'A deployment for all devices',
  start: 'an accepted device, and a deployment for every device of the server',
  risk: 'disruptive',
  needs: ['operator'],
  arrange: async (stage) => {
    const device = await acceptedDevice(stage);
    const { name } = await stage.artifact('plain');
    await stage.deploy({ artifact_name: name, all_devices: true });
    return device;
  },
  cases: [
    {
      id: 'all-devices-reaches-each',
      title: 'A deployment for all devices is offered to a device that it does not name.',
      requirements: ['next.all-devices'],
      run: async (device) =>
        expectStatus(await device.call('get-next-deployment', { query: factoryProvides }), 200),
    },
  ],
});

/** Spec: Device deployments v1, v2 */
export const nextDeploymentChoiceCases = [...dependent, ...several, ...mapped, ...everyDevice];
