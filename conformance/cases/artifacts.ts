/** Cases: how a device looks up artifacts. Spec: Artifact */
import { type Artifact, artifactShape, artifactsShape } from '../../fixtures/contract/resources.ts';
import { defineScenario, type JudgingCase } from '../case.ts';
import {
  expectEach,
  expectEqual,
  expectEqualIfThere,
  expectPresent,
  expectShape,
  expectStatus,
  expectThat,
  observed,
  observedAnswer,
  shown,
  sorted,
} from '../expectations.ts';
import { boardType, type SampleArtifact } from '../stage/sample-artifacts.ts';
import { type DeviceAndArtifact, deviceAndArtifact } from '../stage/start-states.ts';

type Update = NonNullable<Artifact['updates']>[number];

const LISTED_MAX = 100;

const listed = defineScenario({
  area: 'artifacts',
  name: 'The list',
  start: 'an accepted device, and an uploaded artifact',
  risk: 'write',
  needs: ['operator'],
  arrange: (stage) => deviceAndArtifact(stage, 'plain'),
  cases: [
    {
      id: 'release-is-listed',
      title: 'The artifacts of a release for a device type are answered 200, each complete.',
      requirements: ['artifacts.list', 'artifacts.fields', 'artifacts.list-bound'],
      covers: ['list-artifacts 200'],
      run: async ({ device, artifact }) => {
        const query = { release_name: artifact.name, device_type: boardType };
        const answer = await device.call('list-artifacts', { query });
        expectStatus(answer, 200);
        const artifacts = expectShape(answer, artifactsShape);
        expectPresent(
          `an artifact ${artifact.id}`,
          artifacts.find(({ id }) => id === artifact.id),
        );
        expectThat(artifacts.length <= LISTED_MAX, 'at most 100', `${artifacts.length} artifacts`);
      },
    },
    {
      id: 'other-device-type-is-not-listed',
      title: 'An artifact of the release that does not suit the device type is not listed.',
      requirements: ['artifacts.list-selects'],
      run: async ({ device, artifact }) => {
        const query = { release_name: artifact.name, device_type: 'another-board' };
        const answer = await device.call('list-artifacts', { query });
        if (answer.status === 404) return;
        expectStatus(answer, 200);
        const ids = expectShape(answer, artifactsShape).map(({ id }) => id);
        expectThat(!ids.includes(artifact.id), `no artifact ${artifact.id}`, shown(ids));
      },
    },
    {
      id: 'list-without-parameter-is-400',
      title: 'A list without release_name or without device_type is answered 400.',
      requirements: ['artifacts.list-parameters'],
      covers: ['list-artifacts 400'],
      run: async ({ device, artifact }) => {
        const queries = {
          'no release_name': { device_type: boardType },
          'no device_type': { release_name: artifact.name },
        };
        await expectEach(400, queries, (query) => device.call('list-artifacts', { query }));
      },
    },
    {
      id: 'unknown-release',
      title: 'A release that nobody knows may be an empty list or 404.',
      requirements: ['artifacts.nothing-found'],
      covers: ['list-artifacts 404'],
      observe: async ({ device }, stage) => {
        const query = { release_name: stage.newName(), device_type: boardType };
        return observedAnswer(await device.call('list-artifacts', { query }));
      },
    },
  ],
});

const one = defineScenario({
  area: 'artifacts',
  name: 'One artifact',
  start: 'an accepted device, and an uploaded artifact',
  risk: 'write',
  needs: ['operator'],
  arrange: (stage) => deviceAndArtifact(stage, 'plain'),
  cases: [
    {
      id: 'artifact-is-200',
      title: 'An artifact by its id is answered 200 with its name, device types and last change.',
      requirements: ['artifacts.fields'],
      covers: ['get-artifact 200'],
      run: async ({ device, artifact }) => {
        const answer = await device.call('get-artifact', { path: { id: artifact.id } });
        expectStatus(answer, 200);
        const { name, device_types_compatible } = expectShape(answer, artifactShape);
        expectEqual('name', name, artifact.name);
        expectEqual('device types', sorted(device_types_compatible), sorted(artifact.deviceTypes));
      },
    },
    {
      id: 'unknown-artifact-is-404',
      title: 'An artifact that does not exist is answered 404.',
      requirements: ['artifacts.unknown-is-404'],
      covers: ['get-artifact 404'],
      run: async ({ device }, stage) => {
        const path = { id: stage.random.uuid() };
        expectStatus(await device.call('get-artifact', { path }), 404);
      },
    },
    {
      id: 'malformed-id-is-refused',
      title: 'An artifact id that is none is answered 400 or 404.',
      requirements: ['artifacts.malformed-id'],
      covers: ['get-artifact 400'],
      run: async ({ device }) =>
        expectStatus(await device.call('get-artifact', { path: { id: 'no-such-form' } }), 400, 404),
    },
  ],
});

