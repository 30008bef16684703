import { describe, expect, it } from 'vitest';
import { allDefects } from '../../conformance/self-test/defects/index.ts';
import { sourceHash } from './recorded.ts';

describe('the planted defects', () => {
  it('have ids of their own that can be typed, and titles that are sentences', () => {
    const ids = allDefects.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id))).toEqual([]);
    const titles = allDefects.map(({ title }) => title);
    expect(titles.filter((title) => !/^[A-Z].{15,}\.$/.test(title))).toEqual([]);
  });
});

describe('the hash of what decides the result', () => {
  it('is the same as long as nothing changes', () => {
    expect(sourceHash()).toMatch(/^[0-9a-f]{64}$/);
    expect(sourceHash()).toBe(sourceHash());
  });
});
