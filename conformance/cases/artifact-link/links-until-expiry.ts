/**
 * Cases: an issued link works until it expires, whatever happens in the meantime.
 * Spec: ArtifactLink; Device deployments v1
 */
import { parsedJson } from '../../../fixtures/base/json.ts';
import {
  type ConfigurationOffer,
  configurationOffer,
  deployedPairs,
} from '../../context/configuration-offer.ts';
import { report } from '../../context/deployment-life.ts';
import { expectWhole, type LinkedFile, linkedFile } from '../../context/followed-link.ts';
import { ownArtifact } from '../../context/own-artifact.ts';
import { acceptedDevice, factoryProvides } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { pairsIn } from '../../target/configuration-body.ts';
import { expectEach, expectMembers, NotObservable } from '../../target/expectations.ts';
import { isMap } from '../../target/json-members.ts';
import type { HttpResponse } from '../../target/response.ts';

/** A link, which was followed once, to an artifact that the case has uploaded. */
interface OwnLink extends LinkedFile {
  readonly id: string;
}

async function ownLink(context: TestContext): Promise<OwnLink> {
  const { id, bytes } = await ownArtifact(context, { content: context.random.bytes(5000) });
  return { ...(await linkedFile(context, { id, bytes })), id };
}

/** Changes to an artifact after a link to it was issued, in order. */
const changesToArtifact: Readonly<
  Record<string, (link: OwnLink, device: SuiteDevice, context: TestContext) => Promise<unknown>>
> = {
  'a newer link': ({ id }, device) => device.call('get-artifact-link', { path: { id } }),
  'an edit': ({ id }, _, context) =>
    context.admin.describeArtifact(id, `edited ${context.newName()}`),
  'a deployment': async ({ id }, device, context) => {
    const name = nameIn(await device.call('get-artifact', { path: { id } }));
    return context.deploy({ artifact_name: name, devices: [device.id] });
  },
};

/** Returns the name in a response about an artifact. @throws NotObservable */
export function nameIn({ text }: Pick<HttpResponse, 'text'>): string {
  const artifact = parsedJson(text);
  if (isMap(artifact) && typeof artifact.name === 'string') return artifact.name;
  throw new NotObservable('the artifact is shown without its name');
}

const toArtifacts = defineScenario<OwnLink>({
  area: 'artifact-link',
  name: 'Changes after a link was issued',
  start: 'a link to its own artifact, from which the file was downloaded',
  effect: 'write',
  needs: ['user'],
  arrange: ownLink,
  cases: [
    {
      id: 'link-outlives-changes',
      title: 'A link still returns the file after a newer link, an edit and a deployment.',
      requirements: ['link.valid-until-expiry'],
      run: async (link, context) => {
        const device = await acceptedDevice(context);
        for (const change of Object.values(changesToArtifact)) {
          await change(link, device, context);
          expectWhole(link, await link.follow());
        }
      },
    },
  ],
});

/** Changes after a configuration link was issued, in order. */
const changesToConfiguration: Readonly<
  Record<string, (offer: ConfigurationOffer, context: TestContext) => unknown>
> = {
  'the device has asked again': ({ device }) =>
    device.call('get-next-deployment', { query: factoryProvides }),
  'the device has got another token': ({ device }) => device.authenticate(),
  'the device has reported downloading': (offer) => report(offer, { status: 'downloading' }),
  'a user has changed the configuration': ({ device }, context) =>
    context.admin.configure(device.id, { timezone: 'UTC', size: 'large' }),
  'the device has reported success': (offer) => report(offer, { status: 'success' }),
  'a user has deployed another configuration': ({ device }, context) =>
    context.deployConfiguration(device),
};

const toConfigurations = defineScenario<ConfigurationOffer>({
  area: 'configuration-download',
  name: 'Changes after a link was issued',
  start: 'a device that has been offered a configuration deployment',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => configurationOffer(context),
  cases: [
    {
      id: 'link-outlives-changes',
      title:
        'The link still returns what was deployed after requests, reports and newer configurations.',
      requirements: ['download.valid-until-expiry'],
      run: (offer, context) =>
        expectEach(200, changesToConfiguration, async (change, what) => {
          await change(offer, context);
          const response = await offer.get(offer.uri);
          const pairs = response.status === 200 && (await pairsIn(response.bytes));
          if (pairs) expectMembers(`pairs after ${what}`, pairs, deployedPairs);
          return response;
        }),
    },
  ],
});

/** Spec: ArtifactLink; Device deployments v1 */
export const linkUntilExpiryCases = [...toArtifacts, ...toConfigurations];
