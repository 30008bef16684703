/** Cases: an artifact after a user has edited it, as devices see it. Spec: Artifact */
import { isDeepStrictEqual } from 'node:util';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { ownArtifact } from '../../context/own-artifact.ts';
import { boardType, sampleOfRun } from '../../context/sample-artifacts.ts';
import {
  acceptedDevice,
  factoryProvides,
  StartStateNotReached,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import { AdminFailure } from '../../context/target-admin.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEqual,
  expectEqualIfThere,
  expectJson,
  expectStatus,
  expectThat,
  sorted,
} from '../../target/expectations.ts';
import { isMap, type Members } from '../../target/json-members.ts';

/** Longer than one second, which is the resolution of times on some servers. */
const TICK_MS = 1100;

/** An artifact that the case has uploaded, with its members as a device first read them. */
interface EditedArtifact {
  readonly device: SuiteDevice;
  readonly id: string;
  readonly name: string;
  readonly originalMembers: Members;
}

async function shownArtifact(device: SuiteDevice, id: string): Promise<Members> {
  const response = await device.call('get-artifact', { path: { id } });
  const artifact = response.status === 200 ? expectJson(response) : undefined;
  if (isMap(artifact)) return artifact;
  throw new StartStateNotReached('an artifact', `it was answered with ${response.status}`);
}

async function listedArtifact(device: SuiteDevice, { id, name }: EditedArtifact): Promise<Members> {
  const query = { release_name: name, device_type: boardType };
  const response = await device.call('list-artifacts', { query });
  const listBody = response.status === 200 ? expectJson(response) : undefined;
  const listEntry: unknown =
    Array.isArray(listBody) && listBody.find((each) => Object(each).id === id);
  if (isMap(listEntry)) return listEntry;
  throw new StartStateNotReached('a list with the artifact', describeValue(response.text));
}

async function uploadArtifact(context: TestContext): Promise<EditedArtifact> {
  const device = await acceptedDevice(context);
  const { name, bytes } = await sampleOfRun('signed', context.newName());
  const id = await context.upload({ name, deviceType: boardType, bytes });
  return { device, id, name, originalMembers: await shownArtifact(device, id) };
}

/** Edits the artifact at least one second after its upload, and returns its new members. */
async function edit(
  context: TestContext,
  { device, id }: EditedArtifact,
  description = `edited ${context.newName()}`,
): Promise<Members> {
  await context.clock.sleep(TICK_MS);
  await context.admin.describeArtifact(id, description);
  const editedMembers = await context.eventually(
    () => shownArtifact(device, id),
    (read) => (read.description ?? '') === description,
  );
  expectEqualIfThere('description', editedMembers.description, description);
  return editedMembers;
}

/** The properties that an edit of the description must not change. */
const lasting = {
  name: 'artifacts.name',
  device_types_compatible: 'artifacts.device-types',
  signed: 'artifacts.signed',
  artifact_provides: 'artifacts.provides',
  artifact_depends: 'artifacts.depends',
  clears_artifact_provides: 'artifacts.clears',
  size: 'artifacts.size',
} as const satisfies Readonly<Record<string, RequirementId>>;

/** Returns the value with every array of strings sorted, since their order is left open. */
function withoutOrder(value: unknown): unknown {
  if (Array.isArray(value)) return sorted(value);
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withoutOrder(member)]),
  );
}

/** Asserts that the edited artifact has every other property unchanged where it is shown. */
function expectRest(after: Members, before: Members, where: string): void {
  for (const [name, requirement] of Object.entries(lasting)) {
    const [is, was] = [withoutOrder(after[name]), withoutOrder(before[name])];
    if (is === undefined || was === undefined || isDeepStrictEqual(is, was)) continue;
    throw new ExpectationFailure(
      `${name} ${where} as before the edit: ${describeValue(was)}`,
      describeValue(is),
      [requirement],
    );
  }
}

/** Empties the description, unless the target refuses an empty one. */
async function emptyDescription(context: TestContext, arranged: EditedArtifact): Promise<void> {
  try {
    await edit(context, arranged, '');
  } catch (error) {
    if (!(error instanceof AdminFailure)) throw error;
  }
}

function timeOf({ modified }: Members): number {
  return Date.parse(String(modified));
}

