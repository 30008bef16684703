/** Cases: the signed link to a configuration. Spec: Device deployments v1 */
import { deploymentInstructionsV1Shape } from '../../fixtures/contract/resources.ts';
import { defineScenario } from '../case.ts';
import {
  expectEach,
  expectShape,
  expectStatus,
  expectThat,
  expectUrl,
  shown,
  shownAnswer,
} from '../expectations.ts';
import type { Stage } from '../stage/stage.ts';
import { acceptedDevice, factoryProvides } from '../stage/start-states.ts';
import { withAlteredSignature, withParameter, withSegment } from '../target/altered-link.ts';
import type { Answer } from '../target/target.ts';

/** Name of the first entry of an artifact file, which is a tar file. */
const firstEntryOfArtifact = 'version';

async function configurationLink(stage: Stage, deviceType: string) {
  const device = await acceptedDevice(stage);
  await stage.operator.configure(device.id, { timezone: 'Europe/Oslo' });
  const deploymentId = await stage.operator.deployConfiguration(device.id);
  stage.ownership.owns(`deployment ${deploymentId}`, async (operator) => {
    await operator?.abort(deploymentId);
  });
  const query = { ...factoryProvides, device_type: deviceType };
  const answer = await stage.settled(
    () => device.call('get-next-deployment', { query }),
    ({ status }) => status === 200,
  );
  expectStatus(answer, 200);
  const { source } = expectShape(answer, deploymentInstructionsV1Shape).artifact;
  const uri = expectUrl('a source', source.uri);
  const get = (url: string): Promise<Answer> => stage.session.send({ method: 'GET', url });
  return { device, uri, get };
}

const link = defineScenario({
  area: 'configuration-download',
  name: 'The link',
  start: 'a device that has been offered a configuration deployment',
  risk: 'write',
  needs: ['operator'],
  arrange: (stage) => configurationLink(stage, factoryProvides.device_type),
  cases: [
    {
      id: 'link-is-signed',
      title: 'The source is a link with an expiry time and a signature in its query.',
      requirements: ['download.link-is-signed'],
      run: async ({ uri }, stage) => {
        const parameters = new URL(uri).searchParams;
        const { linkExpire, linkSignature } = stage.names;
        const isSigned = parameters.has(linkExpire) && parameters.has(linkSignature);
        expectThat(isSigned, `${linkExpire} and ${linkSignature}`, shown([...parameters.keys()]));
      },
    },
    {
      id: 'link-gives-the-configuration',
      title: 'GET on the link, without a token, is answered 200 with the configuration.',
      requirements: ['download.gives-the-configuration'],
      covers: ['download-configuration 200'],
      run: async ({ uri, get }) => {
        const answer = await get(uri);
        expectStatus(answer, 200);
        expectThat(answer.bytes.length > 0, 'a body', shownAnswer(answer));
      },
    },
    {
      id: 'configuration-is-an-artifact',
      title: 'The configuration comes as an artifact file, which devices install like any other.',
      requirements: ['download.is-an-artifact'],
      run: async ({ uri, get }) => {
        const answer = await get(uri);
        const entry = answer.bytes.subarray(0, firstEntryOfArtifact.length).toString('latin1');
        expectThat(entry === firstEntryOfArtifact, 'an artifact file', shownAnswer(answer));
      },
    },
    {
      id: 'missing-parameter-is-400',
      title: 'The link without its expiry time or without its signature is answered 400.',
      requirements: ['download.parameters-are-required'],
      covers: ['download-configuration 400'],
      run: async ({ uri, get }, stage) => {
        const { linkExpire, linkSignature } = stage.names;
        const names = { 'no expiry time': linkExpire, 'no signature': linkSignature };
        await expectEach(400, names, (name) => get(withParameter(uri, name, undefined)));
      },
    },
    {
      id: 'malformed-expiry-is-400',
      title: 'An expiry time that is no date-time is answered 400.',
      requirements: ['download.expiry-is-a-date-time'],
      run: async ({ uri, get }, stage) =>
        expectStatus(await get(withParameter(uri, stage.names.linkExpire, 'tomorrow')), 400),
    },
    {
      id: 'altered-signature-is-403',
      title: 'A signature that was changed is answered 403.',
      requirements: ['download.invalid-signature-is-403'],
      covers: ['download-configuration 403'],
      run: async ({ uri, get }) => expectStatus(await get(withAlteredSignature(uri)), 403),
    },
    {
      id: 'prolonged-link-is-403',
      title: 'An expiry time that was put off is answered 403, since the signature covers it.',
      requirements: ['download.invalid-signature-is-403'],
      run: async ({ uri, get }, stage) => {
        const later = withParameter(uri, stage.names.linkExpire, '2099-12-31T23:59:59Z');
        expectStatus(await get(later), 403);
      },
    },
    {
      id: 'past-expiry-is-403',
      title: 'An expiry time that is past is answered 403.',
      requirements: ['download.invalid-signature-is-403'],
      run: async ({ uri, get }, stage) => {
        const earlier = withParameter(uri, stage.names.linkExpire, '2020-01-01T00:00:00Z');
        expectStatus(await get(earlier), 403);
      },
    },
    {
      id: 'link-of-another-device-is-403',
      title: 'The link with the id of another device or deployment is answered 403.',
      requirements: ['download.invalid-signature-is-403'],
      run: async ({ uri, get }, stage) => {
        const segments = { 'another device': 1, 'another device type': 2, 'another deployment': 3 };
        await expectEach(403, segments, (fromEnd) =>
          get(withSegment(uri, fromEnd, stage.random.uuid())),
        );
      },
    },
  ],
});

const odd = defineScenario({
  area: 'configuration-download',
  name: 'Any device type',
  start: 'a device of the type `board 2/ø` that has been offered a configuration deployment',
  risk: 'write',
  needs: ['operator'],
  arrange: (stage) => configurationLink(stage, 'board 2/ø'),
  cases: [
    {
      id: 'odd-device-type-works',
      title: 'The link works for a device type with a space, a slash and a letter beyond ASCII.',
      requirements: ['download.any-device-type'],
      run: async ({ uri, get }) => expectStatus(await get(uri), 200),
    },
  ],
});

/** Spec: Device deployments v1, "GET /download/configuration" */
export const configurationDownloadCases = [...link, ...odd];
