/**
 * Cases: which devices an artifact fits, by tables of dependencies and device types. Each device
 * polls once, since a server may end a deployment for a device that no artifact fits.
 * Spec: Device deployments v1, v2; Artifact
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { fieldIn, offersAny, requireInstructions, textIn } from '../../context/instructions.ts';
import { ownArtifact } from '../../context/own-artifact.ts';
import { type PollVariant, pollVariants } from '../../context/poll-variants.ts';
import { boardType } from '../../context/sample-artifacts.ts';
import { acceptedDevice, factoryProvides, requireStatus } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectThat,
  NotObservable,
  responseSummary,
  sorted,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';

type Provides = Readonly<Record<string, string>>;

/** Several dependencies of several values each; the device type is a dependency too. */
const depends = {
  artifact_name: ['conformance-factory', 'conformance older'],
  artifact_group: ['stable', 'beta', 'edge'],
  'rootfs-image.checksum': ['aa11', 'bb22'],
  flavour: ['vanilla', 'größe & <b> 日本 +%41'],
} as const;
type Dependency = keyof typeof depends;
const dependencies = Object.keys(depends) as readonly Dependency[];

function fittingBy(pick: (values: readonly string[]) => string | undefined): Provides {
  const pairs = Object.entries(depends).map(([name, values]) => [name, pick(values) ?? '']);
  return { device_type: boardType, ...Object.fromEntries(pairs) };
}

const fitting = fittingBy((values) => values[0]);

const manyPairs: Provides = Object.fromEntries(
  Array.from({ length: 50 }, (_, index) => [`further-${index}`, `value ${index}`]),
);

/** Devices that satisfy every dependency. */
const satisfying: Readonly<Record<string, Provides>> = {
  'the first value of each': fitting,
  'the last value of each': fittingBy((values) => values.at(-1)),
  'the second value of each, beside further pairs': {
    colour: 'blue',
    ...fittingBy((values) => values[1]),
    'rootfs-image.version': '7',
  },
  'each, after fifty other pairs': { ...manyPairs, ...fitting },
};

/** Values that do not satisfy a dependency on one of these values. */
const wrongValues: Readonly<Record<string, (values: readonly string[]) => string>> = {
  another: () => 'another',
  'that of another dependency': (values) => (values.includes('aa11') ? 'stable' : 'aa11'),
  'a beginning of it': ([firstValue = '']) => firstValue.slice(0, -1),
  'more than it': (values) => `${values.at(-1)}0`,
  'all of them, joined': (values) => values.join(','),
  'it in capitals': ([firstValue = '']) => firstValue.toUpperCase(),
};

/**
 * Returns devices that miss one dependency. `turn` selects the wrong values that each dependency
 * meets, so that two requests with different turns meet all of them.
 */
function missingOne(turn: number): Readonly<Record<string, Provides>> {
  const wrongEntries = Object.entries(wrongValues);
  const rows = dependencies.flatMap((name, index) =>
    [0, 1].map((offset): [string, Provides] => {
      const [expected, of] = wrongEntries[(index + 2 * turn + offset) % wrongEntries.length] ?? [
        'another',
        () => '',
      ];
      return [`${name} with ${expected}`, { ...fitting, [name]: of(depends[name]) }];
    }),
  );
  const without = dependencies
    .filter((name) => name !== 'artifact_name')
    .map((name): [string, Provides] => {
      const { [name]: value = '', ...otherPairs } = fitting;
      if (turn === 0) return [`no ${name}`, otherPairs];
      return [`${name} in capitals`, { ...otherPairs, [name.toUpperCase()]: value }];
    });
  return Object.fromEntries([...rows, ...without]);
}

/** Returns accepted devices, one for each row, for all of which the release is deployed. */
async function devicesFor<Row>(
  context: TestContext,
  rows: Readonly<Record<string, Row>>,
  release: string,
  settings: { readonly force_installation?: boolean } = {},
): Promise<ReadonlyMap<string, { readonly device: SuiteDevice; readonly row: Row }>> {
  const deviceRows = new Map<string, { readonly device: SuiteDevice; readonly row: Row }>();
  for (const [name, row] of Object.entries(rows)) {
    deviceRows.set(name, { device: await acceptedDevice(context), row });
  }
  const devices = [...deviceRows.values()].map(({ device }) => device.id);
  await context.deploy({ artifact_name: release, devices, ...settings });
  return deviceRows;
}

