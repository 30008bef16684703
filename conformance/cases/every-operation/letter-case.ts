/**
 * Cases: strings that differ only in letter case are different.
 * Spec: Resources and their fields; Authentication
 */
import { configurationOffer } from '../../context/configuration-offer.ts';
import { ownArtifact } from '../../context/own-artifact.ts';
import {
  acceptedDevice,
  activeDeployment,
  factoryProvides,
  type OfferedDeployment,
  preauthorizedDevice,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { withParameter, withSegment } from '../../target/altered-link.ts';
import {
  describeValue,
  expectEach,
  expectEqual,
  expectJson,
  expectStatus,
  NotObservable,
  observationOf,
} from '../../target/expectations.ts';
import { isMap } from '../../target/json-members.ts';

/** Returns the text with the case of each letter swapped. */
function swapped(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

/** Returns true for hexadecimal text, whose letter case has no meaning. */
function isHexadecimal(text: string): boolean {
  return /^[0-9a-f]*$/i.test(text);
}

/** A serial number with capital and small letters. */
const serial = 'Serial-aB';

const trusted = defineScenario<SuiteDevice>({
  area: 'authentication',
  name: 'Capital letters',
  start: 'an accepted device whose identity has letters',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const device = await preauthorizedDevice(context, 'ecdsa', { board: serial });
    expectStatus(await device.authenticate(), 200);
    return device;
  },
  cases: [
    {
      id: 'signature-in-other-case-is-refused',
      title: 'A signature whose Base64 has changed letter case is refused.',
      requirements: ['auth.signature-must-verify'],
      run: async (device) => {
        const text = device.authRequest();
        const signature = device.key.sign(Buffer.from(text)).toString('base64');
        const texts = {
          'in small letters': signature.toLowerCase(),
          'in capital letters': signature.toUpperCase(),
          'with letters swapped': swapped(signature),
        };
        await expectEach([400, 401, 403], texts, (each) =>
          device.authenticate({ text, signature: each }),
        );
      },
    },
    {
      id: 'identity-in-other-case-is-another',
      title: 'An identity in another letter case is that of another device.',
      requirements: ['auth.first-contact-is-401', 'auth.identity-is-the-content'],
      run: async (device, context) => {
        // The serial differs too, because the cleanup identifies the two devices by it.
        const turned = { serial: swapped(String(device.identity.serial)), board: swapped(serial) };
        const otherDevice = await context.newDevice('ecdsa', turned);
        const id_data = JSON.stringify({ ...device.identity, ...turned });
        // With another key, a server that takes both for one device would answer 401 as well.
        const { key: signedBy } = device;
        const members = { id_data, pubkey: signedBy.publicKeyPem };
        expectStatus(await otherDevice.authenticate({ members, signedBy }), 401);
      },
    },
  ],
});

const texts = defineScenario<SuiteDevice>({
  area: 'inventory',
  name: 'Capital letters',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    {
      id: 'names-in-other-case-are-others',
      title: 'Attributes whose names differ in letter case are two attributes.',
      requirements: ['inventory.patch-adds'],
      run: async (device, context) => {
        const body = ['probe', 'Probe', 'PROBE'].map((name) => ({ name, value: `as ${name}` }));
        expectStatus(await device.call('patch-attributes', { body }), 200);
        const shownAttributes = await context.eventually(
          () => context.admin.attributes(device.id),
          (all) => all.some(({ name }) => name === 'PROBE'),
        );
        const probes = shownAttributes.filter(({ name }) => name.toLowerCase() === 'probe');
        const values = probes.map(({ value }) => value).sort();
        expectEqual('values', values, ['as PROBE', 'as Probe', 'as probe']);
      },
    },
  ],
});

const configurations = defineScenario<SuiteDevice>({
  area: 'configuration',
  name: 'Capital letters',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    {
      id: 'keys-in-other-case-are-others',
      title: 'Keys that differ in letter case are two keys.',
      requirements: ['configuration.any-name'],
      run: async (device) => {
        const pairs = { probe: 'small', Probe: 'mixed', PROBE: 'capital' };
        expectStatus(await device.call('put-configuration', { body: pairs }), 204);
        const configuration = expectJson(await device.call('get-configuration'));
        if (!isMap(configuration))
          throw new NotObservable(`the store was read as ${describeValue(configuration)}`);
        const { probe, Probe, PROBE } = configuration;
        expectEqual('pairs', { probe, Probe, PROBE }, pairs);
      },
    },
  ],
});

