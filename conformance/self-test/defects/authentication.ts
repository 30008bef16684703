/** Defects in authentication: first contact, decisions, fields of the request, the token. */
import { objectOf, withHeaders, withJson, withStatus } from '../alter.ts';
import { bodyBecomes, responseBecomes, statusBecomes } from '../alterations.ts';
import type { Alteration, Defect } from '../defect.ts';
import { requestFor } from '../requests.ts';
import { signedRequest } from '../signed-requests.ts';
import {
  authenticationRequestDefects,
  isObject,
  isRightlySigned,
} from './authentication-request.ts';

const operations = ['post-auth-request'] as const;
const DAY_SECONDS = 86_400;

const flow: readonly Defect[] = [
  {
    id: 'first-contact-is-accepted',
    title: 'An unknown device is accepted at its first request.',
    violates: [
      'auth.first-contact-is-401',
      'auth.undecided-is-401',
      'auth.new-key-waits',
      'auth.decommissioned-is-unknown',
      'auth.one-identity-one-device',
      'auth.decision-stays',
    ],
    operations,
    alter: acceptsUndecided,
  },
  {
    id: 'first-contact-is-403',
    title: 'An unknown device is answered with 403.',
    violates: [
      'auth.first-contact-is-401',
      'auth.undecided-is-401',
      'auth.new-key-waits',
      'auth.decommissioned-is-unknown',
    ],
    operations,
    alter: statusBecomes(401, 403, isRightlySigned),
  },
  {
    id: 'identity-is-shown-in-part',
    title: 'Users see only the serial number of the identity of a device.',
    violates: ['auth.first-contact-is-recorded'],
    operations: ['list-devices'],
    alter: bodyBecomes((list) =>
      Array.isArray(list)
        ? list.map((device) => ({
            ...device,
            identity_data: { serial: device.identity_data?.serial },
          }))
        : list,
    ),
  },
  {
    id: 'external-id-replaces-the-decision',
    title: 'A device that names an external_id is accepted without the decision of a user.',
    violates: ['auth.undecided-is-401', 'auth.first-contact-is-401'],
    operations,
    alter: statusBecomes(401, 200, (request) => {
      const isNamed = typeof objectOf(request).external_id === 'string';
      return isNamed && isRightlySigned(request);
    }),
  },
  {
    id: 'second-request-is-403',
    title: 'A device that authenticates again before a decision is answered with 403.',
    violates: [
      'auth.undecided-is-401',
      'auth.decommissioned-is-unknown',
      'auth.first-contact-is-401',
    ],
    operations,
    alter: () => {
      const seenValues = new Set<string>();
      return {
        response: (response, { body }) => {
          if (response.status !== 401) return response;
          const isAgain = seenValues.has(body.toString());
          seenValues.add(body.toString());
          return isAgain ? withStatus(response, 403) : response;
        },
      };
    },
  },
  {
    id: 'acceptance-comes-too-late',
    title: 'A device that was refused once is always refused, even after a user accepts it.',
    violates: ['auth.accepted-gets-token', 'auth.decision-stays', 'auth.refused-changes-nothing'],
    operations,
    alter: () => {
      const refusedIdentities = new Set<unknown>();
      return {
        response: (response, request) => {
          const { id_data: identity } = objectOf(request);
          if (response.status === 401) refusedIdentities.add(identity);
          const isLate = response.status === 200 && refusedIdentities.has(identity);
          return isLate ? withStatus(response, 401) : response;
        },
      };
    },
  },
  {
    id: 'rejection-accepts',
    title: 'A pending device that a user rejects is accepted.',
    violates: ['auth.rejected-is-refused', 'audit.device-rejected'],
    operations: ['set-auth-set-status', 'post-auth-request'],
    alter: rejectionAccepts,
  },
  {
    id: 'preauthorized-device-waits',
    title: 'A pre-authorized device with a P-256 key is refused at its first request.',
    violates: ['auth.preauthorized-gets-token', 'auth.ecdsa', 'auth.body-is-what-is-signed'],
    operations,
    alter: () => {
      const seenValues = new Set<unknown>();
      return {
        response: (response, request) => {
          const { id_data: identity } = objectOf(request);
          const isFirst = signedRequest(request)?.keyType === 'ec' && !seenValues.has(identity);
          seenValues.add(identity);
          return isFirst && response.status === 200 ? withStatus(response, 401) : response;
        },
      };
    },
  },
  {
    id: 'authorization-header-is-judged',
    title: 'An authentication request with an Authorization header is refused.',
    violates: ['auth.authorization-is-ignored'],
    operations,
    alter: statusBecomes(200, 401, ({ headers }) => headers.authorization !== undefined),
  },
  {
    id: 'new-key-is-403',
    title: 'A known identity with another key is answered with 403.',
    violates: ['auth.new-key-waits'],
    operations,
    alter: () => {
      const keys = new Map<unknown, unknown>();
      return {
        response: (response, request) => {
          const { id_data: identity, pubkey } = objectOf(request);
          if (response.status === 200) keys.set(identity, pubkey);
          const firstKey = keys.get(identity);
          const isNew = isRightlySigned(request) && firstKey !== undefined && firstKey !== pubkey;
          return isNew && response.status === 401 ? withStatus(response, 403) : response;
        },
      };
    },
  },
  {
    id: 'malformed-body-is-401',
    title: 'A body that is not a JSON object is answered with 401.',
    violates: ['auth.malformed-is-400', 'service.request-bodies-are-json'],
    operations,
    alter: statusBecomes(400, 401, (request) => request.body.length > 0 && !isObject(request)),
  },
  {
    id: 'missing-body-is-401',
    title: 'A request without a body is answered with 401.',
    violates: ['auth.body-is-required'],
    operations,
    alter: statusBecomes(400, 401, ({ body }) => body.length === 0),
  },
];

