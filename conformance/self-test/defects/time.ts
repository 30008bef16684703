/** Defects in expiry; they use the time that the target reports. */
import { changedAt, changedJson, ownResponse, tokenOf, withStatus } from '../alter.ts';
import { responseBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';

const DAY_MS = 86_400_000;
const expired = /expired/;

/** Returns the time of the response by the target's clock. */
function answeredMs({ headers }: ProxiedResponse): number {
  return Date.parse(headers.date ?? '');
}

/** Returns the time of issue in the token of a request. */
function issuedMs(request: ProxiedRequest): number {
  const claims = Buffer.from(tokenOf(request).split('.')[1] ?? '', 'base64url').toString();
  return Number(/"iat":(\d+)/.exec(claims)?.[1]) * 1000;
}

/** Changes the status of refusals caused by expiry. */
function expiryBecomes(
  status: number,
  appliesTo?: (request: ProxiedRequest) => boolean,
): () => Alteration {
  return responseBecomes((response) => {
    const isExpiry = response.status >= 400 && expired.test(response.body.toString());
    return isExpiry ? withStatus(response, status) : response;
  }, appliesTo);
}

/** Ends tokens some days before their week is over. */
function endsAfterDays(days: number): () => Alteration {
  return responseBecomes((response, request) => {
    const isOld = answeredMs(response) - issuedMs(request) > days * DAY_MS;
    return isOld && response.status < 300
      ? ownResponse(401, { error: 'the token ended' })
      : response;
  });
}

/** Refuses new tokens to a device that got its first one more than a week ago. */
function onceAndNeverAgain(): Alteration {
  const firstMs = new Map<string, number>();
  return {
    response: (response, { body }) => {
      if (response.status !== 200) return response;
      const device = body.toString();
      const nowMs = answeredMs(response);
      const since = firstMs.get(device) ?? nowMs;
      firstMs.set(device, since);
      return nowMs - since > 7 * DAY_MS
        ? ownResponse(401, { error: 'your time is over' })
        : response;
    },
  };
}

/** Grants a device the token that it got before, as long as that one is valid. */
function grantsTheEarlierToken(): Alteration {
  const earlierTokens = new Map<
    string,
    { readonly token: ProxiedResponse; readonly fromMs: number }
  >();
  return {
    response: (response, { body }) => {
      if (response.status !== 200) return response;
      const key = body.toString();
      const nowMs = answeredMs(response);
      const earlierToken = earlierTokens.get(key);
      const ageMs = earlierToken ? nowMs - earlierToken.fromMs : 0;
      // A younger one may have been revoked in the meantime.
      if (earlierToken && ageMs > DAY_MS && ageMs < 7 * DAY_MS) return earlierToken.token;
      earlierTokens.set(key, { token: response, fromMs: nowMs });
      return response;
    },
  };
}

/** Ends links at half their lifetime, counted from the first response that the proxy saw. */
function linkEndsEarly(status: number): () => Alteration {
  return () => {
    let seenMs = Number.POSITIVE_INFINITY;
    return {
      response: (response, { operation }) => {
        // A poll without an update has no link.
        if (response.status !== 200 && response.status !== 206) return response;
        const nowMs = answeredMs(response);
        seenMs = Math.min(seenMs, nowMs);
        return operation?.startsWith('download-') && nowMs - seenMs > HALF_LINK_MS
          ? ownResponse(status, { error: 'the link is over' })
          : response;
      },
    };
  };
}

/** Half of the shortest lifetime of the reference server's links. */
const HALF_LINK_MS = 300_000;

const polls = ['get-next-deployment', 'post-next-deployment', 'post-next-deployment-v2'] as const;

/** Spec: Authentication, rule 3; ArtifactLink; Device deployments v1 */
export const timeDefects: readonly Defect[] = [
  {
    id: 'token-outlives-its-week',
    title: 'An expired token still gives access to the next deployment.',
    violates: [
      'tokens.expired-is-refused',
      'tokens.device-token-lasts-a-week',
      'tokens.end-on-time',
    ],
    operations: polls,
    alter: expiryBecomes(204),
  },
  {
    id: 'expiry-is-checked-once',
    title: 'A token that was accepted once is accepted for ever.',
    violates: ['tokens.expired-is-refused'],
    operations: ['get-configuration', 'put-configuration'],
    alter: () => {
      const acceptedTokens = new Set<string>();
      return {
        response: (response, request) => {
          if (response.status < 300) acceptedTokens.add(tokenOf(request));
          const isExpiry = response.status >= 400 && expired.test(response.body.toString());
          return isExpiry && acceptedTokens.has(tokenOf(request))
            ? withStatus(response, 204)
            : response;
        },
      };
    },
  },
  {
    id: 'expired-token-reports-alerts',
    title: 'An expired token is still accepted for alerts.',
    violates: ['tokens.expired-is-refused'],
    operations: ['post-alerts'],
    alter: expiryBecomes(204),
  },
  {
    id: 'expired-user-token-opens-the-audit-log',
    title: 'An expired user token still gives access to the audit log.',
    violates: ['tokens.expired-is-refused', 'tokens.end-on-time'],
    operations: ['list-audit-logs', 'export-audit-logs'],
    alter: expiryBecomes(200),
  },
  {
    id: 'expired-token-is-403',
    title: 'An expired token is answered with 403 when a device reads its configuration.',
    violates: ['tokens.expired-is-refused'],
    operations: ['get-configuration'],
    alter: expiryBecomes(403),
  },
  {
    id: 'token-lasts-five-days',
    title: 'A token expires after five days.',
    violates: ['tokens.device-token-lasts-a-week'],
    operations: polls,
    alter: endsAfterDays(5),
  },
  {
    id: 'expired-token-is-never-renewed',
    title: 'A device that got its first token more than a week ago gets no more tokens.',
    violates: ['tokens.expired-is-renewed'],
    operations: ['post-auth-request'],
    alter: onceAndNeverAgain,
  },
  {
    id: 'token-is-granted-again-while-it-is-valid',
    title: 'A device whose token of some days ago is still valid is granted the same token again.',
    violates: ['tokens.device-token-lasts-a-week'],
    operations: ['post-auth-request'],
    alter: grantsTheEarlierToken,
  },
  {
    id: 'artifact-link-outlives-its-time',
    title: 'A link to an artifact file returns the file after its expiry time.',
    violates: ['link.expired', 'next.source-ends-at-expire'],
    operations: ['download-artifact'],
    alter: expiryBecomes(200),
  },
  {
    id: 'artifact-link-ends-early',
    title: 'A link to an artifact file expires long before its expiry time.',
    violates: [
      'link.valid-until-expire',
      'next.source-valid-until-expire',
      'next.source-gives-the-artifact',
    ],
    operations: ['get-artifact-link', 'download-artifact'],
    alter: linkEndsEarly(403),
  },
  {
    id: 'configuration-link-outlives-its-time',
    title: 'An expired link to a configuration is not refused.',
    violates: ['download.expired-is-403'],
    operations: ['download-configuration'],
    alter: expiryBecomes(200),
  },
  {
    id: 'expired-configuration-link-is-401',
    title: 'An expired link to a configuration is answered with 401.',
    violates: ['download.expired-is-403'],
    operations: ['download-configuration'],
    alter: expiryBecomes(401),
  },
  {
    id: 'configuration-link-ends-early',
    title: 'A link to a configuration expires long before the time in its query.',
    violates: ['download.valid-until-expire'],
    operations: ['download-configuration'],
    alter: linkEndsEarly(403),
  },
  {
    id: 'expired-link-serves-a-range',
    title: 'An expired link to an artifact file still serves parts of it.',
    violates: ['link.expired'],
    operations: ['download-artifact'],
    alter: expiryBecomes(206, ({ headers }) => headers.range !== undefined),
  },
  {
    id: 'expired-link-serves-under-a-condition',
    title: 'An expired link to an artifact file still serves requests with a condition.',
    violates: ['link.expired'],
    operations: ['download-artifact'],
    alter: expiryBecomes(200, ({ headers }) => 'if-none-match' in headers),
  },
  {
    id: 'expired-configuration-link-serves-a-range',
    title: 'An expired link to a configuration still serves parts of it.',
    violates: ['download.expired-is-403'],
    operations: ['download-configuration'],
    alter: expiryBecomes(206, ({ headers }) => headers.range !== undefined),
  },
  {
    id: 'source-outlives-its-time',
    title: 'The source of an update returns the artifact after its expiry time.',
    violates: ['next.source-ends-at-expire', 'link.expired'],
    operations: ['download-artifact'],
    alter: expiryBecomes(200),
  },
  {
    id: 'source-ends-early',
    title: 'The source of an update expires long before its expiry time.',
    violates: [
      'next.source-valid-until-expire',
      'next.source-gives-the-artifact',
      'link.valid-until-expire',
    ],
    operations: [...polls, 'download-artifact'],
    alter: linkEndsEarly(403),
  },
  {
    id: 'source-is-never-renewed',
    title: 'A device that polls again gets the source, and its expiry time, of the first response.',
    violates: ['next.source-expires-later', 'next.source-gives-the-artifact'],
    operations: polls,
    alter: () => {
      const earlierValues = new Map<string, unknown>();
      return {
        response: (response) => {
          if (response.status !== 200) return response;
          return changedJson(response, (body) => {
            const key = String(Object(body).id);
            return changedAt(body, 'artifact.source', (source) => {
              const firstSource = earlierValues.get(key) ?? source;
              earlierValues.set(key, firstSource);
              return firstSource;
            });
          });
        },
      };
    },
  },
];
