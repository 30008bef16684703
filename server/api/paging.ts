/**
 * Returns paged lists: the requested page, links to the neighbouring pages, and the total number.
 */
import type { Page } from '../store/engine/page.ts';

interface PagedList extends Page {
  /** Path and query of the request, exactly as sent. */
  readonly url: string;
  readonly total: number;
}

/** Returns the `Link` header with the relations first, next and prev, each on its own line. */
export function linkHeader({ url, page, perPage, total }: PagedList): { Link: string[] } {
  const relation = (name: string, to: number): string => {
    const [path = '/', search = ''] = url.split('?');
    const query = new URLSearchParams(search);
    query.set('page', String(to));
    query.set('per_page', String(perPage));
    return `<${path}?${query}>; rel="${name}"`;
  };
  return {
    Link: [
      relation('first', 1),
      ...(page * perPage < total ? [relation('next', page + 1)] : []),
      ...(page > 1 ? [relation('prev', page - 1)] : []),
    ],
  };
}

/** Returns the `Link` and `X-Total-Count` headers of a paged list. */
export function pagingHeaders(list: PagedList): { Link: string[]; 'X-Total-Count': string } {
  return { ...linkHeader(list), 'X-Total-Count': String(list.total) };
}

/** The query parameters that every paged list has. */
export interface PageQuery {
  readonly page: number;
  readonly per_page: number;
}

interface PageSource<Body> {
  readonly total: number;
  readonly list: (page: Page) => Body;
}

/** Returns the response with one page of a list, links to the neighbouring pages, and the total. */
export async function pagedResponse<Body>(
  context: RequestWithUrl,
  query: PageQuery,
  { total, list }: PageSource<Body | Promise<Body>>,
) {
  const page = { page: query.page, perPage: query.per_page };
  const headers = pagingHeaders({ url: context.request.url ?? '', total, ...page });
  return { status: 200, headers, body: await list(page) } as const;
}

/**
 * Returns the response with one page of a list and links, but without a total: the reference
 * implementation sends none in some lists.
 */
export function linkedResponse<Body>(
  context: RequestWithUrl,
  query: PageQuery,
  { total, list }: PageSource<Body>,
) {
  const page = { page: query.page, perPage: query.per_page };
  const headers = linkHeader({ url: context.request.url ?? '', total, ...page });
  return { status: 200, headers, body: list(page) } as const;
}

interface RequestWithUrl {
  readonly request: { readonly url?: string | undefined };
}

/** Returns one page of a list that is completely in memory. */
export function pageOfList<Item>(all: readonly Item[], { page, perPage }: Page): Item[] {
  return all.slice((page - 1) * perPage, page * perPage);
}

/** Converts a time bound in a query from seconds to milliseconds since the Unix epoch. */
export function millisecondsOf(seconds: number): number {
  return seconds * 1000;
}
