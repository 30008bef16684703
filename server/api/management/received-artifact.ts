/** Reads a received `.mender` file and makes the Artifact resource. Spec: Artifact */
import { createReadStream } from 'node:fs';
import { limits } from '../../../fixtures/contract/limits.ts';
import { type ArtifactContents, readArtifact } from '../../../fixtures/formats/mender-artifact.ts';

import type { StoredArtifact } from '../../store/artifacts.ts';
import type { ReceivedFile } from '../../store/files.ts';

/**
 * Reads and checks the whole file. A small file that unpacks to very much data is refused early,
 * before it takes much time.
 * @throws ArtifactError
 */
export function readReceived(file: ReceivedFile): Promise<ArtifactContents> {
  const { artifactMaxBytes, unpackedAlwaysBytes, unpackedFactorMax, unpackedMaxBytes } = limits;
  const inProportion = Math.max(unpackedAlwaysBytes, file.sizeBytes * unpackedFactorMax);
  return readArtifact(createReadStream(file.path), {
    transferBytesMax: artifactMaxBytes,
    payloadBytesMax: Math.min(inProportion, unpackedMaxBytes),
  });
}

/**
 * Returns the resource as it is stored, without deprecated fields. `deprecated-fields.ts` adds
 * those to responses.
 */
export function artifactOf(
  contents: ArtifactContents,
  { id, description, nowMs }: { id: string; description: string | undefined; nowMs: number },
): StoredArtifact['artifact'] {
  return {
    id,
    name: contents.name,
    ...(description !== undefined && { description }),
    device_types_compatible: [...contents.deviceTypesCompatible],
    info: { format: contents.format, version: contents.version },
    signed: contents.signed,
    updates: contents.payloads.map(({ type, files, metaData }) => ({
      type_info: { type },
      files: files.map((file) => ({
        name: file.name,
        checksum: file.checksum,
        ...(file.size !== undefined && { size: file.size }),
        ...(file.date !== undefined && { date: new Date(file.date).toISOString() }),
      })),
      ...(metaData && { metadata: metaData }),
    })),
    artifact_provides: { ...contents.provides },
    artifact_depends: Object.fromEntries(
      Object.entries(contents.depends).map(([name, values]) => [name, [...values]]),
    ),
    clears_artifact_provides: [...contents.clearsProvides],
    size: contents.sizeBytes,
    modified: new Date(nowMs).toISOString(),
  };
}
