/** A release with many artifacts: all of one name, for one device type, each for another group. */
import { writeArtifact } from '../../fixtures/formats/mender-artifact.ts';
import { boardType } from './sample-artifacts.ts';
import type { Stage } from './stage.ts';
import { acceptedDevice } from './start-states.ts';
import type { SuiteDevice } from './suite-device.ts';

/** Uploads that are under way at once. */
const UPLOADS_AT_ONCE = 8;
/** Whole seconds; any moment does. */
const MODIFIED_MS = Date.UTC(2026, 0, 31);

/** An accepted device, and the name of a release with so many artifacts for its device type. */
export async function largeRelease(
  stage: Stage,
  count: number,
): Promise<{ readonly device: SuiteDevice; readonly release: string }> {
  const release = stage.newName();
  const groups = Array.from({ length: count }, (_, index) => `group-${index}`);
  const worker = async (): Promise<void> => {
    for (let group = groups.pop(); group; group = groups.pop()) await upload(stage, release, group);
  };
  await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, worker));
  return { device: await acceptedDevice(stage), release };
}

async function upload(stage: Stage, name: string, group: string): Promise<void> {
  const bytes = await writeArtifact({
    name,
    deviceTypes: [boardType],
    payloadType: 'single-file',
    files: [{ name: 'release.bin', content: Buffer.from(group) }],
    depends: { artifact_group: [group] },
    modifiedMs: MODIFIED_MS,
  });
  await stage.upload({ name, deviceType: boardType, bytes });
}