/** Asserts that each device is offered a deployment, or that each is offered none. */
async function expectOffers(
  variant: PollVariant,
  devices: ReadonlyMap<string, { readonly device: SuiteDevice; readonly row: Provides }>,
  isOffered: boolean,
): Promise<void> {
  for (const [name, { device, row }] of devices) {
    const response = await variant.poll(device, row);
    if (response.status >= 500) requireStatus('a decision', response, 200);
    const what = isOffered ? 'an offer' : 'no offer';
    expectThat(offersAny(response) === isOffered, `${what} for ${name}`, responseSummary(response));
  }
}

const postVariants = pollVariants.filter(({ slug }) => slug !== 'get');

const dependsOf = {
  get: 'next.depends',
  post: 'next.depends',
  v2: 'next.v2-depends',
} as const satisfies Record<PollVariant['slug'], RequirementId>;

async function demandingRelease(context: TestContext): Promise<string> {
  const name = context.newName();
  await ownArtifact(context, { name, content: Buffer.from('for few'), depends });
  return name;
}

function dependsCases(variant: PollVariant, turn: number): readonly JudgingCase<string>[] {
  const { slug, label, needs } = variant;
  const facts = { requirements: [dependsOf[slug]], needs } as const;
  return [
    {
      ...facts,
      id: `${slug}-every-dependency-met-is-offered`,
      title: `${label}: a device that satisfies each of several dependencies is offered the artifact.`,
      run: async (release, context) =>
        expectOffers(variant, await devicesFor(context, satisfying, release), true),
    },
    {
      ...facts,
      id: `${slug}-one-dependency-unmet-offers-nothing`,
      title: `${label}: a device that misses one of several dependencies is offered nothing.`,
      run: async (release, context) =>
        expectOffers(variant, await devicesFor(context, missingOne(turn), release), false),
    },
  ];
}

const severalDependencies = defineScenario<string>({
  area: 'next-deployment',
  name: 'Several dependencies of several values',
  start: 'an artifact with several dependencies, each on several values',
  effect: 'write',
  needs: ['user'],
  arrange: demandingRelease,
  cases: [
    ...postVariants.flatMap(dependsCases),
    {
      id: 'forced-installation-keeps-the-dependencies',
      title:
        'A deployment with force_installation is offered only to devices that its artifact fits.',
      requirements: ['next.depends', 'next.compatible-types-only', 'next.post-pending-is-200'],
      run: async (release, context) => {
        const [post] = postVariants;
        if (!post) return;
        const misfits = {
          'a dependency unmet': { ...fitting, flavour: 'another' },
          'another device type': { ...fitting, device_type: `${boardType}-2` },
        };
        const all = { ...misfits, 'every dependency met': fitting };
        const devices = await devicesFor(context, all, release, { force_installation: true });
        for (const [name, each] of devices) {
          await expectOffers(post, new Map([[name, each]]), !(name in misfits));
        }
      },
    },
  ],
});

/** Types with reserved signs, letters beyond ASCII, and one that begins like another. */
const types = [boardType, `${boardType} 2/ü & <b>`, 'плата,7', 'Board_%41+'] as const;

/** Types that only resemble one of the above. */
const otherTypes = ['плата', '7', 'Boardx41+', 'Board_A+', `${boardType} 2`, types.join(',')];

function rowsOfTypes<Row>(
  texts: readonly string[],
  row: (text: string) => Row,
): Readonly<Record<string, Row>> {
  return Object.fromEntries(texts.map((text) => [`the type ${text}`, row(text)]));
}

/** Asserts that the instructions have every device type of the artifact. */
function expectAllTypes(response: HttpResponse): void {
  const compatibleTypes = fieldIn(
    requireInstructions(response),
    'artifact.device_types_compatible',
  );
  if (!Array.isArray(compatibleTypes)) throw new NotObservable('there is no list of device types');
  if (sorted(compatibleTypes).join('\n') === sorted(types).join('\n')) return;
  const violated = ['next.types-of-the-artifact'] as const;
  throw new ExpectationFailure(
    `the device types ${describeValue(types)}`,
    describeValue(compatibleTypes),
    violated,
  );
}

function typeCases(variant: PollVariant): readonly JudgingCase<string>[] {
  const { slug, label, needs } = variant;
  const providing = (device_type: string): Provides => ({ ...factoryProvides, device_type });
  return [
    {
      id: `${slug}-each-of-several-types-is-offered`,
      title: `${label}: a device of each type that an artifact lists is offered it.`,
      requirements: [variant.pendingIs200, 'next.types-of-the-artifact'],
      needs,
      run: async (release, context) => {
        const rows = rowsOfTypes(types, providing);
        for (const [name, { device, row }] of await devicesFor(context, rows, release)) {
          const response = await variant.poll(device, row);
          if (!offersAny(response)) {
            const violated = [variant.pendingIs200];
            throw new ExpectationFailure(
              `an offer for ${name}`,
              responseSummary(response),
              violated,
            );
          }
          expectAllTypes(response);
        }
      },
    },
    {
      id: `${slug}-none-of-several-types-is-offered-nothing`,
      title: `${label}: a device whose type resembles one that the artifact lists is offered nothing.`,
      requirements: ['next.compatible-types-only'],
      needs,
      run: async (release, context) =>
        expectOffers(
          variant,
          await devicesFor(context, rowsOfTypes(otherTypes, providing), release),
          false,
        ),
    },
  ];
}

