/** Defects in the signed link to a configuration. */
import { writeArtifact } from '../../../fixtures/formats/mender-artifact.ts';
import {
  changedAt,
  isSuccess,
  objectOf,
  queryOf,
  withJson,
  withQuery,
  withStatus,
} from '../alter.ts';
import { requestBecomes, responseBecomes, statusBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';

const download = ['download-configuration'] as const;
const linkOperations = ['get-next-deployment', 'download-configuration'] as const;
const EARLY_MS = 120_000;
const HOUR_MS = 3_600_000;
const configurationPath = '/download/configuration/';

/** Returns the link that a response offers, if it is one to a configuration. */
function offeredLink(response: ProxiedResponse): URL | undefined {
  if (!isSuccess(response)) return undefined;
  const { artifact } = objectOf(response) as { artifact?: { source?: { uri?: string } } };
  const uri = artifact?.source?.uri;
  return uri?.includes(configurationPath) ? new URL(uri) : undefined;
}

function withLink(response: ProxiedResponse, link: URL): ProxiedResponse {
  return withJson(
    response,
    changedAt(objectOf(response), 'artifact.source.uri', () => link.href),
  );
}

/** Returns the query parameter whose name ends like this, with any prefix. */
function parameterOf(query: URLSearchParams, ending: string): string | undefined {
  return [...query].find(([name]) => name.toLowerCase().endsWith(ending))?.[1];
}

/** Changes a path segment on the wire; the target still sees its own. */
function segmentBecomes(fromEnd: number): () => Alteration {
  return () => {
    const originals = new Map<string, string>();
    const swapped = (path: string, change: (segment: string) => string | undefined): string => {
      const segments = path.split('/');
      const at = segments.length - fromEnd;
      segments[at] = change(segments[at] ?? '') ?? segments[at] ?? '';
      return segments.join('/');
    };
    return {
      request: (request) => {
        if (request.operation !== 'download-configuration') return request;
        return { ...request, path: swapped(request.path, (segment) => originals.get(segment)) };
      },
      response: (response) => {
        const link = offeredLink(response);
        if (!link) return response;
        link.pathname = swapped(link.pathname, (segment) => {
          const alias = `part-${originals.size}`;
          originals.set(alias, segment);
          return alias;
        });
        return withLink(response, link);
      },
    };
  };
}

/** Changes a query parameter on the wire; the target still sees its own. */
function parameterBecomes(
  ending: string,
  become: (name: string, value: string) => readonly [string, string],
): () => Alteration {
  return () => {
    const originals = new Map<string, readonly [string, string]>();
    return {
      request: (request) => {
        const query = queryOf(request);
        for (const [name, value] of [...query]) {
          const original = originals.get(`${name}=${value}`);
          if (!original || query.has(original[0], original[1])) continue;
          if (name !== original[0] && query.has(original[0])) continue;
          query.delete(name);
          query.set(...(original as [string, string]));
        }
        return request.operation === 'download-configuration'
          ? { ...request, query: query.toString() }
          : request;
      },
      response: (response) => {
        const link = offeredLink(response);
        const signatureParameter = [...(link?.searchParams ?? [])].find(([name]) =>
          name.toLowerCase().endsWith(ending),
        );
        if (!link || !signatureParameter) return response;
        const [name, value] = become(...signatureParameter);
        originals.set(`${name}=${value}`, signatureParameter);
        link.searchParams.delete(signatureParameter[0]);
        link.searchParams.set(name, value);
        return withLink(response, link);
      },
    };
  };
}

/** The signatures offered so far, and each with its expiry time. */
interface OfferedSignatures {
  readonly signatures: ReadonlySet<string | undefined>;
  readonly signedTimes: ReadonlySet<string>;
}

/** Changes the status of refused links that the predicate on earlier offers matches. */
function refusedLinkBecomes(
  status: number,
  isHit: (request: ProxiedRequest, offers: OfferedSignatures) => boolean,
): () => Alteration {
  return () => {
    const signatures = new Set<string | undefined>();
    const signedTimes = new Set<string>();
    const signedTimeOf = (query: URLSearchParams): string =>
      `${parameterOf(query, '-signature')} ${parameterOf(query, '-expire')}`;
    return {
      response: (response, request) => {
        const link = offeredLink(response);
        if (link) {
          signatures.add(parameterOf(link.searchParams, '-signature'));
          signedTimes.add(signedTimeOf(link.searchParams));
        }
        const isRefused = response.status === 403 && request.operation === 'download-configuration';
        const isAffected = isRefused && isHit(request, { signatures, signedTimes });
        return isAffected ? withStatus(response, status) : response;
      },
    };
  };
}

function isSigned(request: ProxiedRequest, { signatures }: OfferedSignatures): boolean {
  return signatures.has(parameterOf(queryOf(request), '-signature'));
}

function hasSignedTime(request: ProxiedRequest, { signedTimes }: OfferedSignatures): boolean {
  const query = queryOf(request);
  const time = `${parameterOf(query, '-signature')} ${parameterOf(query, '-expire')}`;
  return signedTimes.has(time);
}

function isOfSignedDay(request: ProxiedRequest, { signedTimes }: OfferedSignatures): boolean {
  const query = queryOf(request);
  const day = parameterOf(query, '-expire')?.slice(0, 'yyyy-mm-dd'.length);
  const start = `${parameterOf(query, '-signature')} ${day}`;
  return day !== undefined && [...signedTimes].some((time) => time.startsWith(start));
}

/** Matches queries that lack exactly the expiry time, the signature, or both, as given. */
function lacks(expire: boolean, signature: boolean): (request: ProxiedRequest) => boolean {
  return (request) => {
    const query = queryOf(request);
    const lacksExpire = parameterOf(query, '-expire') === undefined;
    const lacksSignature = parameterOf(query, '-signature') === undefined;
    return lacksExpire === expire && lacksSignature === signature;
  };
}

/** All defects of this area. */
export const configurationDownloadDefects: readonly Defect[] = [
  {
    id: 'configuration-link-hides-the-deployment',
    title: 'The link to a configuration names the deployment by something other than its ID.',
    violates: ['download.path-names-deployment'],
    operations: linkOperations,
    alter: segmentBecomes(3),
  },
  {
    id: 'configuration-link-hides-the-device-type',
    title: 'The link to a configuration names another device type.',
    violates: ['download.path-names-device-type'],
    operations: linkOperations,
    alter: segmentBecomes(2),
  },
  {
    id: 'configuration-link-hides-the-device',
    title: 'The link to a configuration names the device by something other than its ID.',
    violates: ['download.path-names-device'],
    operations: linkOperations,
    alter: segmentBecomes(1),
  },
  {
    id: 'configuration-link-expires-in-seconds',
    title: 'The expiry time of a link to a configuration is in seconds since the Unix epoch.',
    violates: ['download.link-expires'],
    operations: linkOperations,
    alter: parameterBecomes('-expire', (name, time) => [name, String(Date.parse(time) / 1000)]),
  },
  {
    id: 'configuration-link-expires-otherwise-than-announced',
    title:
      'The instructions say that a link to a configuration expires an hour later than it does.',
    violates: ['download.expiry-is-that-of-the-source'],
    operations: ['get-next-deployment'],
    alter: responseBecomes((response) => {
      if (!offeredLink(response)) return response;
      const hourLater = (time: unknown) =>
        new Date(Date.parse(String(time)) + HOUR_MS).toISOString();
      return withJson(response, changedAt(objectOf(response), 'artifact.source.expire', hourLater));
    }),
  },
  {
    id: 'configuration-link-has-another-parameter',
    title: 'The signature of a link to a configuration is in a parameter with another name.',
    violates: [
      'download.link-is-signed',
      'download.signature-is-required',
      'download.invalid-signature-is-403',
    ],
    operations: linkOperations,
    alter: parameterBecomes('-signature', (_, signature) => ['sig', signature]),
  },
  {
    id: 'configuration-download-needs-a-token',
    title: 'A link to a configuration without a token is answered with 401.',
    violates: [
      'download.gives-the-configuration',
      'download.any-device-type',
      'download.valid-until-expire',
    ],
    operations: download,
    alter: statusBecomes(200, 401, ({ headers }) => headers.authorization === undefined),
  },
  {
    id: 'configuration-download-lacks-a-pair',
    title: 'The downloaded configuration lacks a pair.',
    violates: ['download.holds-the-pairs'],
    operations: download,
    alter: responseBecomes(async (response, { parameters }) => {
      if (response.status !== 200) return response;
      const body = await writeArtifact({
        name: 'configuration',
        deviceTypes: [parameters.device_type ?? ''],
        payloadType: 'mender-configure',
        metaData: { timezone: 'Europe/Oslo' },
        modifiedMs: 0,
      });
      return { ...response, body };
    }),
  },
  {
    id: 'configuration-download-is-json',
    title: 'The configuration is downloaded as JSON instead of an artifact file.',
    violates: ['download.is-an-artifact', 'download.holds-the-pairs'],
    operations: download,
    alter: responseBecomes((response) =>
      response.status === 200
        ? withJson(response, { timezone: 'Europe/Oslo', colour: 'blue' })
        : response,
    ),
  },
  {
    id: 'configuration-link-knows-no-slash',
    title: 'A link to a configuration for a device type with a slash is answered with 400.',
    violates: ['download.any-device-type'],
    operations: download,
    alter: statusBecomes(
      200,
      400,
      ({ parameters }) => parameters.device_type?.includes('/') ?? false,
    ),
  },
  {
    id: 'bare-configuration-link-is-403',
    title: 'A link to a configuration without its query is answered with 403.',
    violates: ['download.parameters-are-required'],
    operations: download,
    alter: statusBecomes(400, 403, lacks(true, true)),
  },
  {
    id: 'configuration-link-without-expire-is-403',
    title: 'A link to a configuration without its expiry time is answered with 403.',
    violates: ['download.expire-is-required'],
    operations: download,
    alter: statusBecomes(400, 403, lacks(true, false)),
  },
  {
    id: 'configuration-link-without-signature-is-200',
    title: 'A link to a configuration without its signature is answered with 200.',
    violates: ['download.signature-is-required'],
    operations: download,
    alter: statusBecomes(400, 200, lacks(false, true)),
  },
  {
    id: 'configuration-link-ends-tomorrow',
    title: 'An expiry time that is not a date-time is answered with 200.',
    violates: ['download.expiry-is-a-date-time'],
    operations: download,
    alter: statusBecomes(400, 200, lacks(false, false)),
  },
  {
    id: 'beginning-of-a-signature-opens-the-link',
    title: 'A signature that is the beginning of the right one is accepted.',
    violates: ['download.invalid-signature-is-403'],
    operations: linkOperations,
    alter: refusedLinkBecomes(200, (request, { signatures }) => {
      const requestSignature = parameterOf(queryOf(request), '-signature') ?? '';
      const isPart = (signature = ''): boolean =>
        signature.startsWith(requestSignature) && signature !== requestSignature;
      return requestSignature.length > 8 && [...signatures].some(isPart);
    }),
  },
  {
    id: 'configuration-signature-is-401',
    title: 'A link to a configuration with an invalid signature is answered with 401.',
    violates: ['download.invalid-signature-is-403'],
    operations: linkOperations,
    alter: refusedLinkBecomes(401, (request, offers) => !isSigned(request, offers)),
  },
  {
    id: 'configuration-expiry-is-not-signed',
    title: 'A changed expiry time prolongs a link to a configuration.',
    violates: ['download.signature-covers-expire'],
    operations: linkOperations,
    alter: refusedLinkBecomes(
      200,
      (request, offers) => isSigned(request, offers) && !hasSignedTime(request, offers),
    ),
  },
  {
    id: 'configuration-expiry-is-signed-to-the-day',
    title: 'The signature of a link covers the day of its expiry time, and not the time of day.',
    violates: ['download.signature-covers-expire'],
    operations: linkOperations,
    alter: refusedLinkBecomes(
      200,
      (request, offers) =>
        isSigned(request, offers) &&
        !hasSignedTime(request, offers) &&
        isOfSignedDay(request, offers),
    ),
  },
  {
    id: 'configuration-path-is-not-signed',
    title: 'A link to a configuration with a changed path returns that of another device.',
    violates: ['download.signature-covers-path', 'download.expired-is-403'],
    operations: linkOperations,
    alter: refusedLinkBecomes(200, hasSignedTime),
  },
  {
    id: 'configuration-link-ends-before-its-time',
    title: 'A link to a configuration expires two minutes before the time in its query.',
    violates: ['download.valid-until-expire'],
    operations: download,
    alter: responseBecomes((response, request) => {
      const end = Date.parse(parameterOf(queryOf(request), '-expire') ?? '');
      const isOver = Date.parse(response.headers.date ?? '') >= end - EARLY_MS;
      return response.status === 200 && isOver ? withStatus(response, 403) : response;
    }),
  },
  {
    id: 'expired-configuration-link-is-410',
    title: 'A link to a configuration past its expiry time is answered with 410.',
    violates: ['download.expired-is-403', 'download.signature-covers-path'],
    operations: linkOperations,
    alter: refusedLinkBecomes(410, hasSignedTime),
  },
  {
    id: 'first-configuration-is-delivered-again',
    title: 'Each configuration deployment of a device delivers the pairs of the first one.',
    violates: ['download.holds-the-pairs'],
    operations: download,
    alter: () => {
      const firstResponses = new Map<string | undefined, ProxiedResponse>();
      return {
        response: (response, { parameters }) => {
          if (response.status !== 200) return response;
          const firstResponse = firstResponses.get(parameters.device_id) ?? response;
          firstResponses.set(parameters.device_id, firstResponse);
          return firstResponse;
        },
      };
    },
  },
  {
    id: 'configuration-has-no-source-in-v2',
    title: 'A configuration deployment that is requested by POST v2 has no source.',
    violates: ['download.gives-the-configuration'],
    operations: ['post-next-deployment-v2'],
    alter: responseBecomes((response) =>
      offeredLink(response)
        ? withJson(
            response,
            changedAt(objectOf(response), 'artifact.source', () => ({})),
          )
        : response,
    ),
  },
  {
    id: 'configuration-link-of-post-leads-nowhere',
    title: 'The link to a configuration that is requested by POST v1 is answered with 404.',
    violates: ['download.gives-the-configuration'],
    operations: ['post-next-deployment'],
    alter: responseBecomes((response) => {
      const link = offeredLink(response);
      if (!link) return response;
      link.pathname = link.pathname.replace('/configuration/', '/config/');
      return withLink(response, link);
    }),
  },
  {
    id: 'configuration-link-ends-with-its-deployment',
    title: 'A link to a configuration is answered with 403 once its deployment is finished.',
    violates: ['download.valid-until-expiry'],
    operations: [...download, 'put-deployment-status'],
    alter: () => {
      const endedIds = new Set<string | undefined>();
      return {
        response: (response, request) => {
          const { id, deployment_id } = request.parameters;
          const isEnd = objectOf(request).status === 'success' && isSuccess(response);
          if (isEnd) endedIds.add(id);
          return endedIds.has(deployment_id) && isSuccess(response)
            ? withStatus(response, 403)
            : response;
        },
      };
    },
  },
  {
    id: 'tenant-of-a-configuration-link-is-unsigned',
    title: 'A link to a configuration returns it whatever tenant the link names.',
    violates: ['download.signature-covers-tenant'],
    operations: linkOperations,
    alter: () => {
      const tenants = new Map<string, string>();
      return {
        request: (request) => {
          const tenant = tenants.get(request.path);
          const isOther = tenant !== undefined && queryOf(request).get('tenant_id') !== tenant;
          return isOther ? withQuery(request, { tenant_id: tenant }) : request;
        },
        response: (response) => {
          const link = offeredLink(response);
          if (link) tenants.set(link.pathname, link.searchParams.get('tenant_id') ?? '');
          return response;
        },
      };
    },
  },
  {
    id: 'configuration-link-refuses-a-token',
    title: 'A link to a configuration with an Authorization header is answered with 401.',
    violates: ['download.authorization-is-ignored'],
    operations: download,
    alter: statusBecomes(200, 401, ({ headers }) => headers.authorization !== undefined),
  },
  {
    id: 'large-configuration-loses-pairs',
    title: 'Of a configuration of more than 16 KiB only the first sixteen pairs are delivered.',
    violates: ['download.holds-the-pairs'],
    operations: ['set-configuration'],
    alter: requestBecomes((request) =>
      request.body.length > 16_384
        ? withJson(request, Object.fromEntries(Object.entries(objectOf(request)).slice(0, 16)))
        : request,
    ),
  },
];
