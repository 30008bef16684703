/** Cases: how a device learns of its next deployment. Spec: Device deployments v1, v2 */
import {
  deploymentInstructionsV1Shape,
  deploymentInstructionsV2Shape,
} from '../../fixtures/contract/resources.ts';
import { defineScenario, type JudgingCase } from '../case.ts';
import {
  expectEach,
  expectEqual,
  expectNoBody,
  expectShape,
  expectStatus,
  expectThat,
  expectUrl,
  observed,
  observedAnswer,
  shown,
} from '../expectations.ts';
import { type AskingForm, askingForms } from '../stage/asking.ts';
import { boardType } from '../stage/sample-artifacts.ts';
import {
  abortedDeployment,
  acceptedDevice,
  activeDeployment,
  type DeviceInDeployment,
  factoryProvides,
  type OfferedDeployment,
  pendingDeployment,
} from '../stage/start-states.ts';
import type { SuiteDevice } from '../stage/suite-device.ts';

const { device_type, artifact_name } = factoryProvides;

function nothingCase({ operation, slug, words, ask }: AskingForm): JudgingCase<SuiteDevice> {
  return {
    id: `${slug}-nothing-is-204`,
    title: `${words}: a device for which nothing is pending is answered 204 without a body.`,
    requirements: ['next.nothing-is-204', 'versioning.both-versions-served'],
    covers: [`${operation} 204`],
    run: async (device) => {
      const answer = await ask(device, factoryProvides);
      expectStatus(answer, 204);
      expectNoBody(answer);
    },
  };
}

const idle = defineScenario({
  area: 'next-deployment',
  name: 'Nothing to do',
  start: 'an accepted device without a deployment',
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [
    ...askingForms.map(nothingCase),
    {
      id: 'get-without-parameter-is-400',
      title: 'GET without artifact_name or without device_type is answered 400.',
      requirements: ['next.get-parameters'],
      covers: ['get-next-deployment 400'],
      run: async (device) => {
        const queries = {
          'no artifact_name': { device_type },
          'no device_type': { artifact_name },
        };
        await expectEach(400, queries, (query) => device.call('get-next-deployment', { query }));
      },
    },
    {
      id: 'post-without-key-is-400',
      title: 'POST of version 1 without one of its two mandatory keys is answered 400.',
      requirements: ['next.post-keys'],
      covers: ['post-next-deployment 400'],
      run: async (device) => {
        const bodies = { 'no artifact_name': { device_type }, 'no device_type': { artifact_name } };
        await expectEach(400, bodies, (body) => device.call('post-next-deployment', { body }));
      },
    },
    {
      id: 'post-of-other-values-is-400',
      title: 'POST of version 1 with anything but a map of texts is answered 400.',
      requirements: ['next.post-values-are-texts'],
      run: async (device) => {
        const bodies = {
          'a number as device_type': '{"artifact_name":"a","device_type":7}',
          'null as artifact_name': '{"artifact_name":null,"device_type":"b"}',
          'an array': '[]',
          'no JSON': '{"artifact_name":',
        };
        await expectEach(400, bodies, (raw) => device.call('post-next-deployment', { raw }));
      },
    },
    {
      id: 'v2-without-field-is-400',
      title: 'POST of version 2 without device_provides or one of its two keys is answered 400.',
      requirements: ['next.v2-fields'],
      covers: ['post-next-deployment-v2 400'],
      run: async (device) => {
        const bodies = {
          'no device_provides': {},
          'the keys at the top': factoryProvides,
          'no artifact_name': { device_provides: { device_type } },
          'no device_type': { device_provides: { artifact_name } },
        };
        await expectEach(400, bodies, (body) => device.call('post-next-deployment-v2', { body }));
      },
    },
    {
      id: 'v2-of-other-types-is-400',
      title: "POST of version 2 with fields of other types than the contract's is answered 400.",
      requirements: ['next.v2-types'],
      run: async (device) => {
        const bodies = {
          'a number as device_type': { device_provides: { ...factoryProvides, device_type: 7 } },
          'a text as update_control_map': {
            device_provides: factoryProvides,
            update_control_map: 'yes',
          },
          'a text as device_provides': { device_provides: 'all' },
        };
        await expectEach(400, bodies, (body) => device.call('post-next-deployment-v2', { body }));
      },
    },
    {
      id: 'free-pairs-are-accepted',
      title:
        'A device may describe itself with further pairs, such as a checksum, in both versions.',
      requirements: ['next.free-pairs'],
      run: async (device) => {
        const provides = { ...factoryProvides, 'rootfs-image.checksum': 'abc', colour: 'blue' };
        const inV2 = { device_provides: provides };
        expectStatus(await device.call('post-next-deployment', { body: provides }), 204);
        expectStatus(await device.call('post-next-deployment-v2', { body: inV2 }), 204);
      },
    },
    {
      id: 'control-map-flag-is-accepted',
      title: 'A device may say in version 2 that it supports update control maps.',
      requirements: ['next.v2-types'],
      run: async (device) => {
        const body = { device_provides: factoryProvides, update_control_map: true };
        expectStatus(await device.call('post-next-deployment-v2', { body }), 204);
      },
    },
    {
      id: 'artifact-that-nobody-knows',
      title: 'A device may report an artifact that the server has never seen; GET names 404.',
      requirements: ['next.not-found'],
      covers: ['get-next-deployment 404'],
      observe: async (device, stage) => {
        const query = { ...factoryProvides, artifact_name: stage.newName() };
        return observedAnswer(await device.call('get-next-deployment', { query }));
      },
    },
  ],
});

