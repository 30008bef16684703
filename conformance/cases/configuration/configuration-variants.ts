/**
 * Cases: pairs of every kind that are set, changed and removed together. Each request names every
 * key, so that its result does not depend on what happens to keys that a request does not name.
 * Spec: Device configuration; DeviceAPIConfiguration
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { configurationOffer } from '../../context/configuration-offer.ts';
import { allowedNames, allowedTexts, readPairs } from '../../context/configuration-pairs.ts';
import { acceptedDevice } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import { defineScenario } from '../../suite/case.ts';
import { pairsIn } from '../../target/configuration-body.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEqual,
  expectStatus,
  NotObservable,
  sorted,
} from '../../target/expectations.ts';

type Pairs = Readonly<Record<string, string>>;

/** Names that a careless server takes for one another, and names with signs of languages. */
const names = [
  ...allowedNames,
  ...['a', 'A', 'ab', 'a.b', 'a b', 'a ', 'é', 'e\u0301', '😀', '%41', '<a>&amp;', '~', '+', "'"],
];

/** Values that a careless server takes for one another; the empty string removes a key. */
const values = [
  '',
  ...allowedTexts,
  ...['007', '7', 'x', 'X', ' x ', 'é', 'e\u0301', '%41+', `'"<b>&amp;`, 'undefined', '-0', '\t'],
];

const ROUNDS = 12;

/** Returns a value for every name; from round to round each name gets the value at another step. */
function pairsOfRound(round: number): Pairs {
  const offset = (round * (round + 1)) / 2;
  return Object.fromEntries(
    names.map((name, index) => [name, values[(index + offset) % values.length] ?? '']),
  );
}

/** Returns the pairs that a store has after a request that names every key. */
function keptPairs(pairs: Pairs): Pairs {
  return Object.fromEntries(Object.entries(pairs).filter(([, value]) => value !== ''));
}

/** Returns the value of an own member. */
function at(pairs: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(pairs, name) ? pairs[name] : undefined;
}

const pairRequirements = [
  'configuration.written-is-read',
  'configuration.read-all',
  'configuration.any-name',
  'configuration.any-string',
] as const satisfies readonly RequirementId[];

/** Returns the requirements that a wrong value may miss. */
function violatedBy(
  sentPairs: unknown,
  earlierValue: unknown,
  read: unknown,
): readonly RequirementId[] {
  if (sentPairs === undefined) return ['configuration.any-name'];
  if (sentPairs === '') return ['configuration.empty-removes'];
  if (earlierValue === undefined) return pairRequirements;
  return read === earlierValue || read === undefined
    ? ['configuration.update', ...pairRequirements]
    : ['configuration.any-string'];
}

/** Sets the pairs, and asserts that the device then reads exactly those with a value. */
async function expectSet(
  device: SuiteDevice,
  earlierPairs: Pairs,
  sentPairs: Pairs,
): Promise<void> {
  expectStatus(await device.call('put-configuration', { body: sentPairs }), 204);
  const shownPairs = await readPairs(device);
  const expectedPairs = keptPairs(sentPairs);
  const wrongKey = [...Object.keys(expectedPairs), ...Object.keys(shownPairs)].find(
    (name) => at(shownPairs, name) !== at(expectedPairs, name),
  );
  if (wrongKey === undefined) return;
  const text = (value: unknown): string => (value === undefined ? 'absent' : describeValue(value));
  const earlierValue = `which was ${text(at(earlierPairs, wrongKey))}`;
  throw new ExpectationFailure(
    `${describeValue(wrongKey)}, ${earlierValue}: ${text(at(expectedPairs, wrongKey))}`,
    text(at(shownPairs, wrongKey)),
    violatedBy(at(sentPairs, wrongKey), at(earlierPairs, wrongKey), at(shownPairs, wrongKey)),
  );
}

const together = defineScenario<SuiteDevice>({
  area: 'configuration',
  name: 'Pairs of every form',
  start: 'an accepted device without a configuration',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'pairs-of-every-form-change-together',
      title:
        'One request sets, changes and removes pairs at once, with names and values of every form.',
      requirements: ['configuration.update', 'configuration.empty-removes', ...pairRequirements],
      run: async (device) => {
        let earlierPairs: Pairs = {};
        for (let round = 0; round < ROUNDS; round += 1) {
          const sentPairs = pairsOfRound(round);
          await expectSet(device, earlierPairs, sentPairs);
          earlierPairs = keptPairs(sentPairs);
        }
      },
    },
    {
      id: 'removal-may-stand-anywhere',
      title:
        'A removal takes effect at each place among pairs that are set, and so does each pair.',
      requirements: ['configuration.update', 'configuration.empty-removes', ...pairRequirements],
      run: async (device) => {
        const all = { one: 'first', two: 'second', three: 'third' };
        for (const removedKey of Object.keys(all)) {
          await expectSet(device, {}, all);
          await expectSet(device, all, { ...all, two: 'changed', [removedKey]: '' });
        }
        await expectSet(device, {}, all);
        await expectSet(device, all, { one: '', two: '', three: '' });
      },
    },
    {
      id: 'settings-of-user-and-device-are-one-store',
      title:
        'A device changes and removes what a user has configured, and the user what it has set.',
      requirements: [
        'configuration.update',
        'configuration.empty-removes',
        'configuration.set-by-user',
        ...pairRequirements,
      ],
      run: async (device, context) => {
        const userSets = async (value: string): Promise<void> => {
          await context.admin.configure(device.id, { shared: value });
          const pairs = await context.eventually(
            () => readPairs(device),
            ({ shared }) => shared === value,
          );
          if (pairs.shared === value) return;
          throw new ExpectationFailure(`shared: ${value}`, describeValue(pairs), [
            'configuration.set-by-user',
          ]);
        };
        await userSets('by a user alone');
        await expectSet(device, { shared: 'by a user alone' }, { shared: '' });
        await userSets('by a user');
        await expectSet(device, { shared: 'by a user' }, { shared: 'by the device' });
        await userSets('by a user again');
        await expectSet(device, { shared: 'by a user again' }, { shared: '' });
      },
    },
  ],
});

/** The pairs of two devices, of many kinds; the second has none of the values of the first. */
const deployed = [0, 1].map((offset) =>
  Object.fromEntries(
    names.map((name, index) => {
      const value = values[((2 * index + offset) % (values.length - 1)) + 1] ?? '';
      return [name, value];
    }),
  ),
);

const deliveryCases = defineScenario({
  area: 'configuration-download',
  name: 'Pairs of every form',
  start: 'two devices that have been offered configuration deployments with pairs of many forms',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const offers = [];
    for (const pairs of deployed) {
      offers.push({ pairs, offer: await configurationOffer(context, { pairs }) });
    }
    return offers;
  },
  cases: [
    {
      id: 'each-device-gets-its-own-pairs',
      title:
        'Each link returns the names and values of every form that were deployed to its device.',
      requirements: ['download.holds-the-pairs'],
      run: async (offers) => {
        for (const { pairs, offer } of offers) {
          const response = await offer.get(offer.uri);
          if (response.status !== 200) throw new NotObservable('the link returns nothing');
          const downloadedPairs = await pairsIn(response.bytes);
          if (!downloadedPairs) throw new NotObservable('the configuration has a form of its own');
          expectEqual(
            'pairs',
            sorted(Object.entries(downloadedPairs)),
            sorted(Object.entries(pairs)),
          );
        }
      },
    },
  ],
});

/** Spec: Device configuration; Device deployments v1, "GET /download/configuration" */
export const configurationVariantCases = [...together, ...deliveryCases];
