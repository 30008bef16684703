/** The fields of an artifact, each with the check of its value. Spec: Artifact */
import { valueText } from '../../../fixtures/base/value-text.ts';
import { endOfLife } from '../../../fixtures/contract/deprecations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { isTimestamp, timestampMs } from '../../../fixtures/contract/text.ts';
import type { UploadedArtifact } from '../../context/shared-artifacts.ts';
import {
  describeValue,
  expectEqual,
  expectEqualIfThere,
  expectThat,
  sorted,
} from '../../target/expectations.ts';
import { entriesOf, isMap, type Members, membersOf } from '../../target/json-members.ts';

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Clocks of the servers behind one address may differ by this much. */
const CLOCK_SKEW_MS = 5000;

/** An artifact as the target returns it. */
export interface ReturnedArtifact {
  /** The source of the members: `in the list` or `alone`. */
  readonly where: string;
  readonly members: Members;
  readonly answeredMs: number;
}

/** One field and the check of its value, in a list and alone. */
export interface ArtifactField {
  readonly id: string;
  readonly title: string;
  readonly requirement: RequirementId;
  readonly holds: (source: ReturnedArtifact, artifact: UploadedArtifact) => void;
}

/** Asserts that the value, if present, is of the kind. */
function expectKind(
  expected: string,
  value: unknown,
  [kind, is]: readonly [string, (value: unknown) => boolean],
): void {
  if (value !== undefined)
    expectThat(is(value), `${expected} that is ${kind}`, describeValue(value));
}

const text = ['a string', (value: unknown) => typeof value === 'string'] as const;
const map = ['an object', isMap] as const;
const dateTime = [
  'a date-time',
  (value: unknown) => typeof value === 'string' && isTimestamp(value),
] as const;
const mapOrMaps = [
  'an object or an array of objects',
  (value: unknown) =>
    value === null || isMap(value) || (Array.isArray(value) && value.every(isMap)),
] as const;
const mapOrNull = ['an object', (value: unknown) => value === null || isMap(value)] as const;
const maps = [
  'an array of objects',
  (value: unknown) => Array.isArray(value) && value.every(isMap),
] as const;

export function updatesOf({ members }: ReturnedArtifact): readonly Members[] {
  return entriesOf(members.updates).map(membersOf);
}

function filesOf(source: ReturnedArtifact): readonly Members[] {
  return updatesOf(source).flatMap(({ files }) => entriesOf(files).map(membersOf));
}

/** Asserts that each file under `member` matches the uploaded file of the same name. */
function expectOfFiles(
  source: ReturnedArtifact,
  member: 'name' | 'checksum' | 'size',
  uploaded: UploadedArtifact['files'],
): void {
  for (const file of filesOf(source).filter((each) => member in each)) {
    const namesakes = uploaded.filter(({ name }) => name === file.name);
    const allowedValues = (namesakes.length > 0 ? namesakes : uploaded).map((each) => each[member]);
    const isAllowed = allowedValues.some((value) => value === file[member]);
    const what = `${member} of a file ${source.where} among ${describeValue(allowedValues)}`;
    expectThat(isAllowed, what, describeValue(file[member]));
  }
}

function sortedTexts(value: unknown): unknown {
  return Array.isArray(value) ? sorted(value) : value;
}

function eachSorted(lists: unknown): unknown {
  if (!isMap(lists)) return lists;
  return Object.fromEntries(
    Object.entries(membersOf(lists)).map(([name, each]) => [name, sortedTexts(each)]),
  );
}

