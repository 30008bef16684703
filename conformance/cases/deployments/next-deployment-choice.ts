/** Cases: which deployment a device is offered. Spec: Device deployments v1, v2 */
import { expectNoOffer } from '../../context/expect-no-offer.ts';
import { requireInstructions, textIn } from '../../context/instructions.ts';
import { sampleArtifacts } from '../../context/sample-artifacts.ts';
import {
  acceptedDevice,
  deploymentOf,
  factoryProvides,
  pendingDeployment,
  requireResponse,
} from '../../context/start-states.ts';
import { defineScenario } from '../../suite/case.ts';
import { expectStatus, observationOf } from '../../target/expectations.ts';

const [neededChecksum] = sampleArtifacts.dependent.depends['rootfs-image.checksum'];

/** Provides that satisfy both the dependent artifact and the plain one. */
const suitsBoth = { ...factoryProvides, 'rootfs-image.checksum': neededChecksum };

const dependent = defineScenario({
  area: 'next-deployment',
  name: 'An artifact that depends on another',
  start: 'a device with a pending artifact that depends on the checksum of the previous release',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => deploymentOf(context, 'dependent'),
  cases: [
    {
      id: 'unmet-depends-offers-nothing',
      title: 'A device that does not provide the dependency is offered nothing.',
      requirements: ['next.depends'],
      run: async ({ device }) =>
        expectNoOffer(await device.call('post-next-deployment', { body: factoryProvides })),
    },
    {
      id: 'other-depends-offers-nothing',
      title: 'A device that provides another value is offered nothing.',
      requirements: ['next.depends'],
      run: async ({ device }) => {
        const body = { ...factoryProvides, 'rootfs-image.checksum': 'another' };
        expectNoOffer(await device.call('post-next-deployment', { body }));
      },
    },
    {
      id: 'met-depends-is-offered',
      title: 'A device that provides the dependency in a free pair is offered the artifact.',
      requirements: ['next.depends'],
      run: async ({ device }) =>
        expectStatus(await device.call('post-next-deployment', { body: suitsBoth }), 200),
    },
    {
      id: 'v2-unmet-depends-offers-nothing',
      title: 'In v2, a device that does not provide the dependency is offered nothing.',
      requirements: ['next.v2-depends'],
      run: async ({ device }) => {
        const body = { device_provides: factoryProvides };
        expectNoOffer(await device.call('post-next-deployment-v2', { body }));
      },
    },
    {
      id: 'v2-other-depends-offers-nothing',
      title: 'In v2, a device that provides another value is offered nothing.',
      requirements: ['next.v2-depends'],
      run: async ({ device }) => {
        const body = { device_provides: { ...suitsBoth, 'rootfs-image.checksum': 'another' } };
        expectNoOffer(await device.call('post-next-deployment-v2', { body }));
      },
    },
    {
      id: 'v2-met-depends-is-offered',
      title: 'In v2, a device that provides the dependency in a free pair is offered the artifact.',
      requirements: ['next.v2-depends'],
      run: async ({ device }) => {
        const body = { device_provides: suitsBoth };
        expectStatus(await device.call('post-next-deployment-v2', { body }), 200);
      },
    },
  ],
});

const several = defineScenario({
  area: 'next-deployment',
  name: 'Several deployments',
  start: 'a device with two pending deployments',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const arranged = await pendingDeployment(context);
    const { name } = await context.artifact('dependent');
    const laterDeployment = await context.deploy({
      artifact_name: name,
      devices: [arranged.device.id],
    });
    return { ...arranged, laterId: laterDeployment.id };
  },
  cases: [
    {
      id: 'which-comes-first',
      title: 'Of two pending deployments either may be offered first.',
      requirements: ['next.oldest-first'],
      observe: async ({ device, deploymentId, laterId }) => {
        const response = await device.call('post-next-deployment', { body: suitsBoth });
        requireResponse('post-next-deployment', response, 200);
        const id = textIn(requireInstructions(response), 'id');
        const names = { [deploymentId]: 'the older one', [laterId]: 'the younger one' };
        return observationOf(names[id] ?? 'an ID of neither');
      },
    },
  ],
});

const everyDevice = defineScenario({
  area: 'next-deployment',
  name: 'A deployment for all devices',
  start: 'an accepted device, and a deployment for every device of the server',
  effect: 'disruptive',
  needs: ['user'],
  arrange: async (context) => {
    const device = await acceptedDevice(context);
    const { name } = await context.artifact('plain');
    await context.deploy({ artifact_name: name, all_devices: true });
    return device;
  },
  cases: [
    {
      id: 'all-devices-reaches-each',
      title: 'A deployment for all devices is offered to a device that it does not list.',
      requirements: ['next.all-devices'],
      run: async (device) =>
        expectStatus(await device.call('get-next-deployment', { query: factoryProvides }), 200),
    },
  ],
});

/** Spec: Device deployments v1, v2 */
export const nextDeploymentChoiceCases = [...dependent, ...several, ...everyDevice];