const severalTypes = defineScenario<string>({
  area: 'next-deployment',
  name: 'Several device types',
  start: 'an artifact for several device types',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const name = context.newName();
    await ownArtifact(context, { name, content: Buffer.from('for many'), deviceTypes: types });
    return name;
  },
  cases: pollVariants.flatMap(typeCases),
});

/** One artifact of a release, and what a device that only this artifact fits provides. */
interface FittingArtifact {
  readonly bytes: Buffer;
  readonly provides: Provides;
}

/** The name of a release, and its artifacts by the device that each fits. */
interface ReleaseForAll {
  readonly release: string;
  readonly rows: Readonly<Record<string, FittingArtifact>>;
}

/** Uploads artifacts of one release, each for other devices; the largest comes first. */
async function releaseForAll(context: TestContext): Promise<ReleaseForAll> {
  const release = context.newName();
  const rows: Record<string, FittingArtifact> = {};
  const kinds = { 'the type bolt': 'bolt', 'the type bolt-2': 'bolt-2', 'another type': 'nut' };
  for (const [index, [name, deviceType]] of Object.entries(kinds).entries()) {
    for (const flavour of ['vanilla', 'mint']) {
      const content = context.random.bytes(3000 * (3 - index) + (flavour === 'mint' ? 1000 : 0));
      const spec = { name: release, content, deviceTypes: [deviceType] };
      const { bytes } = await ownArtifact(context, {
        ...spec,
        depends: { flavour: [flavour] },
      });
      const provides = { ...factoryProvides, device_type: deviceType, flavour };
      rows[`${name} with ${flavour}`] = { bytes, provides };
    }
  }
  return { release, rows };
}

/** Asserts that the source in the response gives the artifact that fits the device. */
async function expectArtifact(
  context: TestContext,
  response: HttpResponse,
  { name, rows, violated }: ExpectedArtifact,
): Promise<void> {
  const url = textIn(requireInstructions(response), 'artifact.source.uri');
  const { bytes } = await context.client.send({ method: 'GET', url });
  const servedEntry = Object.entries(rows).find(([, row]) => row.bytes.equals(bytes));
  // Other cases check that a source gives an artifact at all.
  if (servedEntry === undefined)
    throw new NotObservable('the source gives no artifact of the release');
  const [servedName] = servedEntry;
  if (servedName === name) return;
  const source = 'next.source-gives-the-artifact';
  const all = [violated, 'next.compatible-types-only', source] as const;
  throw new ExpectationFailure(`the artifact for ${name}`, `that for ${servedName}`, all);
}

interface ExpectedArtifact extends Pick<ReleaseForAll, 'rows'> {
  readonly name: string;
  readonly violated: RequirementId;
}

const severalArtifacts = defineScenario({
  area: 'next-deployment',
  name: 'A release with an artifact for each device',
  start: 'a release of six artifacts, each of which fits other devices',
  effect: 'write',
  needs: ['user'],
  arrange: releaseForAll,
  cases: postVariants.map(
    (variant): JudgingCase<ReleaseForAll> => ({
      id: `${variant.slug}-the-artifact-that-fits-is-offered`,
      title: `${variant.label}: of the artifacts of a release a device gets the one that fits it.`,
      requirements: [
        dependsOf[variant.slug],
        'next.compatible-types-only',
        'next.source-gives-the-artifact',
      ],
      needs: variant.needs,
      run: async ({ release, rows }, context) => {
        for (const [name, { device, row }] of await devicesFor(context, rows, release)) {
          const response = await variant.poll(device, row.provides);
          const violated = dependsOf[variant.slug];
          if (!offersAny(response)) {
            const any = [violated, variant.pendingIs200];
            throw new ExpectationFailure(`an offer for ${name}`, responseSummary(response), any);
          }
          await expectArtifact(context, response, { name, rows, violated });
        }
      },
    }),
  ),
});

/** Spec: Device deployments v1, v2; Artifact */
export const nextDeploymentFitCases = [
  ...severalDependencies,
  ...severalTypes,
  ...severalArtifacts,
];
