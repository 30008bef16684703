/** Defects with unusual artifacts, and in lists by names that resemble one another. */
import { isObject } from '../../../fixtures/base/json.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { entriesOf, type Members } from '../../target/json-members.ts';
import { changedAt, isSuccess, jsonOf, queryOf, withJson } from '../alter.ts';
import { bodyBecomes, requestBecomes, responseBecomes } from '../alterations.ts';
import type { Alteration, Defect } from '../defect.ts';
import { addsToList } from './artifacts.ts';

const lists = ['list-artifacts'] as const;
const lookups = ['list-artifacts', 'get-artifact'] as const;
/** Number of bytes after which a file is cut off; no other artifact of the suite is as large. */
const CUT_AT_BYTES = 262_144;
const SMALL_PAGE = 20;

/** Changes the member at the path of each artifact, in lists and alone. */
function memberBecomes(path: string, change: (value: unknown) => unknown): () => Alteration {
  return bodyBecomes((body) =>
    Array.isArray(body)
      ? body.map((artifact) => changedAt(artifact, path, change))
      : changedAt(body, path, change),
  );
}

function firstOf(count: number): (list: unknown) => unknown {
  return (list) => (Array.isArray(list) ? list.slice(0, count) : list);
}

/** Returns the object with the pairs for which `keeps` returns true. */
function pairsThat(keeps: (name: string, value: unknown, index: number) => boolean) {
  return (pairs: unknown): unknown =>
    isObject(pairs)
      ? Object.fromEntries(
          Object.entries(pairs).filter(([name, value], index) => keeps(name, value, index)),
        )
      : pairs;
}

function inAscii(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/[^ -~]/g, '?'));
}

interface MemberRow {
  readonly id: string;
  readonly title: string;
  readonly violates: RequirementId;
  readonly path: string;
  readonly becomes: (value: unknown) => unknown;
}

const members: readonly MemberRow[] = [
  {
    id: 'only-first-payload-is-shown',
    title: 'Of several payloads, an artifact shows only the first.',
    violates: 'artifacts.update-type',
    path: 'updates',
    becomes: firstOf(1),
  },
  {
    id: 'every-payload-has-the-first-type',
    title: 'The updates of an artifact all have the type of the first one.',
    violates: 'artifacts.update-type',
    path: 'updates',
    becomes: (updates) => {
      const [firstUpdate] = entriesOf(updates);
      const info = isObject(firstUpdate) ? firstUpdate.type_info : undefined;
      return entriesOf(updates).map((update) => changedAt(update, 'type_info', () => info));
    },
  },
  {
    id: 'files-of-later-payloads-are-lost',
    title: 'The updates of an artifact have no files except the first one.',
    violates: 'artifacts.from-the-file',
    path: 'updates',
    becomes: (updates) =>
      entriesOf(updates).map((update, index) =>
        index === 0 ? update : changedAt(update, 'files', () => []),
      ),
  },
  {
    id: 'files-without-bytes-are-lost',
    title: 'A file of no bytes is missing from the files of its update.',
    violates: 'artifacts.from-the-file',
    path: 'updates.*.files',
    becomes: (files) => entriesOf(files).filter((file) => isObject(file) && file.size !== 0),
  },
  {
    id: 'only-twenty-files-are-shown',
    title: 'Of many files, an update shows only twenty.',
    violates: 'artifacts.from-the-file',
    path: 'updates.*.files',
    becomes: firstOf(SMALL_PAGE),
  },
  {
    id: 'provides-of-later-payloads-are-lost',
    title: 'An artifact shows the provides of its first payload only.',
    violates: 'artifacts.provides',
    path: 'artifact_provides',
    becomes: pairsThat((name) => name !== 'single-file.version'),
  },
  {
    id: 'empty-provides-are-lost',
    title: 'A provide with an empty value is not shown.',
    violates: 'artifacts.provides',
    path: 'artifact_provides',
    becomes: pairsThat((_, value) => value !== ''),
  },
  {
    id: 'provides-are-in-ascii',
    title: 'Letters beyond ASCII in provides are replaced by question marks.',
    violates: 'artifacts.provides',
    path: 'artifact_provides',
    becomes: inAscii,
  },
  {
    id: 'only-ten-provides-are-shown',
    title: 'Of many provides, an artifact shows only ten.',
    violates: 'artifacts.provides',
    path: 'artifact_provides',
    becomes: pairsThat((_, __, index) => index < 10),
  },
  {
    id: 'depends-have-three-values-at-most',
    title: 'Of many values of a dependency, an artifact shows only three.',
    violates: 'artifacts.depends',
    path: 'artifact_depends',
    becomes: (depends) =>
      isObject(depends)
        ? Object.fromEntries(
            Object.entries(depends).map(([name, values]) => [
              name,
              name === 'device_type' ? values : firstOf(3)(values),
            ]),
          )
        : depends,
  },
  {
    id: 'dependency-on-the-group-is-lost',
    title: 'An artifact does not show that it depends on a group of several.',
    violates: 'artifacts.depends',
    path: 'artifact_depends',
    becomes: pairsThat((name, values) => name !== 'artifact_group' || entriesOf(values).length < 3),
  },
  {
    id: 'depends-values-are-in-small-letters',
    title: 'The values of dependencies are shown in small letters, each once.',
    violates: 'artifacts.depends',
    path: 'artifact_depends.Case',
    becomes: (values) => [...new Set(entriesOf(values).map((each) => String(each).toLowerCase()))],
  },
  {
    id: 'clears-of-later-payloads-are-lost',
    title: 'An artifact shows only the first of the patterns that it clears.',
    violates: 'artifacts.clears',
    path: 'clears_artifact_provides',
    becomes: (patterns) =>
      entriesOf(patterns).filter((pattern) => pattern !== 'single-file.*' && pattern !== 'plain'),
  },
  {
    id: 'only-twenty-device-types-are-shown',
    title: 'Of many device types, an artifact shows only twenty.',
    violates: 'artifacts.device-types',
    path: 'device_types_compatible',
    becomes: firstOf(SMALL_PAGE),
  },
  {
    id: 'size-has-no-large-numbers',
    title: 'The size of a large artifact is shown modulo 65,536.',
    violates: 'artifacts.size',
    path: 'size',
    becomes: (size) => (Number(size) > CUT_AT_BYTES ? Number(size) % 65_536 : size),
  },
];

