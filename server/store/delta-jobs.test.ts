import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NewDeltaJob } from './delta-jobs.ts';
import { openStore, type Store } from './store.ts';

let store: Store;

beforeEach(async () => {
  store = await openStore();
  for (const id of ['one', 'two']) {
    store.deployments.create({
      id,
      type: 'software',
      name: id,
      artifactName: 'release',
      deviceIds: [`device-${id}`],
      deviceDigest: id,
      forceInstallation: false,
      nowMs: 10,
    });
  }
});

afterEach(() => store.close());

const wide = { page: 1, perPage: 20 };

function begin(id: string, fields: Partial<NewDeltaJob> = {}): void {
  store.deltaJobs.begin({
    id,
    deploymentSeq: 1,
    fromArtifactId: 'x',
    toArtifactId: 'y',
    fromVersion: 'release-0',
    toVersion: 'release',
    deviceTypes: ['board'],
    toSizeBytes: 4096,
    nowMs: 20,
    ...fields,
  });
}

describe('a delta job', () => {
  it('is read back as it was started', () => {
    begin('j');
    expect(store.deltaJobs.find('j')).toEqual({
      id: 'j',
      deploymentId: 'one',
      fromVersion: 'release-0',
      toVersion: 'release',
      deviceTypes: ['board'],
      toSizeBytes: 4096,
      startedMs: 20,
    });
    expect(store.deltaJobs.find('J')).toBeUndefined();
  });

  it('starts only once for two artifacts of one deployment', () => {
    begin('first');
    begin('again', { nowMs: 30 });
    begin('other-source', { fromArtifactId: 'z' });
    begin('other-deployment', { deploymentSeq: 2 });
    const ids = store.deltaJobs.list(wide).map(({ id }) => id);
    expect(ids).toEqual(['other-deployment', 'other-source', 'first']);
    expect(store.deltaJobs.count()).toBe(3);
  });
});

describe('the list of delta jobs', () => {
  it('is returned in pages', () => {
    begin('first');
    begin('second', { deploymentSeq: 2 });
    const page = store.deltaJobs.list({ page: 2, perPage: 1 });
    expect(page.map(({ id }) => id)).toEqual(['first']);
    expect(store.deltaJobs.list({ page: 3, perPage: 1 })).toEqual([]);
  });
});