const whatTheFileHolds: JudgingCase<DeviceAndArtifact> = {
  id: 'fields-come-from-the-file',
  title:
    'Format, signature, files, provides, depends and size, if told, are those of the uploaded file.',
  requirements: ['artifacts.from-the-file'],
  run: async ({ device, artifact }) => {
    const answer = await device.call('get-artifact', { path: { id: artifact.id } });
    expectStatus(answer, 200);
    const given = expectShape(answer, artifactShape);
    const { info, updates } = given;
    expectEqualIfThere('format', info?.format, 'mender');
    expectEqualIfThere('version', info?.version, 3);
    expectEqualIfThere('signed', given.signed, artifact.signed);
    expectEqualIfThere('size', given.size, artifact.sizeBytes);
    if (updates?.every(({ files }) => files)) expectFiles(updates, artifact.files);
    expectEqualIfThere('provides', given.artifact_provides, artifact.provides);
    const { artifact_depends: depends, clears_artifact_provides: clears } = given;
    expectEqualIfThere('depends', depends && eachSorted(depends), eachSorted(artifact.depends));
    expectEqualIfThere('clears', clears && sorted(clears), sorted(artifact.clears));
  },
};

/** Each file that was uploaded is among those of the updates, with what is told of it. */
function expectFiles(updates: readonly Update[], uploaded: SampleArtifact['files']): void {
  const files = updates.flatMap((update) => update.files ?? []);
  expectEqual('number of files', files.length, uploaded.length);
  for (const { name, checksum, size } of uploaded) {
    const file = files.find((one) => one.name === name);
    expectPresent(`a file ${name}`, file);
    expectEqualIfThere(`checksum of ${name}`, file?.checksum, checksum);
    expectEqualIfThere(`size of ${name}`, file?.size, size);
  }
}

function eachSorted(lists: Readonly<Record<string, readonly string[]>>) {
  return Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, sorted(list)]));
}

const fromFile = defineScenario({
  area: 'artifacts',
  name: 'What the file holds',
  start: 'an accepted device, and an uploaded artifact that is signed and has two files',
  risk: 'write',
  needs: ['operator'],
  arrange: (stage) => deviceAndArtifact(stage, 'signed'),
  cases: [whatTheFileHolds],
});

const described = defineScenario({
  area: 'artifacts',
  name: 'Update data',
  start: 'an accepted device, and an uploaded artifact with update data',
  risk: 'write',
  needs: ['operator'],
  arrange: (stage) => deviceAndArtifact(stage, 'dependent'),
  cases: [
    {
      id: 'meta-data-or-metadata',
      title: 'Update data may stand in the deprecated meta_data, in metadata, or in both.',
      requirements: ['artifacts.meta-data'],
      observe: async ({ device, artifact }) => {
        const answer = await device.call('get-artifact', { path: { id: artifact.id } });
        const [update = {}] = expectShape(answer, artifactShape).updates ?? [];
        const names = ['meta_data', 'metadata'].filter((name) => name in update);
        return observed(names.length === 0 ? 'neither is there' : names.join(' and '));
      },
    },
  ],
});

const empty = defineScenario({
  area: 'artifacts',
  name: 'An empty artifact',
  start: 'an accepted device, and an uploaded artifact without payload',
  risk: 'write',
  needs: ['operator'],
  arrange: (stage) => deviceAndArtifact(stage, 'empty'),
  cases: [
    {
      id: 'empty-type-is-null',
      title: 'An empty artifact has one update, if any are told, whose type is null.',
      requirements: ['artifacts.empty-type-is-null'],
      run: async ({ device, artifact }) => {
        const answer = await device.call('get-artifact', { path: { id: artifact.id } });
        expectStatus(answer, 200);
        const types = expectShape(answer, artifactShape).updates?.map(
          (update) => update.type_info?.type,
        );
        expectEqualIfThere('types', types, [null]);
      },
    },
  ],
});

/** Spec: Artifact */
export const artifactCases = [...listed, ...one, ...fromFile, ...described, ...empty];