/** Adds artifacts whose name, or one of whose device types, is like the requested one. */
function alsoLike(
  parameter: 'release_name' | 'device_type',
  isLike: (text: string, requestedText: string) => boolean,
): () => Alteration {
  return addsToList((artifact: Members, parameters: URLSearchParams) => {
    const isRelease = artifact.name === parameters.get('release_name');
    const types = entriesOf(artifact.device_types_compatible).map(String);
    const isType = types.includes(parameters.get('device_type') ?? '');
    const expectedText = parameters.get(parameter) ?? '';
    if (isRelease && isType) return false;
    return parameter === 'release_name'
      ? isType && isLike(String(artifact.name), expectedText)
      : isRelease && types.some((type) => isLike(type, expectedText));
  });
}

/** Ways to compare that take different texts for the same one. */
const comparisons: Readonly<
  Record<
    string,
    readonly [phrase: string, isLike: (text: string, requestedText: string) => boolean]
  >
> = {
  beginnings: ['by their beginnings', (text, requestedText) => text.startsWith(requestedText)],
  wildcards: [
    'as patterns of SQL',
    (text, requestedText) => {
      const source = requestedText.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('_', '.');
      return new RegExp(`^${source.replaceAll('%', '.*')}$`, 'u').test(text);
    },
  ],
  stars: [
    'as patterns in which a star is wild',
    (text, requestedText) =>
      requestedText.endsWith('*') && text.startsWith(requestedText.slice(0, -1)),
  ],
  'letter-case': [
    'without regard to letter case',
    (text, requestedText) => text.toLowerCase() === requestedText.toLowerCase(),
  ],
  accents: [
    'without regard to umlauts',
    (text, requestedText) => text.replaceAll('ß', 'ss') === requestedText.replaceAll('ß', 'ss'),
  ],
};

const likeDefects = Object.entries(comparisons).flatMap(([name, [phrase, isLike]]): Defect[] => [
  {
    id: `releases-are-compared-by-${name}`,
    title: `The names of releases are compared ${phrase}.`,
    violates: ['artifacts.list-selects-release'],
    operations: lists,
    alter: alsoLike('release_name', isLike),
  },
  {
    id: `listed-types-are-compared-by-${name}`,
    title: `The device types of a list are compared ${phrase}.`,
    violates: ['artifacts.list-selects'],
    operations: lists,
    alter: alsoLike('device_type', isLike),
  },
]);

/** Spec: Artifact; Device deployments v1 */
export const artifactVariantDefects: readonly Defect[] = [
  ...members.map(
    ({ id, title, violates, path, becomes }): Defect => ({
      id,
      title,
      violates: [violates],
      operations: lookups,
      alter: memberBecomes(path, becomes),
    }),
  ),
  ...likeDefects,
  {
    id: 'artifact-list-has-twenty',
    title: 'A list has at most twenty artifacts.',
    violates: ['artifacts.list-is-complete'],
    operations: lists,
    alter: bodyBecomes(firstOf(SMALL_PAGE)),
  },
  {
    id: 'artifact-list-has-the-first-of-each-type',
    title: 'An artifact is listed only for the first of its device types.',
    violates: ['artifacts.list-is-complete'],
    operations: lists,
    alter: responseBecomes((response, request) => {
      const listBody = jsonOf(response);
      if (!isSuccess(response) || !Array.isArray(listBody)) return response;
      const requestedText = queryOf(request).get('device_type');
      const keptEntries = listBody.filter(
        (artifact) => entriesOf(Object(artifact).device_types_compatible)[0] === requestedText,
      );
      return keptEntries.length === listBody.length ? response : withJson(response, keptEntries);
    }),
  },
  {
    id: 'plus-in-a-release-is-a-space',
    title: 'A plus in the name of a release is decoded twice, and so taken for a space.',
    violates: ['artifacts.list-is-complete', 'artifacts.list-selects-release'],
    operations: lists,
    alter: requestBecomes((request) => ({
      ...request,
      query: request.query.replaceAll('%2B', '+'),
    })),
  },
  {
    id: 'large-files-are-cut',
    title: 'Downloads end after 256 KiB.',
    violates: ['link.gives-the-file'],
    operations: ['download-artifact'],
    alter: responseBecomes((response, { headers }) =>
      response.status === 200 && headers.range === undefined && response.body.length < 1e6
        ? { ...response, body: response.body.subarray(0, CUT_AT_BYTES) }
        : response,
    ),
  },
];
