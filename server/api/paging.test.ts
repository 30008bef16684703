import { describe, expect, it } from 'vitest';
import { linkHeader, pagingHeaders } from './paging.ts';

function relations(page: number, total: number, url = '/list'): readonly string[] {
  const { Link } = linkHeader({ url, page, perPage: 10, total });
  return Link.map((link) => /rel="(\w+)"/.exec(link)?.[1] ?? 'none');
}

describe('the links of a page', () => {
  it.each([
    ['an empty list', 1, 0, ['first']],
    ['a list of one page', 1, 10, ['first']],
    ['the first of two', 1, 11, ['first', 'next']],
    ['the middle one', 2, 21, ['first', 'next', 'prev']],
    ['the last one', 3, 21, ['first', 'prev']],
    ['a page past the end', 9, 21, ['first', 'prev']],
  ])('lead only to pages that exist: %s', (_, page, total, expected) => {
    expect(relations(page, total)).toEqual(expected);
  });

  it('keep the filters and contain page and page size', () => {
    const url = '/list?status=pending&page=2&status=a%20b';
    const { Link } = linkHeader({ url, page: 2, perPage: 5, total: 100 });
    expect(Link).toEqual([
      '</list?status=pending&page=1&status=a+b&per_page=5>; rel="first"',
      '</list?status=pending&page=3&status=a+b&per_page=5>; rel="next"',
      '</list?status=pending&page=1&status=a+b&per_page=5>; rel="prev"',
    ]);
  });

  it('cannot be forged by special characters in the query of the caller', () => {
    const url = '/list?name=>; rel="next", <http://evil.example';
    const { Link } = linkHeader({ url, page: 1, perPage: 5, total: 1 });
    expect(Link).toHaveLength(1);
    expect(Link[0]?.match(/[<>]/g)).toEqual(['<', '>']);
  });

  it('come with the total count if it is known', () => {
    const headers = pagingHeaders({ url: '/list', page: 1, perPage: 5, total: 7 });
    expect(headers['X-Total-Count']).toBe('7');
  });
});
