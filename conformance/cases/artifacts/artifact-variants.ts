/**
 * Cases: artifacts of many kinds, written for the case: several payloads, many files, dependencies
 * and device types, files of any size. Spec: Artifact; Device deployments v1
 */
import { createHash } from 'node:crypto';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { artifactLinkShape } from '../../../fixtures/contract/resources.ts';
import { type ArtifactSpec, writeArtifact } from '../../../fixtures/formats/mender-artifact.ts';
import { acceptedDevice } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectJson,
  expectShape,
  expectStatus,
  NotObservable,
  sorted,
} from '../../target/expectations.ts';
import { entriesOf, isMap, type Members, membersOf } from '../../target/json-members.ts';

type Payload = NonNullable<ArtifactSpec['morePayloads']>[number];

/** The parts of an artifact in which a variant differs from the others. */
type Variant = Partial<Omit<ArtifactSpec, 'name' | 'modifiedMs'>>;

const board = 'conformance-form';
const oneFile = [{ name: 'release.bin', content: Buffer.from('of one file') }];
/** Whole seconds; the value is arbitrary. */
const MODIFIED_MS = Date.UTC(2026, 0, 31);
const LARGE_BYTES = 300_000;

function numbered<Item>(count: number, item: (number: number) => Item): readonly Item[] {
  return Array.from({ length: count }, (_, index) => item(index + 1));
}

function pairsOf<Value>(count: number, pair: (number: number) => [string, Value]) {
  return Object.fromEntries(numbered(count, pair));
}

/** Variants by the part of their case's ID, each with a phrase for the title. */
const variants: Readonly<Record<string, readonly [phrase: string, variant: Variant]>> = {
  'several-payloads': [
    'with three payloads of different types',
    {
      payloadType: 'rootfs-image',
      provides: { 'rootfs-image.version': '7' },
      clearsProvides: ['rootfs-image.*'],
      morePayloads: [
        {
          payloadType: 'single-file',
          files: ['first.conf', 'second.conf'].map((name) => ({
            name,
            content: Buffer.from(name),
          })),
          provides: { 'single-file.version': '8' },
          depends: { 'single-file.version': ['6', '7'] },
          clearsProvides: ['single-file.*'],
        },
        {
          payloadType: 'script',
          files: [{ name: 'run.sh', content: Buffer.from('exit 0') }],
          depends: { shell: ['posix'] },
        },
      ],
    },
  ],
  'many-device-types': [
    'for thirty device types',
    { deviceTypes: numbered(30, (number) => `${board}-${number}`) },
  ],
  'many-dependencies': [
    'with many dependencies and provides, each on several values',
    {
      group: 'stable',
      depends: {
        artifact_name: ['release 1', 'release 2'],
        artifact_group: ['beta', 'stable', 'alpha'],
        ...pairsOf<readonly string[]>(8, (number) => [
          `needs-${number}`,
          numbered(number, (value) => `value ${value}`),
        ]),
      },
      provides: pairsOf(12, (number) => [`gives-${number}`, `${number}`]),
      clearsProvides: ['gives-*', 'other.*', 'plain', '*.version'],
    },
  ],
  'strings-of-every-kind': [
    'with reserved signs and letters beyond ASCII in its texts',
    {
      deviceTypes: ['плата/7 & "8"', `${board} <b>`, `${board}+%41`],
      provides: { 'größe.日本': 'ja & "nein"', empty: '', 'with space': ' x ', upper: 'ÄÖ' },
      depends: { 'größe.日本': ['<b>', '%41 + 1', "'quoted' \\"], Case: ['A', 'a'] },
      clearsProvides: ['größe.*', 'with space'],
    },
  ],
  'a-file-without-bytes': [
    'whose one file has no bytes',
    { files: [{ name: 'empty.bin', content: Buffer.alloc(0) }] },
  ],
  'a-file-of-one-byte': [
    'whose one file has one byte',
    { files: [{ name: 'one.bin', content: Buffer.from('1') }], compression: 'none' },
  ],
  'a-large-file': [
    'whose file is large and not compressed',
    { files: [{ name: 'large.bin', content: Buffer.alloc(LARGE_BYTES, 7) }], compression: 'none' },
  ],
  'many-files': [
    'with 25 files of different lengths',
    {
      files: numbered(25, (number) => ({
        name: `file-${number}.bin`,
        content: Buffer.alloc(number * 31, number),
      })),
    },
  ],
};

