/**
 * Fetches an artifact through its link and checks it while it streams by: every size and SHA-256
 * against the artifact's own manifest, its name and device types against the instructions.
 * Spec: ArtifactLink
 */

import { limits } from '../../fixtures/contract/limits.ts';
import type { DeploymentInstructionsV2 } from '../../fixtures/contract/resources.ts';
import { type ArtifactContents, ArtifactError } from '../../fixtures/formats/mender-artifact.ts';
import { readArtifact } from '../../fixtures/formats/mender-artifact-reader.ts';
import { UpdateFailure } from '../behaviours/behaviour.ts';
import { downloadedBytes } from '../client/download.ts';
import { ClientError } from '../client/errors.ts';
import type { UpdateSubject } from './update-run.ts';

/**
 * What the artifact holds, once all of it has come and is sound.
 * @throws UpdateFailure when it cannot be had or must not be installed; FleetStopped
 */
export async function fetchArtifact(
  subject: UpdateSubject,
  instructions: DeploymentInstructionsV2,
): Promise<ArtifactContents> {
  const { artifact } = instructions;
  const deviceType = subject.device.provides.device_type;
  if (!artifact.device_types_compatible.includes(deviceType)) {
    throw new UpdateFailure(`${artifact.artifact_name} was offered, but not for ${deviceType}`);
  }
  const contents = await checkedDownload(subject, artifact.source.uri);
  if (contents.name !== artifact.artifact_name) {
    const fault = `${artifact.artifact_name} was offered, but the file holds ${contents.name}`;
    throw new UpdateFailure(fault);
  }
  if (!contents.deviceTypesCompatible.includes(deviceType)) {
    throw new UpdateFailure(`the file is not made for ${deviceType}`);
  }
  return contents;
}

async function checkedDownload(
  { session, world }: UpdateSubject,
  uri: string | undefined,
): Promise<ArtifactContents> {
  if (uri === undefined) throw new UpdateFailure('the instructions hold no link to the artifact');
  const { transport, clock } = world;
  const { caller } = session;
  const fileMaxBytes = limits.artifactMaxBytes;
  try {
    return await readArtifact(downloadedBytes({ transport, clock, caller, uri, fileMaxBytes }));
  } catch (error) {
    if (error instanceof ClientError) world.ledger.fault(error);
    else if (error instanceof ArtifactError) {
      world.ledger.fault({ operation: 'download-artifact', label: `artifact/${error.code}` });
    } else throw error;
    throw new UpdateFailure(error.message, { cause: error });
  }
}
