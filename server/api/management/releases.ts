/**
 * Lists, shows, tags and deletes releases in the management API. A release is the set of artifacts
 * with one name.
 */
import { limits } from '../../../fixtures/contract/limits.ts';
import type { Release, ReleaseV1 } from '../../../fixtures/contract/management/releases.ts';
import type { Artifact } from '../../../fixtures/contract/resources.ts';
import { JsonList } from '../../http/json-list.ts';
import { pathDetail, refuse, stateDetail } from '../../http/refusal.ts';
import { defineEndpoint, type UserContext } from '../../pipeline/endpoint.ts';
import { partOrPrefix } from '../../rules/text-search.ts';
import type { Page } from '../../store/engine/page.ts';
import type { ReleaseFilter, StoredRelease } from '../../store/releases.ts';
import { artifactView } from '../deprecated-fields.ts';
import { ifGiven } from '../optional.ts';
import { pagedResponse } from '../paging.ts';
import { auditArtifact, filterOfV1, removeArtifact } from './artifacts.ts';
import { iso } from './views.ts';

const noSuchRelease = refuse.notFound(
  'no release has this name',
  pathDetail('name', 'the name of a release'),
);
const byName = 'name:asc';

export const listReleases = defineEndpoint('list-releases', ({ query }, context) => {
  const filter: ReleaseFilter = {
    name: ifGiven(query.name, (text) => [partOrPrefix(text)]),
    tags: query.tag,
    updateType: query.update_type,
  };
  const { releases } = context.store;
  return pagedResponse(context, query, {
    total: releases.count(filter),
    list: (page) => releasesOf(releases.names(filter, page, query.sort), releaseView, context),
  });
});

export const listReleasesV1 = defineEndpoint('list-releases-v1', async ({ query }, context) => {
  const page: Page = { page: 1, perPage: limits.unpagedListMax };
  const names = context.store.releases.names(releaseFilterOfV1(query), page, byName);
  return { status: 200, body: await releasesOf(names, releaseViewV1, context) };
});

export const listPagedReleasesV1 = defineEndpoint(
  'list-paged-releases-v1',
  ({ query }, context) => {
    const { releases } = context.store;
    const filter = releaseFilterOfV1(query);
    return pagedResponse(context, query, {
      total: releases.count(filter),
      list: (page) => releasesOf(releases.names(filter, page, query.sort), releaseViewV1, context),
    });
  },
);

function releaseFilterOfV1(
  query: Parameters<typeof filterOfV1>[0] & { readonly update_type?: string | undefined },
): ReleaseFilter {
  return { ...filterOfV1(query), updateType: query.update_type };
}

export const getRelease = defineEndpoint('get-release', ({ parameters }, context) => {
  const release = context.store.releases.find(parameters.name);
  return release ? { status: 200, body: releaseView(context, release) } : noSuchRelease;
});

export const updateRelease = defineEndpoint('update-release', ({ parameters, body }, context) => {
  const { store } = context;
  const release = store.releases.find(parameters.name);
  if (!release) return noSuchRelease;
  if (body.notes !== undefined) {
    store.releases.describe(release.name, { notes: body.notes });
    auditRelease(context, release, `notes: ${body.notes}`);
  }
  return { status: 204 };
});

export const putReleaseTags = defineEndpoint(
  'put-release-tags',
  ({ parameters, body }, context) => {
    const { store } = context;
    const release = store.releases.find(parameters.name);
    if (!release) return noSuchRelease;
    const inUse = new Set([...store.releases.tags({ except: release.name }), ...body]);
    if (inUse.size > limits.releaseTagsDistinctMax) {
      return refuse.conflict(
        `all releases together can have at most ${limits.releaseTagsDistinctMax} different tags; this change would make ${inUse.size}`,
        stateDetail(`at most ${limits.releaseTagsDistinctMax} different tags`, `${inUse.size}`),
      );
    }
    store.releases.describe(release.name, { tags: body });
    auditRelease(context, release, `tags: ${body.join(', ')}`);
    return { status: 204 };
  },
);

/**
 * Deletes all artifacts of the named releases. If an unfinished deployment uses one of them, none is
 * deleted.
 */
export const deleteReleases = defineEndpoint('delete-releases', ({ query }, context) => {
  const { store } = context;
  const unfinished = store.deployments.listUnfinishedIds(query.name);
  if (unfinished.length > 0) {
    return refuse.conflict(
      'some of the releases are used in unfinished deployments; abort them first',
      stateDetail('releases without unfinished deployments', 'releases that are being deployed'),
      {
        active_deployments: unfinished,
      },
    );
  }
  for (const name of new Set(query.name)) {
    for (const artifact of store.artifacts.findByName(name)) removeArtifact(context, artifact);
  }
  return { status: 204 };
});

export const listReleaseTags = defineEndpoint('list-release-tags', (_input, { store }) => {
  return { status: 200, body: store.releases.tags() };
});

export const listReleaseTypes = defineEndpoint('list-release-types', (_input, { store }) => {
  return { status: 200, body: store.artifacts.updateTypes(limits.unpagedListMax) };
});

function artifactsOf(context: UserContext, { name }: StoredRelease): Artifact[] {
  const artifacts = context.store.artifacts.findByName(name);
  return artifacts.map(({ artifact }) => artifactView(artifact, context));
}

/** Returns the releases with these names, and leaves out names that no longer exist. */
function releasesOf<View>(
  names: readonly string[],
  view: (context: UserContext, release: StoredRelease) => View,
  context: UserContext,
): Promise<JsonList<View>> {
  const readView = (name: string): View | undefined => {
    const release = context.store.releases.find(name);
    return release && view(context, release);
  };
  return JsonList.ofEach(names, readView, context);
}

function releaseView(context: UserContext, release: StoredRelease): Release {
  const artifacts = artifactsOf(context, release);
  return {
    name: release.name,
    modified: iso(release.modifiedMs),
    artifacts,
    artifacts_count: artifacts.length,
    tags: [...release.tags],
    notes: release.notes,
  };
}

/** Returns the release with the capitalized member names of version 1. */
function releaseViewV1(context: UserContext, release: StoredRelease): ReleaseV1 {
  return { Name: release.name, Artifacts: artifactsOf(context, release) };
}

/**
 * Writes an audit entry about a release. The audit log has no object type for releases, so the
 * entry names the release's first artifact.
 */
function auditRelease(context: UserContext, release: StoredRelease, change: string): void {
  const [first] = context.store.artifacts.listIdsOfName(release.name);
  if (first === undefined) return;
  const object = { id: first, name: `release ${release.name}: ${change}` };
  auditArtifact(context, { action: 'update' }, object);
}
