/** Cases: the version in the path. Spec: Versioning */
import { operations } from '../../../fixtures/contract/operations.ts';
import { acceptedDevice, factoryProvides } from '../../context/start-states.ts';
import { defineScenario } from '../../suite/case.ts';
import { expectThat, observedResponse, responseSummary } from '../../target/expectations.ts';

/** A device type that only the requests of these cases have, so that defects can select them. */
const provides = { ...factoryProvides, device_type: 'conformance-versions' };

const versions = defineScenario({
  area: 'versioning',
  name: 'Versions',
  start: 'an accepted device with a token',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    {
      id: 'both-versions-are-served',
      title: 'The paths of v1 and v2, which differ only in the version, are both served.',
      requirements: ['versioning.version-in-path', 'versioning.both-versions-served'],
      covers: ['post-next-deployment 204', 'post-next-deployment-v2 204'],
      needs: ['deployments-v2'],
      run: async (device) => {
        const earlierResponse = await device.call('post-next-deployment', { body: provides });
        const body = { device_provides: provides };
        const laterResponse = await device.call('post-next-deployment-v2', { body });
        for (const response of [earlierResponse, laterResponse]) {
          const isServed = ![404, 405, 410, 501].includes(response.status);
          expectThat(isServed, 'a version that is served', responseSummary(response));
        }
      },
    },
    {
      id: 'unknown-version',
      title: 'How a path with an unknown version is answered.',
      requirements: ['versioning.unknown-version'],
      observe: async (device, context) => {
        const { path } = operations['post-next-deployment-v2'];
        const body = { device_provides: provides };
        const request = device.request('post-next-deployment-v2', { body });
        const url = path.replace('/v2/', '/v99/');
        return observedResponse(await context.client.send({ ...request, url }));
      },
    },
  ],
});

export const versioningCases = versions;
