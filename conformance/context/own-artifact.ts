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
  /** The compression of the payload; gzip by default. */
  readonly compression?: 'gzip' | 'none';
}

/** Uploads an artifact for the suite's boards; it is deleted at the end. */
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
