import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeploymentFilter, DeploymentStore, NewDeployment } from './deployments.ts';
import { openStore, type Store } from './store.ts';

let store: Store;
let deployments: DeploymentStore;

beforeEach(async () => {
  store = await openStore();
  deployments = store.deployments;
});

afterEach(() => store.close());

const plain: NewDeployment = {
  id: 'one',
  type: 'software',
  name: 'spring',
  artifactName: 'release',
  deviceIds: ['a', 'b'],
  deviceDigest: 'a,b',
  forceInstallation: false,
  nowMs: 10,
};

function create(id: string, fields: Partial<NewDeployment> = {}): void {
  deployments.create({ ...plain, id, ...fields });
}

function endOf(id: string): void {
  const deployment = deployments.find(id);
  if (deployment) store.parts.abortAll(deployment, 50);
}

describe('a deployment', () => {
  it('is found as it was made, with one part a device', () => {
    create('one');
    const found = deployments.find('one');
    expect(found).toEqual({
      seq: 1,
      id: 'one',
      type: 'software',
      name: 'spring',
      artifactName: 'release',
      deviceCount: 2,
      forceInstallation: false,
      createdMs: 10,
    });
    expect(found && store.parts.statistics(found)).toEqual(new Map([['pending', 2]]));
  });

  it('keeps what only some have', () => {
    const controlMap = {
      priority: 1,
      states: { ArtifactInstall_Enter: { action: 'pause' } },
    } as const;
    create('one', { controlMap, forceInstallation: true });
    create('two', { type: 'configuration', configuration: { a: '1' } });
    expect(deployments.find('one')).toMatchObject({ controlMap, forceInstallation: true });
    expect(deployments.find('two')).toMatchObject({
      type: 'configuration',
      configuration: { a: '1' },
    });
  });

  it('is not made twice, nor half when its devices are doubled', () => {
    create('one');
    expect(() => create('one')).toThrow('UNIQUE');
    expect(() => create('two', { deviceIds: ['a', 'a'] })).toThrow('UNIQUE');
    expect(deployments.find('two')).toBeUndefined();
    expect(store.parts.find('two', 'a')).toBeUndefined();
  });

  it('is not found by another id', () => {
    create('one');
    expect(deployments.find('ONE')).toBeUndefined();
  });
});

describe('an identical active deployment', () => {
  it('has the same name, artifact and devices', () => {
    create('one');
    expect(deployments.findIdenticalActive(plain)?.id).toBe('one');
  });

  it.each([
    ['name', { name: 'summer' }],
    ['artifact', { artifactName: 'other' }],
    ['devices', { deviceDigest: 'a' }],
  ])('is none with another %s', (_, change) => {
    create('one');
    expect(deployments.findIdenticalActive({ ...plain, ...change })).toBeUndefined();
  });

  it('is none once it is finished', () => {
    create('one');
    endOf('one');
    expect(deployments.findIdenticalActive(plain)).toBeUndefined();
  });
});

describe('an artifact name', () => {
  it('is in use while an unfinished deployment of software has it', () => {
    create('one');
    expect(deployments.isArtifactInUse('release')).toBe(true);
    expect(deployments.isArtifactInUse('releas')).toBe(false);
    endOf('one');
    expect(deployments.isArtifactInUse('release')).toBe(false);
  });

  it('is not in use by a configuration deployment', () => {
    create('one', { type: 'configuration', configuration: {} });
    expect(deployments.isArtifactInUse('release')).toBe(false);
  });
});

describe('the list of deployments', () => {
  beforeEach(() => {
    create('one');
    create('two', { name: 'summer' });
    create('three', { name: 'autumn' });
    endOf('one');
    const part = store.parts.find('two', 'a');
    if (part) store.parts.report(part, { status: 'installing' }, 30);
  });

  function idsOf(filter: Partial<DeploymentFilter>, page = { page: 1, perPage: 500 }) {
    const whole = { id: [], name: [], ...filter };
    const found = deployments.list(whole, 'asc', page).map(({ id }) => id);
    if (page.perPage === 500) expect(deployments.count(whole)).toBe(found.length);
    return found;
  }

  it('is in the order of creation, either way round, and in pages', () => {
    const page = { page: 1, perPage: 2 };
    expect(idsOf({})).toEqual(['one', 'two', 'three']);
    expect(deployments.list({ id: [], name: [] }, 'desc', page).map(({ id }) => id)).toEqual([
      'three',
      'two',
    ]);
    expect(idsOf({}, { page: 2, perPage: 2 })).toEqual(['three']);
    expect(idsOf({}, { page: 3, perPage: 2 })).toEqual([]);
  });

  it.each([
    ['finished', ['one']],
    ['inprogress', ['two']],
    ['pending', ['three']],
  ] as const)('is filtered by state: %s', (status, expected) => {
    expect(idsOf({ status })).toEqual(expected);
  });

  it('is filtered by ids and names, and by both', () => {
    expect(idsOf({ id: ['three', 'one', 'four'] })).toEqual(['one', 'three']);
    expect(idsOf({ name: ['summer', 'spring'] })).toEqual(['one', 'two']);
    expect(idsOf({ name: ['summer'], id: ['one'] })).toEqual([]);
    expect(idsOf({ name: ['Summer'] })).toEqual([]);
  });
});