export const ownFields: readonly ArtifactField[] = [
  {
    id: 'id-is-a-uuid',
    title: 'The ID of an artifact is present and has the shape of a UUID.',
    requirement: 'artifacts.id',
    holds: ({ where, members: { id } }) =>
      expectThat(
        uuidPattern.test(valueText(id)),
        `a UUID as ID ${where}`,
        describeValue(id ?? 'none'),
      ),
  },
  {
    id: 'name-is-that-of-the-file',
    title: 'The name of an artifact is present and is the one in its file.',
    requirement: 'artifacts.name',
    holds: ({ where, members }, { name }) => expectEqual(`name ${where}`, members.name, name),
  },
  {
    id: 'description-is-string',
    title: 'The description of an artifact, if present, is a string.',
    requirement: 'artifacts.description',
    holds: ({ where, members }) => expectKind(`description ${where}`, members.description, text),
  },
  {
    id: 'device-types-are-those-of-the-file',
    title: 'The compatible device types are present: an array of the strings in the file.',
    requirement: 'artifacts.device-types',
    holds: ({ where, members }, { deviceTypes }) => {
      const reportedValues = sortedTexts(members.device_types_compatible);
      expectEqual(`device types ${where}`, reportedValues, sorted(deviceTypes));
    },
  },
  {
    id: 'signed-is-true-for-a-signed-file',
    title: 'The field signed, if present, is a boolean: true for a file that is signed.',
    requirement: 'artifacts.signed',
    holds: ({ where, members }, { signed }) =>
      expectEqualIfThere(`signed ${where}`, members.signed, signed),
  },
  {
    id: 'provides-are-those-of-the-file',
    title: 'The provides, if present, map strings to strings, as in the file.',
    requirement: 'artifacts.provides',
    holds: ({ where, members }, { provides }) =>
      expectEqualIfThere(`provides ${where}`, members.artifact_provides, provides),
  },
  {
    id: 'depends-are-those-of-the-file',
    title: 'The depends, if present, map strings to arrays of strings, as in the file.',
    requirement: 'artifacts.depends',
    holds: ({ where, members }, { depends }) => {
      const reportedValues = eachSorted(members.artifact_depends);
      expectEqualIfThere(`depends ${where}`, reportedValues, eachSorted(depends));
    },
  },
  {
    id: 'clears-are-those-of-the-file',
    title: 'The provides to clear, if present, are the array of patterns in the file.',
    requirement: 'artifacts.clears',
    holds: ({ where, members }, { clears }) => {
      const reportedValues = sortedTexts(members.clears_artifact_provides);
      expectEqualIfThere(`clears ${where}`, reportedValues, sorted(clears));
    },
  },
  {
    id: 'size-is-that-of-the-file',
    title: 'The size of an artifact, if present, is the number of bytes of its file.',
    requirement: 'artifacts.size',
    holds: ({ where, members }, { sizeBytes }) =>
      expectEqualIfThere(`size ${where}`, members.size, sizeBytes),
  },
  {
    id: 'modified-is-a-past-moment',
    title: 'The time of the last change is present: a date-time that is not in the future.',
    requirement: 'artifacts.modified',
    holds: ({ where, members: { modified }, answeredMs }) => {
      const isDateTime = typeof modified === 'string' && isTimestamp(modified);
      expectThat(isDateTime, `a date-time as modified ${where}`, describeValue(modified ?? 'none'));
      const isPast = timestampMs(modified) <= answeredMs + CLOCK_SKEW_MS;
      expectThat(
        isPast,
        `modified ${where} not after ${new Date(answeredMs).toISOString()}`,
        modified,
      );
    },
  },
];

