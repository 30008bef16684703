/** Artifacts that a case uploads for itself alone. */
import { writeArtifact } from '../../fixtures/formats/mender-artifact.ts';
import { boardType } from './sample-artifacts.ts';
import type { TestContext } from './test-context.ts';

/** Whole seconds; any moment does. */
const MODIFIED_MS = Date.UTC(2026, 0, 31);

interface OwnArtifact {
  /** The release; a new one without it. */
  readonly name?: string;
  /** What its one file holds. */
  readonly content: Buffer;
  readonly depends?: Readonly<Record<string, readonly string[]>>;
  /** How the payload is packed; gzip without it. */
  readonly compression?: 'gzip' | 'none';
}

/** Uploads an artifact for the boards of the suite; deleted in the end. */
export async function ownArtifact(
  context: TestContext,
  { name = context.newName(), content, depends, compression }: OwnArtifact,
): Promise<{ readonly id: string; readonly bytes: Buffer }> {
  const bytes = await writeArtifact({
    name,
    deviceTypes: [boardType],
    payloadType: 'single-file',
    files: [{ name: 'release.bin', content }],
    ...(depends && { depends }),
    ...(compression && { compression }),
    modifiedMs: MODIFIED_MS,
  });
  const id = await context.upload({ name, deviceType: boardType, bytes });
  return { id, bytes };
}
