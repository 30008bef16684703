/**
 * Cases: requests in different variants that are equivalent in HTTP, for every operation. Each
 * variant must have the same success and the same effect. Spec: What the service does
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import type { WireRequest } from '../../target/target.ts';
import {
  type DeviceWithOffers,
  deviceWithEverything,
  expectVariant,
  failureOf,
  mismatchOf,
  notObservable,
  requestsTo,
} from './valid-requests.ts';

/** One variant of requests; a request to which the variant does not apply is skipped. */
interface RequestVariant {
  readonly id: string;
  readonly title: string;
  readonly requirement: RequirementId;
  /** Functions that change a request as the variant says, by a description. */
  readonly variants: Readonly<Record<string, (request: WireRequest) => WireRequest | undefined>>;
  /** Ends the string by which the effect is recognized; nothing by default. */
  readonly markerEnd?: string;
}

function withHeaders(request: WireRequest, headers: Readonly<Record<string, string>>): WireRequest {
  return { ...request, headers: { ...request.headers, ...headers } };
}

function withMediaType(mediaType: string) {
  return (request: WireRequest) =>
    request.body === undefined ? undefined : withHeaders(request, { 'content-type': mediaType });
}

function withAccept(accept: string) {
  return (request: WireRequest) => withHeaders(request, { accept });
}

function inChunks(request: WireRequest): WireRequest | undefined {
  const { body } = request;
  if (typeof body !== 'string') return undefined;
  const bytes = Buffer.from(body);
  // Inside a character of several bytes, if there is one.
  const inside = bytes.findIndex((byte) => byte >= 0xc0) + 1;
  const middle = inside > 0 ? inside : Math.ceil(bytes.length / 2);
  return { ...request, body: [bytes.subarray(0, middle), bytes.subarray(middle)] };
}

function percentEncoded(text: string): string {
  return `%${text.charCodeAt(0).toString(16)}`;
}

function withEncodedPath(request: WireRequest): WireRequest {
  const [path = '', ...query] = request.url.split('?');
  const encodedPath = path.replace(/[a-z]$|[a-z](?=[^a-z]*$)/, percentEncoded);
  return { ...request, url: [encodedPath, ...query].join('?') };
}

function withQueryParts(change: (parts: string[]) => string[]) {
  return (request: WireRequest): WireRequest | undefined => {
    const [path, query] = request.url.split('?');
    if (query === undefined) return undefined;
    return { ...request, url: `${path}?${change(query.split('&')).join('&')}` };
  };
}

function encodedParts(parts: string[]): string[] {
  return parts.map((part) => part.replace(/(?<=^|=)[a-z]/gi, percentEncoded));
}

function withCapitalHeaders(request: WireRequest): WireRequest {
  const headers = Object.entries(request.headers ?? {});
  const capitals = headers.map(([name, value]) => [name.toUpperCase(), value]);
  return { ...request, headers: Object.fromEntries(capitals) };
}