const tokens: readonly Defect[] = [
  {
    id: 'token-is-quoted',
    title: 'The token is in quotes, as JSON.',
    violates: ['auth.token-is-plain-text'],
    operations,
    alter: responseBecomes((response) =>
      response.status === 200
        ? { ...response, body: Buffer.from(JSON.stringify(response.body.toString())) }
        : response,
    ),
  },
  {
    id: 'token-is-opaque',
    title: 'The token is an opaque string without claims.',
    violates: ['auth.token-is-a-jwt'],
    operations: 'all',
    alter: () => encodedTokens((token) => Buffer.from(token).toString('hex')),
  },
  {
    id: 'token-lasts-a-day',
    title: 'The token of a device expires after a day, by its claims.',
    violates: ['tokens.device-token-lasts-a-week', 'tokens.end-on-time'],
    operations: 'all',
    alter: () => claimsBecome(({ iat }) => ({ exp: iat + DAY_SECONDS })),
  },
  {
    id: 'token-is-issued-in-the-past',
    title: 'The token of a device is issued a day ago, by its claims, and so expires too early.',
    violates: ['tokens.device-token-lasts-a-week', 'tokens.end-on-time'],
    operations: 'all',
    alter: () =>
      claimsBecome(({ iat, exp }) => ({ iat: iat - DAY_SECONDS, exp: exp - DAY_SECONDS })),
  },
  {
    id: 'renewed-token-is-of-no-use',
    title: 'The second token of a device gives no access.',
    violates: ['tokens.renewal', 'tokens.expired-is-renewed', 'auth.accepted-gets-token'],
    operations,
    alter: () => {
      const seenValues = new Set<unknown>();
      return {
        response: (response, request) => {
          const { id_data: identity } = objectOf(request);
          const isSecond = response.status === 200 && seenValues.has(identity);
          if (response.status === 200) seenValues.add(identity);
          const body = Buffer.from(
            `${response.body}`.replace(/.$/, (lastCharacter) =>
              lastCharacter === 'A' ? 'B' : 'A',
            ),
          );
          return isSecond
            ? { ...response, body: Buffer.concat([Buffer.from('e30.'), body.subarray(4)]) }
            : response;
        },
      };
    },
  },
];

/** Spec: States and transitions; AuthRequest; Device authentication */
export const authenticationDefects: readonly Defect[] = [
  ...flow,
  ...authenticationRequestDefects,
  ...tokens,
];

interface TokenTimes {
  readonly iat: number;
  readonly exp: number;
}

/** Changes times in the claims of the tokens that devices see. */
function claimsBecome(change: (times: TokenTimes) => Partial<TokenTimes>): Alteration {
  return encodedTokens((token) => {
    const [header, claims = '', signature] = token.split('.');
    const tokenTimes: TokenTimes = JSON.parse(Buffer.from(claims, 'base64url').toString());
    const changedClaims = JSON.stringify({ ...tokenTimes, ...change(tokenTimes) });
    return `${header}.${Buffer.from(changedClaims).toString('base64url')}.${signature}`;
  });
}

/** Replaces the tokens that devices receive by other texts, and maps them back in requests. */
function encodedTokens(encode: (token: string) => string): Alteration {
  const originals = new Map<string, string>();
  return {
    request: (request) => {
      const { authorization, cookie } = request.headers;
      const [scheme = '', credential = ''] = authorization?.split(' ') ?? [];
      const token =
        authorization === `${scheme} ${credential}` ? originals.get(credential) : undefined;
      const cookies = cookie?.replace(/[\w.-]+/g, (text) => originals.get(text) ?? text);
      const shownToTarget = {
        ...(token !== undefined && { authorization: `${scheme} ${token}` }),
        ...(cookies !== undefined && { cookie: cookies }),
      };
      return withHeaders(request, shownToTarget);
    },
    response: (response, { operation }) => {
      if (operation !== 'post-auth-request' || response.status !== 200) return response;
      const token = response.body.toString();
      originals.set(encode(token), token);
      return { ...response, body: Buffer.from(encode(token)) };
    },
  };
}

/** Turns the rejection of a device that never had a token into its acceptance. */
function rejectionAccepts(): Alteration {
  const tokens: string[] = [];
  return {
    request: (request) => {
      const { id = '' } = request.parameters;
      const hadToken = tokens.some((claims) => claims.includes(id));
      const isRejection = objectOf(request).status === 'rejected' && !hadToken;
      return isRejection ? withJson(request, { status: 'accepted' }) : request;
    },
    response: (response, { operation }) => {
      const [, claims = ''] = response.body.toString().split('.');
      const isToken = operation === 'post-auth-request' && response.status === 200;
      if (isToken) tokens.push(Buffer.from(claims, 'base64url').toString());
      return response;
    },
  };
}

/** Accepts pending sets as a user, and repeats the request. */
function acceptsUndecided(): Alteration {
  return {
    response: async (response, request, send) => {
      const { id_data: identity, pubkey } = objectOf(request);
      if (response.status !== 401 || typeof identity !== 'string') return response;
      const token = send.userToken;
      const query = { status: 'pending', per_page: '500' };
      const pendingDevices = await send(requestFor('list-devices', { token, query }));
      for (const device of JSON.parse(pendingDevices.body.toString())) {
        for (const set of device.auth_sets) {
          if (set.pubkey.trim() !== String(pubkey).trim() || set.status !== 'pending') continue;
          const parameters = { id: device.id, aid: set.id };
          const json = { status: 'accepted' };
          await send(requestFor('set-auth-set-status', { token, parameters, json }));
          return send(request);
        }
      }
      return response;
    },
  };
}
