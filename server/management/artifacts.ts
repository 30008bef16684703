/** Artifacts, for users. */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { ArtifactError } from '../../fixtures/formats/mender-artifact.ts';
import { audit, userActor } from '../audit.ts';
import { type CallingUser, defineEndpoint, type RequestContext } from '../http/endpoint.ts';
import { makeLink } from '../http/links.ts';
import { pagingHeaders } from '../http/paging.ts';
import { Refusal, refuse } from '../http/refusal.ts';
import { conflictsWith } from '../rules/artifact-conflict.ts';
import { artifactOf, readReceived } from './received-artifact.ts';
import { receiveUpload, type Upload } from './upload.ts';

type UserContext = RequestContext & { readonly user: CallingUser };

const noSuchArtifact = refuse.notFound('there is no artifact of this id');

export const uploadArtifact = defineEndpoint('upload-artifact', async (_input, context) => {
  const upload = await receiveUpload(context.request, context.store.files);
  if (upload instanceof Refusal) return upload;
  try {
    return await take(context, upload);
  } catch (fault) {
    context.store.files.discard(upload.file);
    if (fault instanceof ArtifactError) return refuse.malformed(`artifact: ${fault.message}`);
    throw fault;
  }
});

async function take(context: UserContext, upload: Upload) {
  const { store, random, nowMs } = context;
  const contents = await readReceived(upload.file);
  const id = upload.artifactId ?? random.uuid();
  const artifact = artifactOf(contents, { id, description: upload.description, nowMs });
  const refusal = refuseDoubled(context, artifact);
  if (refusal) {
    store.files.discard(upload.file);
    return refusal;
  }
  store.files.keep(upload.file);
  store.atomically(() => {
    store.artifacts.save({ artifact, sha256: upload.file.sha256, modifiedMs: nowMs });
    auditArtifact(context, 'create', artifact);
  });
  const location = pathOf(managementOperations['show-artifact'], { id });
  return { status: 201, headers: { Location: location } } as const;
}

function refuseDoubled(
  { store }: UserContext,
  artifact: ReturnType<typeof artifactOf>,
): Refusal | undefined {
  if (store.artifacts.find(artifact.id)) {
    return refuse.unprocessable(`there is already an artifact of the id ${artifact.id}`);
  }
  const sameName = store.artifacts.findByName(artifact.name);
  const other = sameName.find((known) =>
    conflictsWith(known.artifact.artifact_depends, artifact.artifact_depends),
  );
  return (
    other &&
    refuse.conflict(
      `an artifact of the name ${artifact.name} for the same devices exists: ${other.artifact.id}`,
    )
  );
}

export const listAllArtifacts = defineEndpoint(
  'list-all-artifacts',
  ({ query }, { store, request }) => {
    const filter = { ...query, deviceType: query.device_type };
    const page = { page: query.page, perPage: query.per_page };
    const total = store.artifacts.count(filter);
    return {
      status: 200,
      headers: pagingHeaders({ url: request.url ?? '', total, ...page }),
      body: store.artifacts.list(filter, page).map(({ artifact }) => artifact),
    };
  },
);

export const showArtifact = defineEndpoint('show-artifact', ({ parameters }, { store }) => {
  const found = store.artifacts.find(parameters.id);
  return found ? { status: 200, body: found.artifact } : noSuchArtifact;
});

export const getArtifactDownload = defineEndpoint(
  'get-artifact-download',
  ({ parameters }, context) => {
    const found = context.store.artifacts.find(parameters.id);
    if (!found) return noSuchArtifact;
    const path = pathOf(storageOperations['download-artifact'], { id: found.artifact.id });
    return { status: 200, body: makeLink(context, path) };
  },
);

export const deleteArtifact = defineEndpoint('delete-artifact', ({ parameters }, context) => {
  const { store } = context;
  const found = store.artifacts.find(parameters.id);
  if (!found) return noSuchArtifact;
  if (store.deployments.isArtifactInUse(found.artifact.name)) {
    return refuse.conflict('the artifact is used in an active deployment; abort that first');
  }
  const { contentInUse } = store.artifacts.remove(found.artifact.id, found.sha256);
  if (!contentInUse) store.files.remove(found.sha256);
  auditArtifact(context, 'delete', found.artifact);
  return { status: 204 };
});

function auditArtifact(
  context: UserContext,
  action: 'create' | 'delete',
  { id, name }: { id: string; name: string },
): void {
  const object = { id, type: 'artifact' } as const;
  audit(context, { actor: userActor(context.user), action, object, change: name });
}