const variants: readonly RequestVariant[] = [
  {
    id: 'chunked-bodies',
    title: 'Every operation reads a chunked body, without Content-Length, like any other.',
    requirement: 'service.chunked-bodies',
    variants: { 'a body in chunks': inChunks },
    markerEnd: ' für 東京 😀',
  },
  {
    id: 'labels-of-json',
    title: 'The media type of JSON may have a charset, and capital letters.',
    requirement: 'service.equal-forms',
    variants: {
      'a charset': withMediaType('application/json; charset=utf-8'),
      'capital letters, and a charset in quotes': withMediaType('Application/JSON;charset="UTF-8"'),
    },
  },
  {
    id: 'names-of-headers',
    title: 'The names of headers may be written in capital letters.',
    requirement: 'service.equal-forms',
    variants: { 'names in capital letters': withCapitalHeaders },
  },
  {
    id: 'content-type-without-a-body',
    title: 'A request without a body may carry a Content-Type.',
    requirement: 'service.equal-forms',
    variants: {
      'a Content-Type': (request) =>
        request.body === undefined
          ? withHeaders(request, { 'content-type': 'application/json' })
          : undefined,
    },
  },
  {
    id: 'encoded-paths',
    title: 'A letter of the path may be percent-encoded.',
    requirement: 'service.equal-forms',
    variants: { 'a percent-encoded letter in the path': withEncodedPath },
  },
  {
    id: 'encoded-queries',
    title: 'Letters in names and values of the query may be percent-encoded.',
    requirement: 'service.equal-forms',
    variants: { 'percent-encoded letters in the query': withQueryParts(encodedParts) },
  },
  {
    id: 'order-of-queries',
    title: 'The parameters of a query may come in any order.',
    requirement: 'service.equal-forms',
    variants: { 'parameters in reverse order': withQueryParts((parts) => parts.toReversed()) },
  },
  {
    id: 'accepted-types',
    title: 'A client may accept the media type of the response in several forms.',
    requirement: 'service.equal-forms',
    variants: {
      'Accept: */*': withAccept('*/*'),
      'Accept with several types and weights': withAccept(
        'text/html;q=0.2, application/json, text/csv, text/plain, */*;q=0.5',
      ),
    },
  },
  {
    id: 'closed-connections',
    title: 'A client may request that the connection is closed after the response.',
    requirement: 'service.equal-forms',
    variants: {
      'Connection: close': (request) =>
        // An upgrade request needs the header for the upgrade itself.
        request.headers?.upgrade === undefined
          ? withHeaders(request, { connection: 'close' })
          : undefined,
    },
  },
  {
    id: 'other-headers',
    title: 'Headers without a meaning for the operation have no effect.',
    requirement: 'service.equal-forms',
    variants: {
      'cookies and headers of a proxy': (request) =>
        withHeaders(request, {
          cookie: 'theme=dark; session=none',
          'x-forwarded-for': '192.0.2.7',
          via: '1.1 proxy',
        }),
      'headers of a browser': (request) =>
        withHeaders(request, {
          'user-agent': `updater/1.0 (${'x'.repeat(500)})`,
          'accept-language': 'nb, en;q=0.5',
          'cache-control': 'no-cache',
        }),
    },
  },
];

function variantCase({
  id,
  title,
  requirement,
  variants,
  markerEnd = '',
}: RequestVariant): JudgingCase<DeviceWithOffers> {
  return {
    id,
    title,
    requirements: [requirement],
    run: async (arranged, context) => {
      for (const [what, change] of Object.entries(variants)) {
        for (const row of requestsTo(arranged, context)) {
          if (change(row.validRequest.request('')) === undefined) continue;
          const marker = context.newName() + markerEnd;
          const sending = { change: (request: WireRequest) => change(request) ?? request, marker };
          await expectVariant(context, row, { prefix: what, sending });
        }
      }
    },
  };
}

/** Spec: What the service does */
export const requestVariantCases = defineScenario({
  area: 'legal-forms',
  name: 'Requests in other forms',
  start: 'a device with a configuration that has been offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: deviceWithEverything,
  cases: [
    ...variants.map(variantCase),
    {
      id: 'repeated-requests-have-the-same-effect',
      title:
        'A request that succeeds once succeeds a second and a third time, with the same effect.',
      requirements: ['service.equal-forms'],
      run: async (arranged, context) => {
        const rows = requestsTo(arranged, context);
        const [firstMarker, laterMarker] = [context.newName(), context.newName()];
        const times = [
          ['the first time', firstMarker],
          ['the second time', laterMarker],
          // Byte for byte the request before.
          ['the third time', laterMarker],
        ] as const;
        for (const [what, marker] of times) {
          for (const row of rows) {
            const mismatch = await mismatchOf(context, row, { marker });
            if (mismatch === undefined) continue;
            throw marker === firstMarker
              ? notObservable(row.id, mismatch)
              : failureOf(row.id, what, mismatch);
          }
        }
      },
    },
  ],
});
