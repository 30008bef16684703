/**
 * Lists and describes artifacts for devices, and issues links to their files.
 * Spec: Device deployments v1
 */
import { limits } from '../../../fixtures/contract/limits.ts';
import { artifactMediaType } from '../../../fixtures/contract/operations.ts';
import { refuse } from '../../http/refusal.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';
import { artifactLink } from '../../pipeline/links.ts';
import { artifactList } from '../artifact-list.ts';
import { artifactView } from '../deprecated-fields.ts';

const noSuchArtifact = refuse.notFound('no artifact has this ID', {
  path: 'path.id',
  expected: 'the ID of an artifact',
});

export const listArtifacts = defineEndpoint('list-artifacts', async ({ query }, context) => {
  const deviceType = { how: 'exact', text: query.device_type } as const;
  const filter = { release: query.release_name, deviceType };
  const ids = context.store.artifacts.listIds(filter, { page: 1, perPage: limits.artifactListMax });
  return { status: 200, body: await artifactList(ids, context) };
});

export const getArtifact = defineEndpoint('get-artifact', ({ parameters }, context) => {
  const storedArtifact = context.store.artifacts.find(parameters.id);
  return storedArtifact
    ? { status: 200, body: artifactView(storedArtifact.artifact, context) }
    : noSuchArtifact;
});

export const getArtifactLink = defineEndpoint('get-artifact-link', ({ parameters }, context) => {
  const storedArtifact = context.store.artifacts.find(parameters.id);
  if (!storedArtifact) return noSuchArtifact;
  return { status: 200, body: artifactLink(context, storedArtifact.artifact.id) };
});

/**
 * Serves the file of an artifact to a client that has a signed link.
 * Spec: GET /artifacts/{id}/download
 */
export const downloadArtifact = defineEndpoint('download-artifact', ({ parameters }, { store }) => {
  const storedArtifact = store.artifacts.find(parameters.id);
  if (!storedArtifact) return noSuchArtifact;
  const { sha256, artifact, modifiedMs } = storedArtifact;
  const file = {
    status: 200,
    fileBody: {
      folder: store.files.folder,
      name: sha256,
      mediaType: artifactMediaType,
      downloadName: `${artifact.name}.mender`,
      modifiedMs,
      sizeBytes: artifact.size,
    },
  } as const;
  return store.files.check({ sha256, sizeBytes: artifact.size })?.then(() => file) ?? file;
});