const edited = defineScenario<EditedArtifact>({
  area: 'artifacts',
  name: 'An edit',
  start: 'an artifact that a user has uploaded and a device has been shown',
  effect: 'write',
  needs: ['user', 'artifact-listing'],
  arrange: uploadArtifact,
  cases: [
    {
      id: 'edit-is-shown',
      title:
        'After a user edits the description, devices see the new one, also in a list, or none if it is empty.',
      requirements: ['artifacts.edit-is-shown'],
      run: async (arranged, context) => {
        const { description } = await edit(context, arranged);
        const artifactInList = await listedArtifact(arranged.device, arranged);
        expectEqualIfThere('description in the list', artifactInList.description, description);
        await emptyDescription(context, arranged);
      },
    },
    {
      id: 'edit-keeps-the-other-properties',
      title: 'An edit of the description changes no property that describes the file.',
      requirements: ['artifacts.edit-is-shown', ...Object.values(lasting)],
      run: async (arranged, context) => {
        const { originalMembers } = arranged;
        expectRest(await edit(context, arranged), originalMembers, 'of the artifact');
        const artifactInList = await listedArtifact(arranged.device, arranged);
        expectRest(artifactInList, originalMembers, 'in the list');
      },
    },
    {
      id: 'edit-moves-modified',
      title: 'Each edit of an artifact moves `modified` to a later time, also in a list.',
      requirements: ['artifacts.modified'],
      run: async (arranged, context) => {
        let { originalMembers: previousMembers } = arranged;
        for (let edits = 0; edits < 2; edits += 1) {
          const editedMembers = await edit(context, arranged);
          const expected = `later than ${describeValue(previousMembers.modified)}`;
          expectThat(
            timeOf(editedMembers) > timeOf(previousMembers),
            expected,
            describeValue(editedMembers.modified),
          );
          previousMembers = editedMembers;
        }
        const artifactInList = await listedArtifact(arranged.device, arranged);
        expectEqual('modified in the list', timeOf(artifactInList), timeOf(previousMembers));
      },
    },
    {
      id: 'reading-does-not-move-modified',
      title: 'Device requests for an artifact do not change `modified`, since they are not edits.',
      requirements: ['artifacts.modified'],
      run: async (arranged, context) => {
        const { device, id, originalMembers } = arranged;
        await context.clock.sleep(TICK_MS);
        await listedArtifact(device, arranged);
        expectStatus(await device.call('get-artifact-link', { path: { id } }), 200);
        const currentMembers = await shownArtifact(device, id);
        expectEqual('modified', timeOf(currentMembers), timeOf(originalMembers));
      },
    },
  ],
});

/** The one value on which the artifact depends; its file has a string instead of a list. */
const needed = 'vanilla';

async function withPlainDepends(context: TestContext): Promise<EditedArtifact> {
  const device = await acceptedDevice(context);
  const name = context.newName();
  const depends = { flavour: needed };
  const { id } = await ownArtifact(context, { name, content: Buffer.from('plain'), depends });
  await context.deploy({ artifact_name: name, devices: [device.id] });
  return { device, id, name, originalMembers: {} };
}

const plain = defineScenario<EditedArtifact>({
  area: 'artifacts',
  name: 'A dependency that the file gives as a string',
  start: 'a deployed artifact whose file gives a dependency as a string instead of an array of one',
  effect: 'write',
  needs: ['user'],
  arrange: withPlainDepends,
  cases: [
    {
      id: 'depends-of-a-string-are-an-array',
      title: 'A dependency is shown as an array of strings, even if the file gives it as a string.',
      requirements: ['artifacts.depends'],
      needs: ['artifact-listing'],
      run: async (arranged) => {
        const { device, id } = arranged;
        const locations = [await shownArtifact(device, id), await listedArtifact(device, arranged)];
        for (const { artifact_depends: depends } of locations) {
          if (isMap(depends)) expectEqualIfThere('flavour', depends.flavour, [needed]);
        }
      },
    },
    {
      id: 'depends-of-a-string-are-met',
      title: 'A device that provides that string is offered the artifact.',
      requirements: ['next.depends', 'next.post-pending-is-200'],
      run: async ({ device }) => {
        const body = { ...factoryProvides, flavour: needed };
        expectStatus(await device.call('post-next-deployment', { body }), 200);
      },
    },
    {
      id: 'depends-of-a-string-are-met-as-a-whole',
      title: 'A device that provides a part of that string, or a longer one, is offered nothing.',
      requirements: ['next.depends'],
      run: async ({ device }) => {
        for (const otherFlavour of [needed.slice(0, -1), needed.slice(0, 1), `${needed}s`]) {
          const body = { ...factoryProvides, flavour: otherFlavour };
          const { status } = await device.call('post-next-deployment', { body });
          expectEqual(`offer for ${otherFlavour}`, status === 200, false);
        }
      },
    },
  ],
});

export const artifactEditCases = [...edited, ...plain];
