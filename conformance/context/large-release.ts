/**
 * A release with many artifacts: all with one name, for one device type, each for another group.
 */
import { ownArtifact } from './own-artifact.ts';
import { acceptedDevice } from './start-states.ts';
import type { SuiteDevice } from './suite-device.ts';
import type { TestContext } from './test-context.ts';

/** Number of artifacts that are uploaded at the same time. */
const UPLOADS_AT_ONCE = 8;

/**
 * Arranges an accepted device, and returns the name of a release with `count` artifacts for its
 * device type.
 */
export async function largeRelease(
  context: TestContext,
  count: number,
): Promise<{ readonly device: SuiteDevice; readonly release: string }> {
  const release = context.newName();
  const groups = Array.from({ length: count }, (_, index) => `group-${index}`);
  const worker = async (): Promise<void> => {
    for (let group = groups.pop(); group; group = groups.pop()) {
      const content = Buffer.from(group);
      await ownArtifact(context, { name: release, content, depends: { artifact_group: [group] } });
    }
  };
  await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, worker));
  return { device: await acceptedDevice(context), release };
}