/** The requirement on each member with which an artifact describes itself. */
const memberRequirements = {
  name: 'artifacts.name',
  device_types_compatible: 'artifacts.device-types',
  artifact_provides: 'artifacts.provides',
  artifact_depends: 'artifacts.depends',
  clears_artifact_provides: 'artifacts.clears',
  size: 'artifacts.size',
  signed: 'artifacts.signed',
  types: 'artifacts.update-type',
  files: 'artifacts.from-the-file',
} as const satisfies Readonly<Record<string, RequirementId>>;
type JudgedMember = keyof typeof memberRequirements;
const judgedMembers = Object.keys(memberRequirements) as readonly JudgedMember[];

type Judged = Readonly<Record<JudgedMember, unknown>>;

/** Returns what a server must tell of the artifact; lists are sorted, since their order is open. */
function expectedOf(spec: ArtifactSpec, sizeBytes: number): Judged {
  const payloads: readonly Payload[] = [spec, ...(spec.morePayloads ?? [])];
  const depends = Object.assign({}, ...payloads.map((each) => each.depends ?? {}));
  return {
    name: spec.name,
    device_types_compatible: sorted(spec.deviceTypes),
    artifact_provides: Object.assign(
      { artifact_name: spec.name },
      spec.group === undefined ? {} : { artifact_group: spec.group },
      ...payloads.map(({ provides }) => provides ?? {}),
    ),
    artifact_depends: eachSorted({ device_type: spec.deviceTypes, ...depends }),
    clears_artifact_provides: sorted(payloads.flatMap((each) => each.clearsProvides ?? [])),
    size: sizeBytes,
    signed: false,
    types: sorted(payloads.map(({ payloadType }) => payloadType)),
    files: sorted(
      payloads.flatMap(({ files = [] }) =>
        files.map(({ name, content }) => ({
          name,
          size: content.length,
          checksum: createHash('sha256').update(content).digest('hex'),
        })),
      ),
    ),
  };
}

/** Returns what a server shows of an artifact; a member that is optional may be undefined. */
function shownMembersOf(artifact: Members): Judged {
  const updates = artifact.updates === undefined ? undefined : entriesOf(artifact.updates);
  const each = updates?.map(membersOf);
  const types = each?.map(({ type_info: info }) => membersOf(info).type);
  const files = each?.map((update) => update.files);
  return {
    name: artifact.name,
    device_types_compatible: sorted(entriesOf(artifact.device_types_compatible)),
    artifact_provides: artifact.artifact_provides,
    artifact_depends: eachSorted(artifact.artifact_depends),
    clears_artifact_provides: sortedIfThere(artifact.clears_artifact_provides),
    size: artifact.size,
    signed: artifact.signed,
    types: types?.includes(undefined) ? undefined : sortedIfThere(types),
    files: files?.includes(undefined) ? undefined : sortedIfThere(files?.flatMap(filesOf)),
  };
}

/** Returns the members of each file that are compared; undefined members are left out. */
function filesOf(files: unknown): readonly unknown[] {
  return entriesOf(files).map((file) => {
    const { name, size, checksum } = membersOf(file);
    return { name, size, checksum };
  });
}

function sortedIfThere(list: unknown): unknown {
  return list === undefined ? undefined : sorted(entriesOf(list));
}

function eachSorted(lists: unknown): unknown {
  if (!isMap(lists)) return lists;
  return Object.fromEntries(
    Object.entries(membersOf(lists)).map(([name, list]) => [name, sorted(entriesOf(list))]),
  );
}

function canonical(value: unknown): string {
  if (!isMap(value)) return JSON.stringify(value);
  return JSON.stringify(sorted(Object.entries(membersOf(value))));
}

/**
 * Returns true if each listed file is another one of the expected files; its members are optional.
 */
