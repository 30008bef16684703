/** Defects in links to artifact files and in their responses. */
import { ownResponse, withHeaders, withStatus } from '../alter.ts';
import { fieldBecomes, refusalBecomes, responseBecomes, statusBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';
import { artifactLinkConditionDefects } from './artifact-link-conditions.ts';

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const closedRange = /^bytes=(\d+)-(\d+)$/;
/** Ranges past this offset exist only in the larger file. */
const LARGE_BYTES = 100_000;

const linkOperations = ['get-artifact-link'] as const;
const file = ['download-artifact'] as const;

function namesUuid({ parameters }: ProxiedRequest): boolean {
  return uuidPattern.test(parameters.id ?? '');
}

function rangeOf({ headers }: ProxiedRequest): string {
  return headers.range ?? '';
}

/** Returns the total length in a 206 response. */
function totalOf({ headers }: ProxiedResponse): number {
  return Number(headers['content-range']?.split('/')[1]);
}

/** Answers the matching ranges with 206 and the bytes of another Range, or of none. */
function partBecomes(
  appliesTo: (range: string) => boolean,
  otherRangeOf: (range: string) => string | undefined,
): () => Alteration {
  return responseBecomes((response, request, send) => {
    const range = rangeOf(request);
    if (response.status !== 206 || !appliesTo(range)) return response;
    return send(withHeaders(request, { range: otherRangeOf(range) }));
  });
}

/** Replaces matching Range headers before the target sees them. */
function rangeBecomes(
  appliesTo: RegExp,
  otherRangeOf: (range: string) => string,
): () => Alteration {
  return () => ({
    request: (request) => {
      const range = rangeOf(request);
      return appliesTo.test(range) ? withHeaders(request, { range: otherRangeOf(range) }) : request;
    },
  });
}

function flipped(body: Buffer): Buffer {
  const copy = Buffer.from(body);
  if (copy.length > 0) copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 0xff;
  return copy;
}

/** Serves a file that was downloaded before when the target refuses a link with the same key. */
function givenAgain(key: (request: ProxiedRequest) => string): () => Alteration {
  return () => {
    const files = new Map<string, Buffer>();
    return {
      response: (response, request) => {
        if (response.status === 200) files.set(key(request), response.body);
        const body = files.get(key(request));
        return response.status === 403 && body ? { ...response, status: 200, body } : response;
      },
    };
  };
}

const links: readonly Defect[] = [
  {
    id: 'artifact-link-is-201',
    title: 'A link is answered with 201.',
    violates: ['link.fields'],
    operations: linkOperations,
    alter: statusBecomes(200, 201),
  },
  {
    id: 'artifact-link-is-relative',
    title: 'The uri of a link is a path without a server.',
    violates: ['link.uri'],
    operations: linkOperations,
    alter: fieldBecomes('uri', (uri) => String(uri).slice(new URL(String(uri)).origin.length)),
  },
  {
    id: 'artifact-link-has-no-uri',
    title: 'A link has no uri.',
    violates: ['link.uri'],
    operations: linkOperations,
    alter: fieldBecomes('uri', () => undefined),
  },
  {
    id: 'artifact-link-has-no-expire',
    title: 'A link has no expiry time.',
    violates: ['link.expire'],
    operations: linkOperations,
    alter: fieldBecomes('expire', () => undefined),
  },
  {
    id: 'artifact-link-expires-in-seconds',
    title: 'The expiry time of a link is a number of seconds since the Unix epoch.',
    violates: ['link.expire'],
    operations: linkOperations,
    alter: fieldBecomes('expire', (time) => Math.floor(Date.parse(String(time)) / 1000)),
  },
  {
    id: 'artifact-link-has-expired',
    title: 'The expiry time of a link is long past.',
    violates: ['link.expire-is-later'],
    operations: linkOperations,
    alter: fieldBecomes('expire', () => '2001-01-01T00:00:00Z'),
  },
  {
    id: 'link-to-unknown-artifact',
    title: 'A request for a link to an artifact that does not exist is answered with 200.',
    violates: ['link.unknown-artifact-is-404', 'tenants.are-apart'],
    operations: linkOperations,
    alter: statusBecomes(404, 200, namesUuid),
  },
  {
    id: 'link-to-malformed-id-is-500',
    title: 'A request for a link with an ID that is not a UUID is answered with 500.',
    violates: ['link.malformed-id'],
    operations: linkOperations,
    alter: refusalBecomes(500, (request) => !namesUuid(request)),
  },
  {
    id: 'links-are-public',
    title: 'Links are given to callers without a token.',
    violates: ['link.unauthenticated-is-401', 'tokens.missing-is-401'],
    operations: linkOperations,
    alter: statusBecomes(401, 200, ({ headers }) => headers.authorization === undefined),
  },
  {
    id: 'artifact-file-is-altered',
    title: 'The last byte of a file is changed.',
    violates: ['link.gives-the-file', 'next.source-gives-the-artifact'],
    operations: file,
    alter: responseBecomes((response) =>
      response.status === 200 ? { ...response, body: flipped(response.body) } : response,
    ),
  },
  {
    id: 'link-takes-every-method',
    title: 'PUT, POST, PATCH and DELETE on a link are answered with 204.',
    violates: ['link.get-only'],
    operations: 'all',
    alter: refusalBecomes(204, ({ method, operationsAtPath }) => {
      const isLink = operationsAtPath.some((id) => id === 'download-artifact');
      return isLink && !['GET', 'HEAD', 'OPTIONS'].includes(method);
    }),
  },
  {
    id: 'altered-link-gives-the-file',
    title: 'A link with an altered signature returns the file.',
    violates: ['link.is-signed', 'link.expired', 'next.source-ends-at-expire'],
    operations: file,
    alter: givenAgain(({ path, query }) => (query.includes('expire') ? path : query)),
  },
  {
    id: 'signature-does-not-cover-the-expiry',
    title: 'A link returns the file whatever expiry time it has.',
    violates: ['link.is-signed', 'link.expired', 'next.source-ends-at-expire'],
    operations: file,
    alter: givenAgain(({ path, query }) => `${path} ${query.replace(/expire=[^&]*/, '')}`),
  },
  {
    id: 'query-of-one-link-gives-every-file',
    title: 'With the query of a link to another artifact, a link returns its file.',
    violates: ['link.is-signed'],
    operations: file,
    alter: () => {
      const files = new Map<string, Buffer>();
      const paths = new Map<string, string>();
      return {
        response: (response, { path, query }) => {
          if (response.status === 200) {
            files.set(path, response.body);
            paths.set(query, path);
          }
          const isOfAnother = (paths.get(query) ?? path) !== path;
          const body = isOfAnother && response.status >= 400 ? files.get(path) : undefined;
          return body ? { ...response, status: 200, body } : response;
        },
      };
    },
  },
  {
    id: 'link-without-query-gives-the-file',
    title: 'A link without its query returns the file.',
    violates: ['link.is-signed'],
    operations: file,
    alter: () => {
      const files = new Map<string, Buffer>();
      return {
        response: (response, { path, query }) => {
          if (response.status === 200) files.set(path, response.body);
          const body = query === '' ? files.get(path) : undefined;
          return body ? { ...response, status: 200, body } : response;
        },
      };
    },
  },
];

const ranges: readonly Defect[] = [
  {
    id: 'range-ends-too-early',
    title: 'A range is returned without its last byte.',
    violates: [
      'link.range',
      'link.content-range',
      'link.parts-make-the-file',
      'link.conditional-range',
      'link.range-past-the-end',
      'link.unmodified-since',
    ],
    operations: file,
    alter: rangeBecomes(closedRange, (range) => {
      const [, firstPosition = '', lastPosition = ''] = closedRange.exec(range) ?? [];
      const isLonger = Number(firstPosition) > 0 && Number(lastPosition) > Number(firstPosition);
      return isLonger ? `bytes=${firstPosition}-${Number(lastPosition) - 1}` : range;
    }),
  },
  {
    id: 'range-of-first-bytes-is-ignored',
    title: 'A Range that starts at the first byte is ignored.',
    violates: ['link.range-first-bytes'],
    operations: file,
    alter: partBecomes(
      (range) => /^bytes=0-\d+$/.test(range),
      () => undefined,
    ),
  },
  {
    id: 'open-range-is-ignored',
    title: 'A Range without a last byte is ignored, so that no download can be resumed.',
    violates: ['link.range-open-end'],
    operations: file,
    alter: partBecomes(
      (range) => /^bytes=\d+-$/.test(range),
      () => undefined,
    ),
  },
  {
    id: 'suffix-is-taken-from-the-front',
    title: 'A suffix Range returns that many bytes from the beginning.',
    violates: ['link.range-suffix'],
    operations: file,
    alter: partBecomes(
      (range) => /^bytes=-\d+$/.test(range),
      (range) => `bytes=0-${Number(range.slice('bytes=-'.length)) - 1}`,
    ),
  },
  {
    id: 'long-suffix-is-416',
    title: 'A suffix Range longer than the file is answered with 416.',
    violates: ['link.range-long-suffix'],
    operations: file,
    alter: responseBecomes((response, request) => {
      const [, suffix] = /^bytes=-(\d+)$/.exec(rangeOf(request)) ?? [];
      return Number(suffix) > totalOf(response) ? ownResponse(416) : response;
    }),
  },
  {
    id: 'range-past-the-end-is-416',
    title: 'A Range whose last byte is past the end is answered with 416.',
    violates: ['link.range-past-the-end'],
    operations: file,
    alter: responseBecomes((response, request) => {
      const [, , lastPosition] = closedRange.exec(rangeOf(request)) ?? [];
      return Number(lastPosition) >= totalOf(response) ? ownResponse(416) : response;
    }),
  },
  {
    id: 'part-does-not-say-which',
    title: 'A 206 has no Content-Range.',
    violates: ['link.content-range'],
    operations: file,
    alter: responseBecomes((response) =>
      response.status === 206 ? withHeaders(response, { 'content-range': undefined }) : response,
    ),
  },
  {
    id: 'unsatisfiable-range-is-206',
    title: 'A Range that starts past the end is answered with 206 and no bytes.',
    violates: ['link.range-unsatisfiable', 'link.range-unsatisfiable-is-416'],
    operations: file,
    alter: responseBecomes((response, request) => {
      const firstPosition = Number.parseInt(rangeOf(request).slice('bytes='.length), 10);
      return response.status === 416 && firstPosition >= totalOf(response)
        ? ownResponse(206)
        : response;
    }),
  },
  {
    id: 'unsatisfiable-range-is-ignored',
    title: 'A Range that starts past the end is ignored.',
    violates: ['link.range-unsatisfiable-is-416'],
    operations: file,
    alter: responseBecomes((response, request, send) =>
      response.status === 416 ? send(withHeaders(request, { range: undefined })) : response,
    ),
  },
  {
    id: 'refused-range-tells-no-length',
    title: 'A 416 does not give the length of the file.',
    violates: ['link.unsatisfied-length'],
    operations: file,
    alter: responseBecomes((response) =>
      response.status === 416 ? withHeaders(response, { 'content-range': undefined }) : response,
    ),
  },
  {
    id: 'several-ranges-are-cut-to-one',
    title: 'Of several ranges, the first one is returned as if it were the whole file.',
    violates: ['link.several-ranges'],
    operations: file,
    alter: responseBecomes(async (response, request, send) => {
      const [firstRange, secondRange] = rangeOf(request).split(',');
      if (secondRange === undefined) return response;
      return withStatus(await send(withHeaders(request, { range: firstRange })), 200);
    }),
  },
  {
    id: 'range-in-lines-is-in-bytes',
    title: 'A Range in an unknown unit is treated as one in bytes.',
    violates: ['link.unknown-range-unit'],
    operations: file,
    alter: rangeBecomes(/^lines=/, (range) => range.replace('lines', 'bytes')),
  },
  {
    id: 'reversed-range-is-turned',
    title: 'A Range whose last byte is before its first is swapped.',
    violates: ['link.malformed-range'],
    operations: file,
    alter: rangeBecomes(/^bytes=9-5$/, () => 'bytes=5-9'),
  },
  {
    id: 'large-part-is-altered',
    title: 'The last byte of a large part is changed.',
    violates: ['link.parts-make-the-file'],
    operations: file,
    alter: responseBecomes((response, request) => {
      const isLarge = response.status === 206 && response.body.length > LARGE_BYTES;
      return isLarge && closedRange.test(rangeOf(request))
        ? { ...response, body: flipped(response.body) }
        : response;
    }),
  },
];

/** All defects of this area. */
export const artifactLinkDefects: readonly Defect[] = [
  ...links,
  ...ranges,
  ...artifactLinkConditionDefects,
];
