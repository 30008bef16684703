import { describe, expect, it } from 'vitest';
import { readListTerms } from './inventory-query.ts';

function termsOf(query: string) {
  return readListTerms(new URLSearchParams(query));
}

describe('the query of the inventory list', () => {
  it('has no filters or order with only its own parameters', () => {
    const own = 'page=2&per_page=5&group=g&has_group=true&sort=';
    expect(termsOf(own)).toEqual({ filters: [], sort: [] });
  });

  it.each<[string, string, string, readonly unknown[]]>([
    ['ip=10.0.0.1', 'inventory', 'ip', ['10.0.0.1']],
    ['cores=4', 'inventory', 'cores', ['4', 4]],
    ['load=-0.5', 'inventory', 'load', ['-0.5', -0.5]],
    ['monitor/alerts=true', 'monitor', 'alerts', ['true', true]],
    ['identity/mac=eq:00:01', 'identity', 'mac', ['00:01']],
    ['mac=00:01:02', 'inventory', 'mac', ['00:01:02']],
    ['a/b=', 'inventory', 'a/b', ['']],
    ['a=1&a=x', 'inventory', 'a', ['1', 1, 'x']],
  ])(
    'filters by %s an attribute of its scope by any of its values',
    (query, scope, attribute, value) => {
      expect(termsOf(query)).toEqual({
        filters: [{ scope, attribute, type: '$in', value }],
        sort: [],
      });
    },
  );

  it.each([
    ['sort=ip:asc', [{ scope: 'inventory', attribute: 'ip', order: 'asc' }]],
    ['sort=ip', [{ scope: 'inventory', attribute: 'ip', order: 'desc' }]],
    [
      'sort=system/created_ts:desc,a:b:asc',
      [
        { scope: 'system', attribute: 'created_ts', order: 'desc' },
        { scope: 'inventory', attribute: 'a:b', order: 'asc' },
      ],
    ],
  ])('accepts the order %s', (query, sort) => {
    expect(termsOf(query)).toEqual({ filters: [], sort });
  });

  it.each(['sort=ip:up', 'sort=ip:', 'sort=ip:asc,a:ASC'])('refuses the order %s', (query) => {
    const problem = expect.stringMatching(/: the order must be asc or desc$/);
    expect(termsOf(query)).toEqual({ path: 'sort', problem });
  });

  it('is refused with more than 100 terms', () => {
    const many = Array.from({ length: 101 }, (_, index) => `a${index}`);
    const filters = many.map((name) => `${name}=1`).join('&');
    expect(termsOf(filters)).toHaveProperty('problem', expect.stringContaining('100'));
    expect(termsOf(`sort=${many.join(',')}`)).toHaveProperty('path', 'sort');
    expect(termsOf(`sort=${many.slice(1).join(',')}`)).toHaveProperty('sort');
  });
});