function areFiles(listedFiles: unknown, expected: unknown): boolean {
  const unmatchedFiles = entriesOf(expected).map(membersOf);
  const files = entriesOf(listedFiles)
    .map((file) => Object.entries(membersOf(file)).filter(([, value]) => value !== undefined))
    // Those with the most members first, since others fit more files.
    .toSorted((one, other) => other.length - one.length);
  const isOne = (members: [string, unknown][]): boolean => {
    const index = unmatchedFiles.findIndex((file) =>
      members.every(([name, value]) => file[name] === value),
    );
    if (index !== -1) unmatchedFiles.splice(index, 1);
    return index !== -1;
  };
  return files.every(isOne) && unmatchedFiles.length === 0;
}

/** Asserts that the response shows of the artifact what is in its file. */
function expectShown(where: string, artifact: Members, expected: Judged): void {
  const listedMembers = shownMembersOf(artifact);
  for (const member of judgedMembers) {
    const [is, expectedValue] = [listedMembers[member], expected[member]];
    const isSame =
      member === 'files' ? areFiles(is, expectedValue) : canonical(is) === canonical(expectedValue);
    if (is === undefined || isSame) continue;
    const requirement = memberRequirements[member];
    const subject = `${member} ${where}`;
    throw new ExpectationFailure(
      `${subject} ${describeValue(expectedValue)}`,
      `${subject} ${describeValue(is)}`,
      [requirement],
    );
  }
}

/** Lists the artifacts of a release for a device type. */
async function findListed(
  device: SuiteDevice,
  release: string,
  deviceType: string,
): Promise<readonly Members[]> {
  const query = { release_name: release, device_type: deviceType };
  const response = await device.call('list-artifacts', { query });
  if (response.status === 404) return [];
  expectStatus(response, 200);
  return entriesOf(expectJson(response)).map(membersOf);
}

/** Asserts that the link to an artifact gives its file, with its length. */
async function expectFile(
  context: TestContext,
  device: SuiteDevice,
  { id, bytes }: { readonly id: string; readonly bytes: Buffer },
): Promise<void> {
  const response = await device.call('get-artifact-link', { path: { id } });
  if (response.status !== 200) throw new NotObservable('the target gives no link');
  const { uri } = expectShape(response, artifactLinkShape);
  const file = await context.client.send({ method: 'GET', url: uri });
  if (file.status === 200 && file.bytes.equals(bytes)) return;
  const actual = `${file.bytes.length} bytes, answered with ${file.status}`;
  throw new ExpectationFailure(`the ${bytes.length} bytes of the file`, actual, [
    'link.gives-the-file',
  ]);
}

function variantCase([id, [phrase, variant]]: [
  string,
  readonly [string, Variant],
]): JudgingCase<SuiteDevice> {
  return {
    id: `form-${id}`,
    title: `An artifact ${phrase} is listed, shown and downloaded as its file is.`,
    requirements: [
      'artifacts.list-is-complete',
      'link.gives-the-file',
      ...Object.values(memberRequirements),
    ],
    run: async (device, context) => {
      const spec: ArtifactSpec = {
        payloadType: 'single-file',
        deviceTypes: [board],
        files: oneFile,
        ...variant,
        name: context.newName(),
        modifiedMs: MODIFIED_MS,
      };
      const bytes = await writeArtifact(spec);
      const [deviceType = board] = spec.deviceTypes;
      const artifactId = await context.upload({ name: spec.name, deviceType, bytes });
      const expected = expectedOf(spec, bytes.length);
      const one = await device.call('get-artifact', { path: { id: artifactId } });
      expectStatus(one, 200);
      expectShown('alone', membersOf(expectJson(one)), expected);
      for (const type of new Set([deviceType, spec.deviceTypes.at(-1) ?? deviceType])) {
        const listedArtifact = (await findListed(device, spec.name, type)).find(
          (each) => each.id === artifactId,
        );
        if (listedArtifact === undefined) {
          const violated = ['artifacts.list-is-complete'] as const;
          throw new ExpectationFailure(`the artifact in the list for ${type}`, 'none', violated);
        }
        expectShown('in the list', listedArtifact, expected);
      }
      await expectFile(context, device, { id: artifactId, bytes });
    },
  };
}

/** Spec: Artifact; Device deployments v1 */
export const artifactVariantCases = defineScenario<SuiteDevice>({
  area: 'artifacts',
  name: 'Artifacts of many forms',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user', 'artifact-listing'],
  arrange: (context) => acceptedDevice(context),
  cases: Object.entries(variants).map(variantCase),
});
