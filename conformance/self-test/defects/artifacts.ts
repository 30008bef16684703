/** Defects in listing and fetching artifacts as a device. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { entriesOf, type Members, membersOf } from '../../target/json-members.ts';
import { changedAt, listOf, queryOf, withJson, withStatus } from '../alter.ts';
import { bodyBecomes, refusalBecomes, responseBecomes, statusBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest } from '../defect.ts';
import { requestFor } from '../requests.ts';

const LISTED_MAX = 100;
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const lookups = ['list-artifacts', 'get-artifact'] as const;

function namesUuid({ parameters }: ProxiedRequest): boolean {
  return uuidPattern.test(parameters.id ?? '');
}

/** Matches queries with exactly these parameters. */
function asksWith(...names: readonly string[]): (request: ProxiedRequest) => boolean {
  return (request) => [...queryOf(request).keys()].sort().join() === [...names].sort().join();
}

/** Adds artifacts that `appliesTo` selects to lists with fewer than two entries. */
export function addsToList(
  appliesTo: (artifact: Members, query: URLSearchParams) => boolean,
): () => Alteration {
  return responseBecomes(async (response, request, send) => {
    if (response.status !== 200 || listOf(response).length > 1) return response;
    const listParts = { token: send.userToken, query: { per_page: '500' } };
    const all = listOf(await send(requestFor('list-all-artifacts', listParts))).map(membersOf);
    const more = all.filter((artifact) => appliesTo(artifact, queryOf(request)));
    return withJson(response, [...listOf(response), ...more]);
  });
}

/** A wrong value of one field, both in lists and in single artifacts. */
interface FieldDefect {
  readonly id: string;
  readonly title: string;
  readonly violates: RequirementId;
  /** A requirement that an artifact in a list then violates as well. */
  readonly inLists?: RequirementId;
  readonly path: string;
  /** The changed value of the field; the field is removed where undefined is returned. */
  readonly becomes: (value: unknown) => unknown;
}

