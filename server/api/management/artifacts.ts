/**
 * Lists, describes, updates and deletes artifacts in the management API. `new-artifact.ts` creates
 * them.
 */
import { limits } from '../../../fixtures/contract/limits.ts';
import type { ArtifactOrder } from '../../../fixtures/contract/management/artifacts.ts';
import { pathDetail, refuse, stateDetail } from '../../http/refusal.ts';
import { defineEndpoint, type UserContext } from '../../pipeline/endpoint.ts';
import { artifactLink } from '../../pipeline/links.ts';
import { exactOrPrefix, partOrPrefix } from '../../rules/text-search.ts';
import type { ArtifactFilter, StoredArtifact } from '../../store/artifacts.ts';
import type { Page } from '../../store/engine/page.ts';
import { type AuditedAction, audit, userActor } from '../../tenants/audit.ts';
import { artifactList } from '../artifact-list.ts';
import { artifactView } from '../deprecated-fields.ts';
import { ifGiven } from '../optional.ts';
import { pagedResponse } from '../paging.ts';

const noSuchArtifact = refuse.notFound(
  'no artifact has this ID',
  pathDetail('id', 'the ID of an artifact of this tenant'),
);
const byName = 'name:asc';

export const listAllArtifacts = defineEndpoint('list-all-artifacts', ({ query }, context) => {
  const filter: ArtifactFilter = {
    name: query.name.map(exactOrPrefix),
    description: ifGiven(query.description, exactOrPrefix),
    deviceType: ifGiven(query.device_type, exactOrPrefix),
  };
  return pageOf(context, filter, query);
});

/** Returns the list in one response of limited length, because version 1 had no pages. */
export const listArtifactsV1 = defineEndpoint('list-artifacts-v1', async ({ query }, context) => {
  const page: Page = { page: 1, perPage: limits.unpagedListMax };
  const ids = context.store.artifacts.listIds(filterOfV1(query), page, byName);
  return { status: 200, body: await artifactList(ids, context) };
});

export const listPagedArtifactsV1 = defineEndpoint(
  'list-paged-artifacts-v1',
  ({ query }, context) => pageOf(context, filterOfV1(query), query),
);

/** The query by which the deprecated version-1 lists of artifacts and releases are filtered. */
interface QueryOfV1 {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly device_type?: string | undefined;
}

export function filterOfV1({ name, description, device_type: type }: QueryOfV1): ArtifactFilter {
  return {
    name: ifGiven(name, (text) => [partOrPrefix(text)]),
    description: ifGiven(description, partOrPrefix),
    deviceType: ifGiven(type, (text) => ({ how: 'exact', text })),
  };
}

function pageOf(
  context: UserContext,
  filter: ArtifactFilter,
  query: { page: number; per_page: number; sort: ArtifactOrder },
) {
  const { artifacts } = context.store;
  return pagedResponse(context, query, {
    total: artifacts.count(filter),
    list: (page) => artifactList(artifacts.listIds(filter, page, query.sort), context),
  });
}

export const showArtifact = defineEndpoint('show-artifact', ({ parameters }, context) => {
  const storedArtifact = context.store.artifacts.find(parameters.id);
  return storedArtifact
    ? { status: 200, body: artifactView(storedArtifact.artifact, context) }
    : noSuchArtifact;
});

export const getArtifactDownload = defineEndpoint(
  'get-artifact-download',
  ({ parameters }, context) => {
    const storedArtifact = context.store.artifacts.find(parameters.id);
    if (!storedArtifact) return noSuchArtifact;
    return { status: 200, body: artifactLink(context, storedArtifact.artifact.id) };
  },
);

/** Replaces the description of an artifact that no deployment has ever used. */
export const updateArtifact = defineEndpoint('update-artifact', ({ parameters, body }, context) => {
  const { store, nowMs } = context;
  const storedArtifact = store.artifacts.find(parameters.id);
  if (!storedArtifact) return noSuchArtifact;
  if (store.deployments.isArtifactUsed(storedArtifact.artifact.name)) {
    return refuse.unprocessable(
      'the artifact was used in a deployment, so its description cannot be changed; upload another artifact',
      stateDetail(
        'an artifact that no deployment has used',
        'an artifact that a deployment has used',
      ),
    );
  }
  store.artifacts.describe(storedArtifact.artifact.id, body.description, nowMs);
  auditArtifact(context, { action: 'update' }, storedArtifact.artifact);
  return { status: 204 };
});

export const deleteArtifact = defineEndpoint('delete-artifact', ({ parameters }, context) => {
  const { store } = context;
  const storedArtifact = store.artifacts.find(parameters.id);
  if (!storedArtifact) return noSuchArtifact;
  const [deploymentId] = store.deployments.listUnfinishedIds([storedArtifact.artifact.name]);
  if (deploymentId !== undefined) {
    return refuse.conflict(
      'the artifact is used in an unfinished deployment; abort it first',
      stateDetail(
        'an artifact without unfinished deployments',
        `one of the deployment ${deploymentId}`,
      ),
    );
  }
  removeArtifact(context, storedArtifact);
  return { status: 204 };
});

/** Deletes the artifact, and its file if no other artifact has the same content. */
export function removeArtifact(context: UserContext, { artifact, sha256 }: StoredArtifact): void {
  const { store } = context;
  const { contentInUse } = store.artifacts.remove(artifact.id, sha256);
  if (!contentInUse) store.files.remove(sha256);
  auditArtifact(context, { action: 'delete' }, artifact);
}

/**
 * Returns the used bytes. The limit is 0, which means unlimited in the reference implementation.
 */
export const getStorageUsage = defineEndpoint('get-storage-usage', (_input, { store }) => {
  return { status: 200, body: { limit: 0, usage: store.artifacts.usedBytes() } };
});

/**
 * Writes an entry about an artifact to the audit log. `name` is the text by which readers of the
 * log identify it.
 */
export function auditArtifact(
  context: UserContext,
  act: Pick<AuditedAction, 'action' | 'wideAction'>,
  { id, name }: { id: string; name: string },
): void {
  const object = { id, type: 'artifact' } as const;
  audit(context, { actor: userActor(context.user), ...act, object, change: name });
}
