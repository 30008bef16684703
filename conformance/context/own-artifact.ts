/** Artifacts that a case uploads for its own use. */
import { writeArtifact } from '../../fixtures/formats/mender-artifact.ts';
import { boardType } from './sample-artifacts.ts';
import type { TestContext } from './test-context.ts';

/** Whole seconds; the value is arbitrary. */
const MODIFIED_MS = Date.UTC(2026, 0, 31);

interface OwnArtifact {
  /** The release; a new one by default. */
  readonly name?: string;
  /** The content of its one file. */
  readonly content: Buffer;
  readonly depends?: Readonly<Record<string, readonly string[] | string>>;
  /** The compatible device types; the suite's board by default. */
  readonly deviceTypes?: readonly string[];
  /** The compression of the payload; gzip by default. */
  readonly compression?: 'gzip' | 'none';
  /** Fields of the form beside the file. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** Uploads an artifact; it is deleted at the end. */
export async function ownArtifact(
  context: TestContext,
  {
    name = context.newName(),
    content,
    depends,
    deviceTypes = [boardType],
    compression,
    fields,
  }: OwnArtifact,
): Promise<{ readonly id: string; readonly bytes: Buffer }> {
  const bytes = await writeArtifact({
    name,
    deviceTypes,
    payloadType: 'single-file',
    files: [{ name: 'release.bin', content }],
    ...(depends && { depends }),
    ...(compression && { compression }),
    modifiedMs: MODIFIED_MS,
  });
  const deviceType = deviceTypes[0] ?? boardType;
  const id = await context.upload({ name, deviceType, bytes, ...(fields && { fields }) });
  return { id, bytes };
}
