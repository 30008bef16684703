/** Defects in the conditions of a download, and in the lifetime of its link. */
import { objectOf, ownResponse, withHeaders, withStatus } from '../alter.ts';
import { requestBecomes, responseBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';

/** Dates in the three formats of HTTP. */
const httpDate = /^[A-Z][a-z]{2}(?:, .* GMT|[a-z]*day, .* GMT| [A-Z][a-z]{2} .* \d{4})$/;
const presentFormat = /^[A-Z][a-z]{2}, /;
const EARLY_MS = 120_000;

const linkOperations = ['get-artifact-link'] as const;
const file = ['download-artifact'] as const;

/** Changes the successful status of conditional requests without a Range. */
function conditionBecomes(
  name: 'if-modified-since' | 'if-unmodified-since',
  isPicked: (date: string) => boolean,
  status: number,
): () => Alteration {
  return responseBecomes((response, { headers }) => {
    const date = headers[name];
    const isHit = date !== undefined && headers.range === undefined && isPicked(date);
    return isHit && response.status === 200 ? withStatus(response, status) : response;
  });
}

function isDate(date: string): boolean {
  return httpDate.test(date);
}

function isNoDate(date: string): boolean {
  return !isDate(date);
}

/** Hides the condition from the target, with or without a Range. */
function conditionIgnored(
  name: 'if-modified-since' | 'if-unmodified-since',
  isWithRange: boolean,
): () => Alteration {
  return () => ({
    request: (request) => {
      const isHit = (request.headers.range !== undefined) === isWithRange;
      return isHit ? withHeaders(request, { [name]: undefined }) : request;
    },
  });
}

/**
 * Compares the day of a condition alone: moves a date of the present format to the end of its day.
 */
function comparedByDay(name: 'if-modified-since' | 'if-unmodified-since'): () => Alteration {
  return requestBecomes((request) => {
    const date = request.headers[name];
    if (date === undefined || !presentFormat.test(date)) return request;
    return withHeaders(request, { [name]: date.replace(/\d\d:\d\d:\d\d/, '23:59:59') });
  });
}

/** Returns the part of a link that distinguishes it from others. */
function linkIn({ path, query }: Pick<ProxiedRequest, 'path' | 'query'>): string {
  return `${path}?${query}`;
}

/** Returns the link in a response and its expiry; undefined when the response has none. */
function issuedLink(
  response: ProxiedResponse,
): { path: string; query: string; expire: string } | undefined {
  const { uri, expire } = objectOf(response);
  if (response.status !== 200 || typeof uri !== 'string') return undefined;
  const { pathname: path, search } = new URL(uri);
  return { path, query: search.slice(1), expire: String(expire) };
}

/** Downloads each link as soon as it is issued, and serves that answer even after the expiry. */
function outlivesItsTime(): Alteration {
  const files = new Map<string, ProxiedResponse>();
  return {
    response: async (response, request, send) => {
      const link = request.operation === 'get-artifact-link' ? issuedLink(response) : undefined;
      if (link) {
        const following = {
          ...request,
          ...link,
          operation: 'download-artifact',
          headers: {},
        } as const;
        files.set(linkIn(link), await send(following));
      }
      return response.status === 403 ? (files.get(linkIn(request)) ?? response) : response;
    },
  };
}

function endsEarly(): Alteration {
  const ends = new Map<string, number>();
  return {
    response: (response, request) => {
      const link = request.operation === 'get-artifact-link' ? issuedLink(response) : undefined;
      if (link) ends.set(linkIn(link), Date.parse(link.expire) - EARLY_MS);
      const isOver =
        Date.parse(response.headers.date ?? '') >= (ends.get(linkIn(request)) ?? Infinity);
      return response.status === 200 && isOver ? ownResponse(403) : response;
    },
  };
}

/** All defects of conditions and lifetime. */
export const artifactLinkConditionDefects: readonly Defect[] = [
  {
    id: 'if-modified-since-is-compared-by-day',
    title:
      'With If-Modified-Since, a file that was changed on the same day is treated as unchanged.',
    violates: ['link.modified-since', 'link.conditional-range', 'link.older-dates'],
    operations: file,
    alter: comparedByDay('if-modified-since'),
  },
  {
    id: 'if-unmodified-since-is-compared-by-day',
    title: 'With If-Unmodified-Since, a file that was changed on the same day is sent.',
    violates: ['link.if-unmodified-since', 'link.conditional-range', 'link.older-dates'],
    operations: file,
    alter: comparedByDay('if-unmodified-since'),
  },
  {
    id: 'older-forms-of-dates-are-ignored',
    title: 'Conditions with a date in the form of RFC 850 or asctime are ignored.',
    violates: ['link.older-dates'],
    operations: file,
    alter: requestBecomes((request) => {
      const isOlder = (date = ''): boolean => /^\w+day, |^\w{3} \w{3} /.test(date);
      const { 'if-modified-since': since, 'if-unmodified-since': until } = request.headers;
      return withHeaders(request, {
        'if-modified-since': isOlder(since) ? undefined : since,
        'if-unmodified-since': isOlder(until) ? undefined : until,
      });
    }),
  },
  {
    id: 'if-modified-since-is-ignored',
    title: 'If-Modified-Since is ignored.',
    violates: ['link.if-modified-since', 'link.later-modified-since'],
    operations: file,
    alter: conditionIgnored('if-modified-since', false),
  },
  {
    id: 'if-modified-since-is-always-304',
    title: 'With any If-Modified-Since the file is treated as unchanged.',
    violates: ['link.modified-since'],
    operations: file,
    alter: conditionBecomes('if-modified-since', isDate, 304),
  },
  {
    id: 'malformed-modified-since-is-304',
    title: 'With an If-Modified-Since that is not a date the file is treated as unchanged.',
    violates: ['link.malformed-modified-since'],
    operations: file,
    alter: conditionBecomes('if-modified-since', isNoDate, 304),
  },
  {
    id: 'if-unmodified-since-is-ignored',
    title: 'If-Unmodified-Since is ignored.',
    violates: ['link.if-unmodified-since'],
    operations: file,
    alter: conditionIgnored('if-unmodified-since', false),
  },
  {
    id: 'if-unmodified-since-is-always-412',
    title: 'With any If-Unmodified-Since the file is treated as changed.',
    violates: ['link.unmodified-since'],
    operations: file,
    alter: conditionBecomes('if-unmodified-since', isDate, 412),
  },
  {
    id: 'malformed-unmodified-since-is-412',
    title: 'With an If-Unmodified-Since that is not a date the file is treated as changed.',
    violates: ['link.malformed-unmodified-since'],
    operations: file,
    alter: conditionBecomes('if-unmodified-since', isNoDate, 412),
  },
  {
    id: 'condition-of-a-range-is-ignored',
    title: 'If-Unmodified-Since is ignored in requests with Range.',
    violates: ['link.conditional-range'],
    operations: file,
    alter: conditionIgnored('if-unmodified-since', true),
  },
  {
    id: 'last-change-is-not-told',
    title: 'The link sends no Last-Modified.',
    violates: ['link.last-modified'],
    operations: file,
    alter: responseBecomes((response) => withHeaders(response, { 'last-modified': undefined })),
  },
  {
    id: 'expired-link-gives-the-file',
    title: 'A link returns the file after its expiry time.',
    violates: ['link.expired'],
    operations: [...linkOperations, ...file],
    alter: outlivesItsTime,
  },
  {
    id: 'link-ends-before-its-time',
    title: 'A link expires two minutes before its expiry time.',
    violates: ['link.valid-until-expire'],
    operations: [...linkOperations, ...file],
    alter: endsEarly,
  },
];