const fields: readonly FieldDefect[] = [
  {
    id: 'artifact-id-is-no-uuid',
    title: 'The ID of an artifact is a number.',
    violates: 'artifacts.id',
    path: 'id',
    becomes: () => 'artifact-1',
  },
  {
    id: 'artifact-has-no-id',
    title: 'An artifact is shown without its ID.',
    violates: 'artifacts.id',
    path: 'id',
    becomes: () => undefined,
  },
  {
    id: 'artifact-has-no-name',
    title: 'An artifact is shown without its name.',
    violates: 'artifacts.name',
    path: 'name',
    becomes: () => undefined,
  },
  {
    id: 'artifact-has-its-file-name',
    title: 'The name of an artifact is that of its file.',
    violates: 'artifacts.name',
    inLists: 'artifacts.list-selects-release',
    path: 'name',
    becomes: (name) => `${name}.mender`,
  },
  {
    id: 'artifact-description-is-an-object',
    title: 'The description of an artifact is an object.',
    violates: 'artifacts.description',
    path: 'description',
    becomes: (text) => ({ text }),
  },
  {
    id: 'artifact-has-no-device-types',
    title: 'An artifact is shown without its device types.',
    violates: 'artifacts.device-types',
    path: 'device_types_compatible',
    becomes: () => undefined,
  },
  {
    id: 'artifact-has-one-device-type',
    title: 'Only the first of the device types of an artifact is shown.',
    violates: 'artifacts.device-types',
    inLists: 'artifacts.list-selects',
    path: 'device_types_compatible',
    becomes: (types) => entriesOf(types).slice(0, 1),
  },
  {
    id: 'artifact-info-is-a-string',
    title: 'The info of an artifact is a string.',
    violates: 'artifacts.info',
    path: 'info',
    becomes: () => 'mender, version 3',
  },
  {
    id: 'artifact-format-is-another',
    title: 'The format of an artifact is not that of its file.',
    violates: 'artifacts.info-format',
    path: 'info.format',
    becomes: () => 'tar',
  },
  {
    id: 'artifact-version-is-a-string',
    title: 'The version of the format is a string.',
    violates: 'artifacts.info-version',
    path: 'info.version',
    becomes: String,
  },
  {
    id: 'artifact-is-never-signed',
    title: 'Signed artifacts are shown as unsigned.',
    violates: 'artifacts.signed',
    path: 'signed',
    becomes: () => false,
  },
  {
    id: 'artifact-is-always-signed',
    title: 'Artifacts without a signature are shown as signed.',
    violates: 'artifacts.signed',
    path: 'signed',
    becomes: () => true,
  },
  {
    id: 'artifact-updates-are-a-map',
    title: 'The updates of an artifact are an object with numbers as names.',
    violates: 'artifacts.updates',
    path: 'updates',
    becomes: (updates) => ({ ...entriesOf(updates) }),
  },
  {
    id: 'update-type-info-is-a-string',
    title: 'The type_info of an update is a string.',
    violates: 'artifacts.type-info',
    path: 'updates.*.type_info',
    becomes: (info) => String(membersOf(info).type),
  },
  {
    id: 'update-type-is-generic',
    title: 'The type of every update is rootfs-image, whatever the file says.',
    violates: 'artifacts.update-type',
    path: 'updates.*.type_info.type',
    becomes: (type) => (type === null ? null : 'rootfs-image'),
  },
  {
    id: 'empty-update-type-is-a-string',
    title: 'The type of an empty artifact is the empty string.',
    violates: 'artifacts.empty-type-is-null',
    path: 'updates.*.type_info.type',
    becomes: (type) => type ?? '',
  },
  {
    id: 'update-files-are-names',
    title: 'The files of an update are a list of names.',
    violates: 'artifacts.files',
    path: 'updates.*.files',
    becomes: (files) => entriesOf(files).map((file) => membersOf(file).name),
  },
  {
    id: 'update-has-one-file',
    title: 'Only the first file of an update is shown.',
    violates: 'artifacts.from-the-file',
    path: 'updates.*.files',
    becomes: (files) => entriesOf(files).slice(0, 1),
  },
  {
    id: 'file-name-has-a-folder',
    title: 'The names of update files are prefixed by a folder.',
    violates: 'artifacts.file-name',
    path: 'updates.*.files.*.name',
    becomes: (name) => `data/0000/${name}`,
  },
  {
    id: 'file-checksum-is-in-capitals',
    title: 'The checksums of update files are in capital letters.',
    violates: 'artifacts.file-checksum',
    path: 'updates.*.files.*.checksum',
    becomes: (checksum) => String(checksum).toUpperCase(),
  },
  {
    id: 'file-size-is-in-blocks',
    title: 'The sizes of update files are in blocks of 512 bytes.',
    violates: 'artifacts.file-size',
    path: 'updates.*.files.*.size',
    becomes: (size) => Math.ceil(Number(size) / 512),
  },
  {
    id: 'file-date-is-in-seconds',
    title: 'The dates of update files are seconds since the Unix epoch.',
    violates: 'artifacts.file-date',
    path: 'updates.*.files.*.date',
    becomes: () => 1_769_860_800,
  },
  {
    id: 'meta-data-is-a-string',
    title: 'The deprecated meta_data is JSON in a string.',
    violates: 'artifacts.meta-data-is-an-object',
    path: 'updates.*.meta_data',
    becomes: (data) => JSON.stringify(data),
  },
  {
    id: 'meta-data-is-gone',
    title: 'The deprecated meta_data is missing beside its replacement before its end of life.',
    violates: 'artifacts.meta-data-until-its-end',
    path: 'updates.*.meta_data',
    becomes: () => undefined,
  },
  {
    id: 'metadata-is-an-array',
    title: 'The metadata that replaces meta_data is an array of objects.',
    violates: 'artifacts.metadata-is-an-object',
    path: 'updates.*.metadata',
    becomes: (data) => [data],
  },
  {
    id: 'artifact-provides-are-an-array',
    title: 'The provides of an artifact are a list of names and values.',
    violates: 'artifacts.provides',
    path: 'artifact_provides',
    becomes: (provides) => Object.entries(membersOf(provides)),
  },
  {
    id: 'artifact-depends-are-single',
    title: 'A dependency with one value is a string instead of an array.',
    violates: 'artifacts.depends',
    path: 'artifact_depends',
    becomes: (depends) =>
      Object.fromEntries(
        Object.entries(membersOf(depends)).map(([name, values]) => [name, entriesOf(values)[0]]),
      ),
  },
  {
    id: 'artifact-clears-nothing',
    title: 'The provides to clear are always an empty array.',
    violates: 'artifacts.clears',
    path: 'clears_artifact_provides',
    becomes: () => [],
  },
  {
    id: 'artifact-size-is-unpacked',
    title: 'The size of an artifact is not that of the file that devices download.',
    violates: 'artifacts.size',
    path: 'size',
    becomes: (size) => Number(size) + 512,
  },
  {
    id: 'artifact-modified-is-a-day',
    title: 'The time of the last change is a date without a time.',
    violates: 'artifacts.modified',
    path: 'modified',
    becomes: (time) => String(time).slice(0, 10),
  },
  {
    id: 'artifact-has-no-modified',
    title: 'An artifact is shown without the time of its last change.',
    violates: 'artifacts.modified',
    path: 'modified',
    becomes: () => undefined,
  },
];

