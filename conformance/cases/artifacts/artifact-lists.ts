/**
 * Cases: artifact lists by releases and device types whose names resemble one another.
 * Spec: Device deployments v1, "GET /artifacts"
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { largeRelease } from '../../context/large-release.ts';
import { ownArtifact } from '../../context/own-artifact.ts';
import { boardType } from '../../context/sample-artifacts.ts';
import { acceptedDevice, factoryProvides } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectJson,
  expectStatus,
  responseSummary,
} from '../../target/expectations.ts';
import { entriesOf, membersOf } from '../../target/json-members.ts';

/** More artifacts than the ordinary page of any list, and fewer than the bound of this one. */
const MORE_THAN_A_PAGE = 31;

/** Returns names that a careless comparison takes for one another. */
function resembling(name: string): readonly string[] {
  return [
    name,
    `${name}0`,
    `${name}-x`,
    `${name}_x`,
    `${name}%`,
    `${name}*`,
    name.toUpperCase(),
    `${name} & co/1`,
    `${name}+1`,
    `${name} 1`,
    `${name} größe 日本`,
    `${name} grösse 日本`,
  ];
}

/** Lists the artifacts of a release for a device type, and returns their IDs. */
async function idsIn(
  device: SuiteDevice,
  release: string,
  deviceType: string,
): Promise<readonly unknown[]> {
  const query = { release_name: release, device_type: deviceType };
  const response = await device.call('list-artifacts', { query });
  if (response.status === 404) return [];
  expectStatus(response, 200);
  return entriesOf(expectJson(response)).map((artifact) => membersOf(artifact).id);
}

/** Asserts that devices of the first and of the last group of a large release are offered it. */
async function expectFirstAndLastOffered(
  devices: readonly SuiteDevice[],
  release: string,
  context: TestContext,
): Promise<void> {
  await context.deploy({ artifact_name: release, devices: devices.map(({ id }) => id) });
  for (const [index, group] of [0, MORE_THAN_A_PAGE - 1].entries()) {
    const body = { ...factoryProvides, artifact_group: `group-${group}` };
    const response = await context.eventually(
      async () => devices[index]?.call('post-next-deployment', { body }),
      (each) => each?.status !== 204,
    );
    if (response?.status === 200) continue;
    const actual = response ? responseSummary(response) : 'nothing';
    throw new ExpectationFailure(`an offer for group ${group}`, actual, [
      'next.post-pending-is-200',
    ]);
  }
}

/** Asserts that a list has that artifact and no other. */
function expectOnly(
  what: string,
  ids: readonly unknown[],
  {
    wanted,
    surplusRequirement,
  }: { readonly wanted: string; readonly surplusRequirement: RequirementId },
): void {
  const violated = ids.includes(wanted) ? surplusRequirement : 'artifacts.list-is-complete';
  if (ids.length === 1 && ids[0] === wanted) return;
  throw new ExpectationFailure(`the artifact ${wanted} of ${what}, alone`, describeValue(ids), [
    violated,
  ]);
}

/** Spec: Device deployments v1, "GET /artifacts" */
export const artifactListCases = defineScenario<SuiteDevice>({
  area: 'artifacts',
  name: 'Names that resemble one another',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user', 'artifact-listing'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    {
      id: 'releases-of-similar-names-are-apart',
      title:
        'Of releases with similar names, the list has the artifact of the requested one alone.',
      requirements: ['artifacts.list-selects-release', 'artifacts.list-is-complete'],
      run: async (device, context) => {
        const artifactIds = new Map<string, string>();
        for (const name of resembling(context.newName())) {
          artifactIds.set(
            name,
            (await ownArtifact(context, { name, content: Buffer.from(name) })).id,
          );
        }
        for (const [name, expectedId] of artifactIds) {
          const ids = await idsIn(device, name, boardType);
          expectOnly(name, ids, {
            wanted: expectedId,
            surplusRequirement: 'artifacts.list-selects-release',
          });
        }
      },
    },
    {
      id: 'device-types-of-similar-names-are-apart',
      title: 'Of artifacts for similar device types, the list has that of the requested one alone.',
      requirements: ['artifacts.list-selects', 'artifacts.list-is-complete'],
      run: async (device, context) => {
        const name = context.newName();
        const artifactIds = new Map<string, string>();
        for (const type of resembling('board')) {
          const spec = {
            name,
            content: Buffer.from(type),
            deviceTypes: [type, `${type} too`],
          };
          artifactIds.set(type, (await ownArtifact(context, spec)).id);
        }
        for (const [type, expectedId] of artifactIds) {
          for (const requestedType of [type, `${type} too`]) {
            const ids = await idsIn(device, name, requestedType);
            expectOnly(requestedType, ids, {
              wanted: expectedId,
              surplusRequirement: 'artifacts.list-selects',
            });
          }
        }
      },
    },
    {
      id: 'list-of-many-is-whole',
      title: `A list has each of the ${MORE_THAN_A_PAGE} artifacts of a release once, and devices are offered the one that fits.`,
      requirements: ['artifacts.list-is-complete', 'next.post-pending-is-200'],
      run: async (_, context) => {
        const { device, release } = await largeRelease(context, MORE_THAN_A_PAGE);
        const ids = await idsIn(device, release, boardType);
        const different = new Set(ids).size;
        if (ids.length !== MORE_THAN_A_PAGE || different !== ids.length) {
          const actual = `${ids.length} entries, ${different} of them different`;
          throw new ExpectationFailure(`${MORE_THAN_A_PAGE} artifacts`, actual, [
            'artifacts.list-is-complete',
          ]);
        }
        await expectFirstAndLastOffered([device, await acceptedDevice(context)], release, context);
      },
    },
  ],
});
