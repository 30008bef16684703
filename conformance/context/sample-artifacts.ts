/**
 * The artifact files that the suite uploads, and their properties. An independent tool
 * (mender-artifact 3.9.0) wrote the files and read the properties from them. Each run uploads the
 * samples under names that contain the ID of the run.
 */
import { readFile } from 'node:fs/promises';
import { seededRandom } from '../../fixtures/base/random.ts';
import { renamedArtifact } from '../../fixtures/formats/mender-artifact.ts';
import { makeEcdsaKey, sideBySide } from '../signing/ecdsa.ts';

/** One committed file, and the properties that a server must report about it. */
export interface SampleArtifact {
  readonly fileName: string;
  readonly name: string;
  readonly deviceTypes: readonly string[];
  readonly sizeBytes: number;
  readonly signed: boolean;
  /** Null for an empty artifact. */
  readonly updateType: string | null;
  readonly files: readonly {
    readonly name: string;
    readonly checksum: string;
    readonly size: number;
  }[];
  readonly provides: Readonly<Record<string, string>>;
  readonly depends: Readonly<Record<string, readonly string[]>>;
  readonly clears: readonly string[];
}

/** The device type of all samples. */
export const boardType = 'conformance-board';

/** Device types that resemble that of the samples but differ from it. */
export const nearTypes = {
  shorter: boardType.slice(0, -1),
  longer: `${boardType}-2`,
  capital: boardType.toUpperCase(),
} as const;

const checksumOfRelease1 = 'f7e243f8d26f2b0609d7b22ce0d164496be619672f8a96b5b6211d78a000b630';
const checksumOfRelease2 = '9a458fe6deb531295ac80d08adcab392ca5ea3846031cae671ac51dfc22fc192';
const checksumOfExtra = '554fff45542d2d523c7b03dd9e9b9149d01e703b2fec54e5f13998c65ed11f92';

/** Every sample by its purpose. */
export const sampleArtifacts = {
  /** One file, depends only on the device type. */
  plain: {
    fileName: 'conformance-release-1.mender',
    name: 'conformance-release-1',
    deviceTypes: [boardType],
    sizeBytes: 17_408,
    signed: false,
    updateType: 'single-file',
    files: [{ name: 'release-1.bin', checksum: checksumOfRelease1, size: 12_288 }],
    provides: {
      artifact_name: 'conformance-release-1',
      'rootfs-image.checksum': checksumOfRelease1,
      'rootfs-image.single-file.version': 'conformance-release-1',
    },
    depends: { device_type: [boardType] },
    clears: ['rootfs-image.single-file.*'],
  },
  /** Depends on the checksum that `plain` provides. */
  dependent: {
    fileName: 'conformance-release-2.mender',
    name: 'conformance-release-2',
    deviceTypes: [boardType],
    sizeBytes: 20_992,
    signed: false,
    updateType: 'single-file',
    files: [{ name: 'release-2.bin', checksum: checksumOfRelease2, size: 16_000 }],
    provides: {
      artifact_name: 'conformance-release-2',
      'rootfs-image.checksum': checksumOfRelease2,
      'rootfs-image.single-file.version': 'conformance-release-2',
    },
    depends: { device_type: [boardType], 'rootfs-image.checksum': [checksumOfRelease1] },
    clears: ['rootfs-image.*', 'rootfs-image.single-file.*'],
  },
  /** Signed, two files, three device types, depends on names and groups. */
  signed: {
    fileName: 'signed.mender',
    name: 'conformance-signed',
    deviceTypes: [boardType, 'conformance board 2', 'conformance/board-3'],
    sizeBytes: 27_648,
    signed: true,
    updateType: 'single-file',
    files: [
      { name: 'release-1.bin', checksum: checksumOfRelease1, size: 12_288 },
      { name: 'extra.bin', checksum: checksumOfExtra, size: 9000 },
    ],
    provides: {
      artifact_name: 'conformance-signed',
      artifact_group: 'stable',
      'rootfs-image.single-file.version': 'conformance-signed',
    },
    depends: {
      device_type: [boardType, 'conformance board 2', 'conformance/board-3'],
      artifact_name: ['conformance-release-1', 'conformance-release-2'],
      artifact_group: ['stable', 'beta'],
    },
    clears: ['rootfs-image.single-file.*'],
  },
  /** No payload; such an artifact describes the initial state of a device. */
  empty: {
    fileName: 'bootstrap.mender',
    name: 'conformance-bootstrap',
    deviceTypes: [boardType],
    sizeBytes: 5120,
    signed: false,
    updateType: null,
    files: [],
    provides: {
      artifact_name: 'conformance-bootstrap',
      'rootfs-image.checksum': checksumOfRelease1,
    },
    depends: { device_type: [boardType] },
    clears: ['rootfs-image.*'],
  },
} as const satisfies Record<string, SampleArtifact>;

export type SampleName = keyof typeof sampleArtifacts;

/** The artifact names in the samples, which a run replaces with its own. */
const sampleName = /\bconformance-(?=(?:release-[12]|signed|bootstrap)\b)/g;

/** Reads the bytes of the committed file. */
export function readSample(name: SampleName): Promise<Buffer> {
  const { fileName } = sampleArtifacts[name];
  return readFile(new URL(`../../fixtures/vectors/mender-artifact/${fileName}`, import.meta.url));
}

/** Returns a sample with names that identify the run, and its bytes. */
export async function sampleOfRun(
  name: SampleName,
  runId: string,
): Promise<SampleArtifact & { readonly bytes: Buffer }> {
  const rename = (text: string): string => text.replace(sampleName, `conformance-${runId}-`);
  const key = makeEcdsaKey(seededRandom(runId));
  const bytes = await renamedArtifact(await readSample(name), {
    rename,
    // The artifact format requires 64 bytes of R and S, unlike the signatures of devices.
    sign: (manifest) => sideBySide(key.sign(manifest)).toString('base64'),
  });
  const described: SampleArtifact = JSON.parse(rename(JSON.stringify(sampleArtifacts[name])));
  return { ...described, sizeBytes: bytes.length, bytes };
}