const lists: readonly Defect[] = [
  {
    id: 'artifact-list-is-wrapped',
    title: 'The list of artifacts is wrapped in an object.',
    violates: ['artifacts.list'],
    operations: ['list-artifacts'],
    alter: bodyBecomes((list) => (entriesOf(list).length > 0 ? { artifacts: list } : list)),
  },
  {
    id: 'artifact-list-is-201',
    title: 'The list of artifacts is answered with 201.',
    violates: ['artifacts.list'],
    operations: ['list-artifacts'],
    alter: responseBecomes((response) =>
      listOf(response).length > 0 ? withStatus(response, 201) : response,
    ),
  },
  {
    id: 'artifact-list-is-empty',
    title: 'The list of artifacts is always empty.',
    violates: ['artifacts.list-is-complete'],
    operations: ['list-artifacts'],
    alter: bodyBecomes(() => []),
  },
  {
    id: 'artifact-list-takes-no-parameters',
    title: 'A list without any parameter is answered with 200.',
    violates: ['artifacts.list-parameters'],
    operations: ['list-artifacts'],
    alter: statusBecomes(400, 200, asksWith()),
  },
  {
    id: 'artifact-list-of-all-releases',
    title: 'A list without a release name is answered with 200.',
    violates: ['artifacts.release-name-is-required'],
    operations: ['list-artifacts'],
    alter: statusBecomes(400, 200, asksWith('device_type')),
  },
  {
    id: 'artifact-list-of-all-device-types',
    title: 'A list without a device type is answered with 200.',
    violates: ['artifacts.device-type-is-required'],
    operations: ['list-artifacts'],
    alter: statusBecomes(400, 200, asksWith('release_name')),
  },
  {
    id: 'artifact-list-ignores-the-device-type',
    title: 'The list of a release also has its artifacts for other device types.',
    violates: ['artifacts.list-selects'],
    operations: ['list-artifacts'],
    alter: addsToList(
      ({ name, device_types_compatible: types }, query) =>
        name === query.get('release_name') && !entriesOf(types).includes(query.get('device_type')),
    ),
  },
  {
    id: 'artifact-list-ignores-the-release',
    title: 'The list of a release also has artifacts of other releases.',
    violates: ['artifacts.list-selects-release', 'tenants.are-apart'],
    operations: ['list-artifacts'],
    alter: addsToList(
      ({ name, device_types_compatible: types }, query) =>
        name !== query.get('release_name') && entriesOf(types).includes(query.get('device_type')),
    ),
  },
  {
    id: 'artifact-list-has-101',
    title: 'A list of artifacts holds 101 artifacts.',
    violates: ['artifacts.list-bound'],
    operations: ['list-artifacts'],
    alter: bodyBecomes((list) =>
      entriesOf(list).length === LISTED_MAX ? [...entriesOf(list), entriesOf(list)[0]] : list,
    ),
  },
];

const singleArtifactDefects: readonly Defect[] = [
  {
    id: 'artifact-alone-is-201',
    title: 'The details of an artifact are answered with 201.',
    violates: ['artifacts.fields'],
    operations: ['get-artifact'],
    alter: statusBecomes(200, 201),
  },
  {
    id: 'unknown-artifact-is-empty',
    title: 'The details of an artifact that does not exist are answered with 204.',
    violates: ['artifacts.unknown-is-404', 'tenants.are-apart'],
    operations: ['get-artifact'],
    alter: statusBecomes(404, 204, namesUuid),
  },
  {
    id: 'malformed-artifact-id-is-500',
    title: 'An artifact ID that is not a UUID is answered with 500.',
    violates: ['artifacts.malformed-id'],
    operations: ['get-artifact'],
    alter: refusalBecomes(500, (request) => !namesUuid(request)),
  },
  {
    id: 'artifacts-are-public',
    title: 'Artifacts are shown to callers without a token.',
    violates: ['artifacts.unauthenticated-is-401', 'tokens.missing-is-401'],
    operations: lookups,
    alter: statusBecomes(401, 200, ({ headers }) => headers.authorization === undefined),
  },
];

/** All defects of this area. */
export const artifactDefects: readonly Defect[] = [
  ...lists,
  ...singleArtifactDefects,
  ...fields.map(
    ({ id, title, violates, inLists, path, becomes }): Defect => ({
      id,
      title,
      // What is listed of a file is then not that of the file.
      violates: path.startsWith('updates.*.files.*.')
        ? [violates, 'artifacts.from-the-file']
        : [violates, ...(inLists ? [inLists] : [])],
      operations: lookups,
      alter: bodyBecomes((body) =>
        changedAt(body, Array.isArray(body) ? `*.${path}` : path, becomes),
      ),
    }),
  ),
];
