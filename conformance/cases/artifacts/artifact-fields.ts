/** Cases: each field of an artifact, in a list and fetched alone. Spec: Artifact */
import { boardType, type SampleName } from '../../context/sample-artifacts.ts';
import type { UploadedArtifact } from '../../context/shared-artifacts.ts';
import { deviceAndArtifact } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  describeValue,
  expectEqualIfThere,
  expectJson,
  expectStatus,
  expectThat,
  observationOf,
} from '../../target/expectations.ts';
import { entriesOf, isMap, membersOf } from '../../target/json-members.ts';
import {
  type ArtifactField,
  deprecatedFields,
  nestedFields,
  ownFields,
  type ReturnedArtifact,
  updatesOf,
} from './artifact-field-table.ts';

/** An uploaded artifact, and its members as the target returns them in a list and alone. */
interface ReportedArtifact {
  readonly artifact: UploadedArtifact;
  readonly sources: readonly ReturnedArtifact[];
}

/** Fetches the artifact twice: in the list of its release, and alone. */
async function describedArtifact(
  context: TestContext,
  sample: SampleName,
): Promise<ReportedArtifact> {
  const { device, artifact } = await deviceAndArtifact(context, sample);
  const query = { release_name: artifact.name, device_type: boardType };
  const list = await device.call('list-artifacts', { query });
  expectStatus(list, 200);
  const listedArtifacts = entriesOf(expectJson(list)).map(membersOf);
  const inList = listedArtifacts.find(({ id }) => id === artifact.id) ?? listedArtifacts[0];
  expectThat(inList !== undefined, 'a listed artifact', 'none');
  const one = await device.call('get-artifact', { path: { id: artifact.id } });
  expectStatus(one, 200);
  const alone = expectJson(one);
  expectThat(isMap(alone), 'an object', describeValue(alone));
  return {
    artifact,
    sources: [
      { where: 'in the list', members: inList, answeredMs: context.serverNowMs(list) },
      { where: 'alone', members: alone, answeredMs: context.serverNowMs(one) },
    ],
  };
}

function fieldCase({
  id,
  title,
  requirement,
  holds,
}: ArtifactField): JudgingCase<ReportedArtifact> {
  return {
    id,
    title,
    requirements: [requirement],
    run: async ({ artifact, sources }) => {
      for (const source of sources) holds(source, artifact);
    },
  };
}

const described = {
  area: 'artifacts',
  effect: 'write',
  needs: ['user'],
} as const;

const full = defineScenario({
  ...described,
  name: 'Fields of an artifact',
  start: 'the details of an uploaded artifact that is signed and has two files',
  arrange: (context) => describedArtifact(context, 'signed'),
  cases: [...ownFields, ...nestedFields].map(fieldCase),
});

const unsigned = defineScenario({
  ...described,
  name: 'An artifact without a signature',
  start: 'the details of an uploaded artifact that is not signed',
  arrange: (context) => describedArtifact(context, 'plain'),
  cases: [
    fieldCase({
      id: 'signed-is-false-for-an-unsigned-file',
      title: 'The field signed, if present, is false for a file that is not signed.',
      requirement: 'artifacts.signed',
      holds: ({ where, members }) => expectEqualIfThere(`signed ${where}`, members.signed, false),
    }),
  ],
});

const withData = defineScenario({
  ...described,
  name: 'Update data',
  start: 'the details of an uploaded artifact with update data',
  arrange: (context) => describedArtifact(context, 'dependent'),
  cases: [
    ...deprecatedFields.map(fieldCase),
    {
      id: 'meta-data-or-metadata',
      title: 'Update data may be in the deprecated meta_data, in metadata, or in both.',
      requirements: ['artifacts.meta-data'],
      observe: async ({ sources }) => {
        const updates = sources.flatMap(updatesOf);
        const names = ['meta_data', 'metadata'].filter((name) =>
          updates.some((one) => name in one),
        );
        return observationOf(names.length === 0 ? 'neither is present' : names.join(' and '));
      },
    },
  ],
});

const emptyArtifactCases = defineScenario({
  ...described,
  name: 'An empty artifact',
  start: 'the details of an uploaded artifact without payload',
  arrange: (context) => describedArtifact(context, 'empty'),
  cases: [
    fieldCase({
      id: 'empty-type-is-null',
      title: 'The type of an empty artifact, if present, is null.',
      requirement: 'artifacts.empty-type-is-null',
      holds: (source) => {
        for (const { type_info: info } of updatesOf(source)) {
          expectEqualIfThere(`type ${source.where}`, membersOf(info).type, null);
        }
      },
    }),
  ],
});

export const artifactFieldCases = [...full, ...unsigned, ...withData, ...emptyArtifactCases];
