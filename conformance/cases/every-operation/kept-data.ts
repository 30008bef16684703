/**
 * Cases: what a device wrote is still there after decisions of users about the device and its keys.
 * Spec: States and transitions; Device configuration; Device inventory
 */
import { requireAuthorized, requireToken } from '../../context/granted.ts';
import { acceptedDevice, requireResponse } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { ShownAttribute } from '../../context/target-admin.ts';
import type { TestContext } from '../../context/test-context.ts';
import type { SigningKey } from '../../signing/signing-key.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  bodyIncludes,
  describeValue,
  ExpectationFailure,
  responseSummary,
} from '../../target/expectations.ts';

const pair = { timezone: 'Europe/Oslo' } as const;
const attribute = { name: 'colour', value: 'deep blue' } as const;

/** Arranges a device that has written its configuration and its inventory. */
async function writtenData(context: TestContext): Promise<SuiteDevice> {
  const device = await acceptedDevice(context);
  const configurationResponse = await device.call('put-configuration', { body: pair });
  requireResponse('put-configuration', configurationResponse, 204);
  requireResponse(
    'put-attributes',
    await device.call('put-attributes', { body: [attribute] }),
    200,
  );
  return device;
}

/** Accepts a key of the device, and gives the device a token by it. */
async function acceptKey(
  device: SuiteDevice,
  key: SigningKey,
  context: TestContext,
): Promise<void> {
  await context.admin.decide(device.id, key, 'accepted');
  const changes = { members: { pubkey: key.publicKeyPem }, signedBy: key };
  const tokenResponse = await context.eventually(
    () => device.authenticate(changes),
    ({ status }) => status === 200,
  );
  device.token = requireToken(tokenResponse).text;
}

async function rejectAndAccept(device: SuiteDevice, context: TestContext): Promise<void> {
  await context.admin.decide(device.id, device.key, 'rejected');
  await acceptKey(device, device.key, context);
}

async function acceptSecondKey(device: SuiteDevice, context: TestContext): Promise<void> {
  const key = await context.newKey();
  await device.authenticate({ members: { pubkey: key.publicKeyPem }, signedBy: key });
  await acceptKey(device, key, context);
}

/** Decisions of users, each of which ends with an accepted device that has a new token. */
const decisions = {
  rejection: [rejectAndAccept, 'its rejection and new acceptance'],
  'second-key': [acceptSecondKey, 'the acceptance of its second key'],
} as const;

/** Asserts that the device reads the pair and users see the attribute. */
async function expectKept(device: SuiteDevice, context: TestContext): Promise<void> {
  const configurationResponse = await context.eventually(
    async () => requireAuthorized(await device.call('get-configuration')),
    (response) => bodyIncludes(response, pair.timezone),
  );
  if (!bodyIncludes(configurationResponse, pair.timezone)) {
    throw new ExpectationFailure(describeValue(pair), responseSummary(configurationResponse), [
      'configuration.written-is-read',
    ]);
  }
  const isKept = (all: readonly ShownAttribute[]) =>
    all.some(({ value }) => value === attribute.value);
  const attributes = await context.eventually(() => context.admin.attributes(device.id), isKept);
  if (isKept(attributes)) return;
  const actual = describeValue(attributes.map(({ name }) => name));
  throw new ExpectationFailure(describeValue(attribute), actual, ['inventory.put-assigns']);
}

/** Spec: States and transitions; Device configuration; Device inventory */
export const keptDataCases = defineScenario<SuiteDevice>({
  area: 'authentication',
  name: 'Data and decisions',
  start: 'an accepted device that has written its configuration and its inventory',
  effect: 'write',
  needs: ['user', 'configuration', 'configuration-read-back'],
  arrange: writtenData,
  cases: Object.entries(decisions).map(
    ([id, [decide, label]]): JudgingCase<SuiteDevice> => ({
      id: `data-outlives-${id}`,
      title: `The configuration and the inventory of a device are still there after ${label}.`,
      requirements: ['configuration.written-is-read', 'inventory.put-assigns'],
      run: async (device, context) => {
        await decide(device, context);
        await expectKept(device, context);
      },
    }),
  ),
});
