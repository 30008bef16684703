/**
 * Cases: two artifacts of one release, of which a user deletes one, as devices see both: in the
 * list, by ID, by link and in an offer. Spec: Device deployments v1
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { ownArtifact } from '../../context/own-artifact.ts';
import { boardType } from '../../context/sample-artifacts.ts';
import {
  acceptedDevice,
  factoryProvides,
  requireOffer,
  requireResponse,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectJson,
  expectUrl,
} from '../../target/expectations.ts';
import { entriesOf, membersOf } from '../../target/json-members.ts';
import type { HttpResponse } from '../../target/response.ts';

/** A second device type of both artifacts, whose list shows that a change has settled. */
const otherType = 'conformance-other-board';
const content = Buffer.from('the same in both artifacts');

/** An artifact of the release, and the value on which it alone depends. */
interface OneOfTwo {
  readonly id: string;
  readonly bytes: Buffer;
  readonly flavour: string;
}

/** A release with two artifacts, the first of which is to be deleted. */
interface ReleaseOfTwo {
  readonly device: SuiteDevice;
  readonly release: string;
  readonly firstArtifact: OneOfTwo;
  readonly secondArtifact: OneOfTwo;
}

/** Lists the release for a device type; returns the IDs in order. */
async function idsFor(
  device: SuiteDevice,
  release: string,
  deviceType: string,
): Promise<readonly string[]> {
  const query = { release_name: release, device_type: deviceType };
  const response = await device.call('list-artifacts', { query });
  if (response.status === 404) return [];
  requireResponse('list-artifacts', response, 200);
  return entriesOf(expectJson(response))
    .map((artifact) => String(membersOf(artifact).id))
    .sort();
}

/** Waits until the list for the other type has these IDs, and compares that for the board then. */
async function expectListed(
  context: TestContext,
  { device, release }: Pick<ReleaseOfTwo, 'device' | 'release'>,
  { ids, missed }: { readonly ids: readonly string[]; readonly missed: RequirementId },
): Promise<void> {
  const expected = [...ids].sort().join();
  const settled = await context.eventually(
    () => idsFor(device, release, otherType),
    (ids) => ids.join() === expected,
  );
  for (const ids of [settled, await idsFor(device, release, boardType)]) {
    if (ids.join() === expected) continue;
    throw new ExpectationFailure(`the artifacts ${expected}`, describeValue(ids), [missed]);
  }
}

async function linkTo(device: SuiteDevice, id: string): Promise<string> {
  const response = await device.call('get-artifact-link', { path: { id } });
  requireResponse('get-artifact-link', response, 200);
  const { uri } = membersOf(expectJson(response));
  return expectUrl('a link', typeof uri === 'string' ? uri : undefined);
}

async function releaseOfTwo(context: TestContext): Promise<ReleaseOfTwo> {
  const device = await acceptedDevice(context);
  const release = context.newName();
  const deviceTypes = [boardType, otherType];
  // The list is read before each change, so that a copy of it would be noticed.
  await idsFor(device, release, boardType);
  const upload = async (flavour: string): Promise<OneOfTwo> => {
    const spec = { name: release, content, deviceTypes, depends: { flavour: [flavour] } };
    return { ...(await ownArtifact(context, spec)), flavour };
  };
  return {
    device,
    release,
    firstArtifact: await upload('first'),
    secondArtifact: await upload('second'),
  };
}

/** Asserts that the deleted artifact is answered with 404, by ID and for a link. */
async function expectDeleted(
  context: TestContext,
  { device, firstArtifact }: ReleaseOfTwo,
): Promise<void> {
  const path = { id: firstArtifact.id };
  const asks = {
    'artifacts.unknown-is-404': () => device.call('get-artifact', { path }),
    'link.unknown-artifact-is-404': () => device.call('get-artifact-link', { path }),
  } as const satisfies Readonly<Record<string, () => Promise<HttpResponse>>>;
  for (const [requirement, ask] of Object.entries(asks)) {
    const { status } = await context.eventually(ask, (response) => response.status === 404);
    if (status === 404) continue;
    const actual = `status ${status} for a deleted artifact`;
    throw new ExpectationFailure('status 404', actual, [requirement as RequirementId]);
  }
}

/** Asserts that the second is still shown, and its file downloaded by an old and a new link. */
async function expectKept(
  context: TestContext,
  { device, secondArtifact }: ReleaseOfTwo,
  oldLink: string,
): Promise<void> {
  const { status } = await device.call('get-artifact', { path: { id: secondArtifact.id } });
  if (status !== 200) {
    throw new ExpectationFailure('status 200', `status ${status}`, ['artifacts.fields']);
  }
  for (const url of [oldLink, await linkTo(device, secondArtifact.id)]) {
    const file = await context.client.send({ method: 'GET', url });
    if (file.status === 200 && file.bytes.equals(secondArtifact.bytes)) continue;
    const actual = `status ${file.status} with ${file.bytes.length} bytes`;
    throw new ExpectationFailure('the file', actual, [
      'link.gives-the-file',
      'link.valid-until-expiry',
    ]);
  }
}

/** Asserts that the second is offered to a device on which it alone depends. */
async function expectOffered(
  context: TestContext,
  { device, release, secondArtifact }: ReleaseOfTwo,
): Promise<void> {
  await context.deploy({ artifact_name: release, devices: [device.id] });
  const body = { ...factoryProvides, flavour: secondArtifact.flavour };
  await requireOffer(context, 'post-next-deployment', () =>
    device.call('post-next-deployment', { body }),
  );
}

/** Spec: Device deployments v1 */
export const artifactLifeCases = defineScenario<ReleaseOfTwo>({
  area: 'artifacts',
  name: 'One of two artifacts is deleted',
  start: 'a device, and a release of two artifacts that it has listed before they were uploaded',
  effect: 'write',
  needs: ['user', 'artifact-listing'],
  arrange: releaseOfTwo,
  cases: [
    {
      id: 'deleted-artifact-is-gone-alone',
      title:
        'A deleted artifact is no longer listed, shown or linked, and the other of its release is.',
      requirements: [
        'artifacts.unknown-is-404',
        'artifacts.list-is-complete',
        'artifacts.fields',
        'artifacts.deleted-is-not-listed',
        'link.unknown-artifact-is-404',
        'link.gives-the-file',
        'link.valid-until-expiry',
        'next.post-pending-is-200',
      ],
      run: async (arranged, context) => {
        const { device, firstArtifact, secondArtifact } = arranged;
        const missed = 'artifacts.list-is-complete';
        await expectListed(context, arranged, {
          ids: [firstArtifact.id, secondArtifact.id],
          missed,
        });
        await linkTo(device, firstArtifact.id);
        const link = await linkTo(device, secondArtifact.id);
        await device.call('get-artifact', { path: { id: firstArtifact.id } });
        await context.admin.deleteArtifact(firstArtifact.id);
        await expectDeleted(context, arranged);
        const notDeleted = 'artifacts.deleted-is-not-listed';
        await expectListed(context, arranged, { ids: [secondArtifact.id], missed: notDeleted });
        await expectKept(context, arranged, link);
        await expectOffered(context, arranged);
      },
    },
  ],
});
