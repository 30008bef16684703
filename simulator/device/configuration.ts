/** The settings of a device and how a deployment of them looks. Spec: DeviceAPIConfiguration */
import type { ArtifactContents } from '../../fixtures/formats/mender-artifact.ts';

/** Payload type of an artifact that holds settings instead of files. */
const CONFIGURATION_PAYLOAD = 'mender-configure';

/** The settings that an artifact carries; undefined when it is software. */
export function configurationIn(contents: ArtifactContents): Record<string, string> | undefined {
  const payload = contents.payloads.find(({ type }) => type === CONFIGURATION_PAYLOAD);
  if (!payload) return undefined;
  const texts = Object.entries(payload.metaData ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(texts);
}