function offerCase(form: AskingForm): JudgingCase<DeviceInDeployment> {
  const { operation, slug, words, ask } = form;
  const isV2 = operation === 'post-next-deployment-v2';
  return {
    id: `${slug}-pending-is-200`,
    title: `${words}: a pending deployment is answered 200 with complete instructions.`,
    requirements: [isV2 ? 'next.instructions-v2' : 'next.instructions-v1'],
    covers: [`${operation} 200`],
    run: async ({ device, artifact }) => {
      const answer = await ask(device, factoryProvides);
      expectStatus(answer, 200);
      const shape = isV2 ? deploymentInstructionsV2Shape : deploymentInstructionsV1Shape;
      const instructions = expectShape(answer, shape);
      expectEqual('artifact name', instructions.artifact.artifact_name, artifact.name);
      expectEqual('device types', instructions.artifact.device_types_compatible, [boardType]);
    },
  };
}

const pending = defineScenario({
  area: 'next-deployment',
  name: 'A pending deployment',
  start: 'a device for which a deployment waits',
  risk: 'write',
  needs: ['operator'],
  arrange: pendingDeployment,
  cases: [
    ...askingForms.map(offerCase),
    {
      id: 'id-is-the-deployment',
      title: 'Version 1 names the deployment by the id under which users know it.',
      requirements: ['next.id-of-the-deployment'],
      run: async ({ device, deploymentId }) => {
        const answer = await device.call('get-next-deployment', { query: factoryProvides });
        expectStatus(answer, 200);
        expectEqual('id', expectShape(answer, deploymentInstructionsV1Shape).id, deploymentId);
      },
    },
    {
      id: 'id-in-v2',
      title: 'Version 2 may name the deployment by its own id or by one made for the device.',
      requirements: ['next.id-per-device'],
      observe: async ({ device, deploymentId }) => {
        const body = { device_provides: factoryProvides };
        const answer = await device.call('post-next-deployment-v2', { body });
        const { id } = expectShape(answer, deploymentInstructionsV2Shape);
        return observed(id === deploymentId ? 'the id of the deployment' : 'an id of its own');
      },
    },
    {
      id: 'artifact-id-in-v2',
      title: 'Version 2 does not list an artifact id, but a server may send one.',
      requirements: ['next.artifact-id-in-v2'],
      observe: async ({ device }) => {
        const body = { device_provides: factoryProvides };
        const answer = await device.call('post-next-deployment-v2', { body });
        const { artifact } = expectShape(answer, deploymentInstructionsV2Shape);
        return observed('id' in artifact ? 'an artifact id is sent' : 'no artifact id is sent');
      },
    },
    {
      id: 'source-gives-the-artifact',
      title: 'GET on the source, without a token, gives the artifact byte by byte.',
      requirements: ['next.source-gives-the-artifact'],
      run: async ({ device, artifact }, stage) => {
        const answer = await device.call('get-next-deployment', { query: factoryProvides });
        expectStatus(answer, 200);
        const { source } = expectShape(answer, deploymentInstructionsV1Shape).artifact;
        const url = expectUrl('a source', source.uri);
        const file = await stage.session.send({ method: 'GET', url });
        expectStatus(file, 200);
        expectThat(file.bytes.equals(artifact.bytes), 'the uploaded file', 'other bytes');
      },
    },
    {
      id: 'source-expires-later',
      title: 'When the source tells when it expires, that is still to come.',
      requirements: ['next.source-expires-later'],
      run: async ({ device }, stage) => {
        const answer = await device.call('get-next-deployment', { query: factoryProvides });
        expectStatus(answer, 200);
        const { expire } = expectShape(answer, deploymentInstructionsV1Shape).artifact.source;
        if (expire === undefined) return;
        const isLater = Date.parse(expire) > stage.serverNowMs(answer);
        expectThat(isLater, 'a later moment', shown(expire));
      },
    },
    {
      id: 'other-device-type-is-offered-nothing',
      title: 'A device of a type that the artifact does not name is answered 204.',
      requirements: ['next.compatible-types-only'],
      run: async ({ device }) => {
        const query = { ...factoryProvides, device_type: 'another-board' };
        expectStatus(await device.call('get-next-deployment', { query }), 204);
      },
    },
    {
      id: 'other-device-is-offered-nothing',
      title: 'A device that the deployment does not name is answered 204.',
      requirements: ['next.own-deployments-only'],
      run: async (_, stage) => {
        const other = await acceptedDevice(stage);
        const query = factoryProvides;
        expectStatus(await other.call('get-next-deployment', { query }), 204);
      },
    },
    {
      id: 'artifact-already-installed',
      title: 'A device that already has the artifact may be offered it or be answered 204.',
      requirements: ['next.already-installed'],
      observe: async ({ device, artifact }) => {
        const query = { ...factoryProvides, artifact_name: artifact.name };
        return observedAnswer(await device.call('get-next-deployment', { query }));
      },
    },
  ],
});

