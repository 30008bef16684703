/** Artifact files for the simulator's tests, and instructions that refer to them. */
import type { DeploymentInstructionsV2 } from '../../fixtures/contract/resources.ts';
import { writeArtifact } from '../../fixtures/formats/mender-artifact-writer.ts';

const modifiedMs = Date.UTC(2026, 0, 1);

/** Returns an artifact file with software called `name` for devices of type `board`. */
export function softwareArtifact(name: string): Promise<Buffer> {
  return writeArtifact({
    name,
    deviceTypes: ['board'],
    payloadType: 'single-file',
    files: [{ name: 'app.bin', content: Buffer.alloc(9000, name) }],
    provides: { 'rootfs-image.app.version': name },
    clearsProvides: ['rootfs-image.app.*'],
    modifiedMs,
  });
}

/** Returns an artifact file with a configuration for devices of type `board`. */
export function configurationArtifact(
  name: string,
  configuration: Readonly<Record<string, unknown>>,
): Promise<Buffer> {
  const payloadType = 'mender-configure';
  const deviceTypes = ['board'];
  return writeArtifact({ name, deviceTypes, payloadType, metaData: configuration, modifiedMs });
}

/** Returns instructions to install an artifact from the storage of the fake server. */
export function instructionsFor(
  artifactName: string,
  baseUrl: string,
  change: Partial<DeploymentInstructionsV2['artifact']> = {},
): DeploymentInstructionsV2 {
  return {
    id: 'deployment-1',
    artifact: {
      artifact_name: artifactName,
      source: {
        uri: `${baseUrl}/storage/artifacts/${artifactName}`,
        expire: '2026-02-01T12:00:00Z',
      },
      device_types_compatible: ['board'],
      ...change,
    },
  };
}
