/** Artifacts as devices see them, and links to their files. Spec: Device deployments v1 */
import { limits } from '../../fixtures/contract/limits.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { artifactMediaType } from '../../fixtures/contract/operations.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { makeLink } from '../http/links.ts';
import { refuse } from '../http/refusal.ts';

const noSuchArtifact = refuse.notFound('there is no artifact of this id');

export const listArtifacts = defineEndpoint('list-artifacts', ({ query }, { store }) => {
  const filter = { release: query.release_name, deviceType: query.device_type };
  const found = store.artifacts.list(filter, { page: 1, perPage: limits.artifactListMax });
  return { status: 200, body: found.map(({ artifact }) => artifact) };
});

export const getArtifact = defineEndpoint('get-artifact', ({ parameters }, { store }) => {
  const found = store.artifacts.find(parameters.id);
  return found ? { status: 200, body: found.artifact } : noSuchArtifact;
});

export const getArtifactLink = defineEndpoint('get-artifact-link', ({ parameters }, context) => {
  const found = context.store.artifacts.find(parameters.id);
  if (!found) return noSuchArtifact;
  const path = pathOf(storageOperations['download-artifact'], { id: found.artifact.id });
  return { status: 200, body: makeLink(context, path) };
});

/** The file behind a signed link. Spec: GET /artifacts/{id}/download */
export const downloadArtifact = defineEndpoint('download-artifact', ({ parameters }, { store }) => {
  const found = store.artifacts.find(parameters.id);
  if (!found) return noSuchArtifact;
  return {
    status: 200,
    fileBody: {
      folder: store.files.folder,
      name: found.sha256,
      mediaType: artifactMediaType,
      downloadName: `${found.artifact.name}.mender`,
      modifiedMs: found.modifiedMs,
    },
  };
});