function conflictCase({
  operation,
  slug,
  words,
  ask,
}: AskingForm): JudgingCase<DeviceInDeployment> {
  return {
    id: `${slug}-changed-request-is-409`,
    title: `${words}: a device that describes itself otherwise in mid-deployment is answered 409.`,
    requirements: ['next.conflict-is-409'],
    covers: [`${operation} 409`],
    run: async ({ device }) => {
      await ask(device, factoryProvides);
      const changed = { ...factoryProvides, artifact_name: 'conformance-changed' };
      expectStatus(await ask(device, changed), 409);
    },
  };
}

const conflict = defineScenario({
  area: 'next-deployment',
  name: 'A request that contradicts the first',
  start: 'a device for which a deployment waits',
  risk: 'write',
  needs: ['operator'],
  arrange: pendingDeployment,
  cases: askingForms.map(conflictCase),
});

function finalStatusCase(status: 'success' | 'failure'): JudgingCase<OfferedDeployment> {
  return {
    id: `after-${status}-is-204`,
    title: `After the device has reported ${status} the deployment is offered no more: 204.`,
    requirements: ['next.finished-is-over'],
    run: async ({ device, id }) => {
      await device.call('put-deployment-status', { path: { id }, body: { status } });
      expectStatus(await device.call('get-next-deployment', { query: factoryProvides }), 204);
    },
  };
}

const active = defineScenario({
  area: 'next-deployment',
  name: 'A deployment under way',
  start: 'a device that has been offered a deployment',
  risk: 'write',
  needs: ['operator'],
  arrange: activeDeployment,
  cases: [
    {
      id: 'asking-again-repeats',
      title: 'A device that asks again in mid-deployment, after a reboot say, gets the same one.',
      requirements: ['next.repeatable'],
      run: async ({ device, id }) => {
        await device.call('put-deployment-status', { path: { id }, body: { status: 'rebooting' } });
        const answer = await device.call('get-next-deployment', { query: factoryProvides });
        expectStatus(answer, 200);
        expectEqual('id', expectShape(answer, deploymentInstructionsV1Shape).id, id);
      },
    },
    finalStatusCase('success'),
    finalStatusCase('failure'),
  ],
});

const aborted = defineScenario({
  area: 'next-deployment',
  name: 'An aborted deployment',
  start: 'a device whose deployment a user has aborted',
  risk: 'write',
  needs: ['operator'],
  arrange: abortedDeployment,
  cases: [
    {
      id: 'after-abort-is-204',
      title: 'After the abort the deployment is offered no more: 204.',
      requirements: ['next.aborted-is-over'],
      run: async ({ device }) =>
        expectStatus(await device.call('get-next-deployment', { query: factoryProvides }), 204),
    },
  ],
});

/** Spec: Device deployments v1, v2 */
export const nextDeploymentCases = [...idle, ...pending, ...conflict, ...active, ...aborted];