/** The value on which the artifact depends, with capital and small letters. */
const flavour = 'Vanilla-aB';

async function deviceWithFlavouredRelease(context: TestContext): Promise<SuiteDevice> {
  const device = await acceptedDevice(context);
  const name = context.newName();
  const depends = { flavour: [flavour] };
  await ownArtifact(context, { name, content: Buffer.from('for one flavour'), depends });
  await context.deploy({ artifact_name: name, devices: [device.id] });
  return device;
}

const offers = defineScenario<SuiteDevice>({
  area: 'next-deployment',
  name: 'Capital letters',
  start: 'a device with a pending artifact that depends on a string with letters',
  effect: 'write',
  needs: ['user'],
  arrange: deviceWithFlavouredRelease,
  cases: [
    {
      id: 'depends-in-other-case-offers-nothing',
      title: 'A device that provides the string in another letter case is offered nothing.',
      requirements: ['next.depends'],
      run: async (device) => {
        for (const otherFlavour of [
          flavour.toLowerCase(),
          flavour.toUpperCase(),
          swapped(flavour),
        ]) {
          const body = { ...factoryProvides, flavour: otherFlavour };
          const { status } = await device.call('post-next-deployment', { body });
          // A server may answer 409 to a request that conflicts with the one before.
          expectEqual(`offer for ${otherFlavour}`, status === 200, false);
        }
      },
    },
    {
      id: 'v2-depends-in-other-case-offers-nothing',
      title: 'In v2, a device that provides the string in another letter case is offered nothing.',
      requirements: ['next.v2-depends'],
      run: async (device) => {
        for (const otherFlavour of [
          flavour.toLowerCase(),
          flavour.toUpperCase(),
          swapped(flavour),
        ]) {
          const body = { device_provides: { ...factoryProvides, flavour: otherFlavour } };
          const { status } = await device.call('post-next-deployment-v2', { body });
          expectEqual(`offer for ${otherFlavour}`, status === 200, false);
        }
      },
    },
  ],
});

const links = defineScenario({
  area: 'configuration-download',
  name: 'Capital letters',
  start: 'a device that has been offered a configuration deployment',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => configurationOffer(context),
  cases: [
    {
      id: 'signature-in-other-case-is-403',
      title: 'The link with the letter case of its signature changed is answered with 403.',
      requirements: ['download.invalid-signature-is-403'],
      run: async ({ uri, get }, { names: { linkSignature } }) => {
        const signature = new URL(uri).searchParams.get(linkSignature) ?? '';
        if (isHexadecimal(signature)) throw new NotObservable('the signature is a number');
        const wrongSpellings = [signature.toLowerCase(), swapped(signature)];
        for (const wrongSpelling of wrongSpellings) {
          expectStatus(await get(withParameter(uri, linkSignature, wrongSpelling)), 403);
        }
      },
    },
    {
      id: 'device-type-in-other-case-is-403',
      title: 'The link with its device type in capital letters is answered with 403.',
      requirements: ['download.signature-covers-path'],
      run: async ({ uri, get, deviceType }) =>
        expectStatus(await get(withSegment(uri, 2, deviceType.toUpperCase())), 403),
    },
  ],
});

const ids = defineScenario<OfferedDeployment>({
  area: 'deployment-status',
  name: 'Capital letters',
  start: 'a device that has been offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: activeDeployment,
  cases: [
    {
      id: 'id-in-capital-letters',
      title: 'How a report for the deployment ID in capital letters is answered.',
      requirements: ['status.id-in-capitals'],
      observe: async ({ device, id }) => {
        const path = { id: id.toUpperCase() };
        const body = { status: 'downloading' };
        const { status } = await device.call('put-deployment-status', { path, body });
        return observationOf(id === path.id ? 'the ID has no letters' : `answered with ${status}`);
      },
    },
  ],
});

/** Spec: Resources and their fields; Authentication */
export const letterCaseCases = [
  ...trusted,
  ...texts,
  ...configurations,
  ...offers,
  ...links,
  ...ids,
];