export const nestedFields: readonly ArtifactField[] = [
  {
    id: 'info-is-an-object',
    title: 'The info of an artifact, if present, is an object.',
    requirement: 'artifacts.info',
    holds: ({ where, members }) => expectKind(`info ${where}`, members.info, map),
  },
  {
    id: 'format-is-that-of-the-file',
    title: 'The format in info, if present, is the format of the file: mender.',
    requirement: 'artifacts.info-format',
    holds: ({ where, members }) =>
      expectEqualIfThere(`format ${where}`, membersOf(members.info).format, 'mender'),
  },
  {
    id: 'version-is-that-of-the-format',
    title: 'The version in info, if present, is the format version of the file, an integer.',
    requirement: 'artifacts.info-version',
    holds: ({ where, members }) =>
      expectEqualIfThere(`version ${where}`, membersOf(members.info).version, 3),
  },
  {
    id: 'updates-are-objects',
    title: 'The updates of an artifact, if present, are an array of objects.',
    requirement: 'artifacts.updates',
    holds: ({ where, members }) => expectKind(`updates ${where}`, members.updates, maps),
  },
  {
    id: 'type-info-is-an-object',
    title: 'The type_info of an update, if present, is an object.',
    requirement: 'artifacts.type-info',
    holds: (source) => {
      for (const { type_info: info } of updatesOf(source)) {
        expectKind(`type_info ${source.where}`, info, map);
      }
    },
  },
  {
    id: 'update-type-is-that-of-the-file',
    title: 'The type of an update, if present, is the one in the file.',
    requirement: 'artifacts.update-type',
    holds: (source, { updateType }) => {
      for (const { type_info: info } of updatesOf(source)) {
        expectEqualIfThere(`type ${source.where}`, membersOf(info).type, updateType);
      }
    },
  },
  {
    id: 'files-are-objects',
    title: 'The files of an update, if present, are an array of objects.',
    requirement: 'artifacts.files',
    holds: (source) => {
      for (const { files } of updatesOf(source)) expectKind(`files ${source.where}`, files, maps);
    },
  },
  {
    id: 'files-are-those-of-the-artifact',
    title: 'If updates list their files, they list as many as the artifact has.',
    requirement: 'artifacts.from-the-file',
    holds: (source, { files }) => {
      const reportedValues = updatesOf(source).map((update) => update.files);
      if (reportedValues.length === 0 || !reportedValues.every(Array.isArray)) return;
      expectEqual(`number of files ${source.where}`, reportedValues.flat().length, files.length);
    },
  },
  {
    id: 'file-names-are-those-of-the-artifact',
    title: 'The name of an update file, if present, is the one in the artifact.',
    requirement: 'artifacts.file-name',
    holds: (source, { files }) => expectOfFiles(source, 'name', files),
  },
  {
    id: 'file-checksums-are-those-of-the-artifact',
    title: 'The checksum of an update file, if present, is its digest in the artifact.',
    requirement: 'artifacts.file-checksum',
    holds: (source, { files }) => expectOfFiles(source, 'checksum', files),
  },
  {
    id: 'file-sizes-are-those-of-the-artifact',
    title: 'The size of an update file, if present, is its length in bytes.',
    requirement: 'artifacts.file-size',
    holds: (source, { files }) => expectOfFiles(source, 'size', files),
  },
  {
    id: 'file-dates-are-date-times',
    title: 'The date of an update file, if present, is a date-time.',
    requirement: 'artifacts.file-date',
    holds: (source) => {
      for (const { date } of filesOf(source)) expectKind(`date ${source.where}`, date, dateTime);
    },
  },
];

export const deprecatedFields: readonly ArtifactField[] = [
  {
    id: 'meta-data-is-an-object',
    title:
      'The deprecated meta_data of an update, if present, is an object or an array of objects.',
    requirement: 'artifacts.meta-data-is-an-object',
    holds: (source) => {
      for (const { meta_data: data } of updatesOf(source)) {
        expectKind(`meta_data ${source.where}`, data, mapOrMaps);
      }
    },
  },
  {
    id: 'meta-data-stays-until-its-end',
    title: 'Until its end of life, an update with metadata has the deprecated meta_data too.',
    requirement: 'artifacts.meta-data-until-its-end',
    holds: (source) => {
      if (source.answeredMs >= Date.parse(endOfLife)) return;
      for (const { meta_data: data, metadata } of updatesOf(source)) {
        const isMissing = Object.keys(membersOf(metadata)).length > 0 && (data ?? null) === null;
        expectThat(!isMissing, `meta_data ${source.where}`, 'only metadata');
      }
    },
  },
  {
    id: 'metadata-is-an-object',
    title: 'The metadata of an update, which replaces meta_data, is an object, if present.',
    requirement: 'artifacts.metadata-is-an-object',
    holds: (source) => {
      for (const { metadata } of updatesOf(source)) {
        expectKind(`metadata ${source.where}`, metadata, mapOrNull);
      }
    },
  },
];
