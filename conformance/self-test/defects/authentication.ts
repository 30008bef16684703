/** Planted defects of the way in: first contact, decisions, fields of the request, the token. */
import { jsonOf, objectOf, withHeaders, withJson, withStatus } from '../alter.ts';
import type { Defect, Plant, ProxiedRequest } from '../defect.ts';
import { answerBecomes, bodyBecomes, statusBecomes } from '../plants.ts';
import { requestFor } from '../requests.ts';
import { keyOf, signatureText, signedRequest, verifies } from '../signed-requests.ts';

const operations = ['post-auth-request'] as const;

const flow: readonly Defect[] = [
  {
    id: 'first-contact-is-accepted',
    title: 'A device that nobody knows is accepted at its first request.',
    breaks: [
      'auth.first-contact-is-401',
      'auth.undecided-is-401',
      'auth.new-key-waits',
      'auth.decommissioned-is-unknown',
      'auth.one-identity-one-device',
    ],
    operations,
    plant: acceptsUndecided,
  },
  {
    id: 'first-contact-is-403',
    title: 'A device that nobody knows is answered 403.',
    breaks: [
      'auth.first-contact-is-401',
      'auth.undecided-is-401',
      'auth.new-key-waits',
      'auth.decommissioned-is-unknown',
    ],
    operations,
    plant: statusBecomes(401, 403, isRightlySigned),
  },
  {
    id: 'identity-is-shown-in-part',
    title: 'Users are shown the serial number of a device and nothing else of its identity.',
    breaks: ['auth.first-contact-is-recorded'],
    operations: ['list-devices'],
    plant: bodyBecomes((list) =>
      Array.isArray(list)
        ? list.map((device) => ({
            ...device,
            identity_data: { serial: device.identity_data?.serial },
          }))
        : list,
    ),
  },
  {
    id: 'second-request-is-403',
    title: 'A device that asks again before a decision is answered 403.',
    breaks: [
      'auth.undecided-is-401',
      'auth.decommissioned-is-unknown',
      'auth.first-contact-is-401',
    ],
    operations,
    plant: () => {
      const seen = new Set<string>();
      return {
        answer: (answer, { body }) => {
          if (answer.status !== 401) return answer;
          const isAgain = seen.has(body.toString());
          seen.add(body.toString());
          return isAgain ? withStatus(answer, 403) : answer;
        },
      };
    },
  },
  {
    id: 'acceptance-comes-too-late',
    title: 'A device that was refused once is refused for ever, though a user accepts it.',
    breaks: ['auth.accepted-gets-token'],
    operations,
    plant: () => {
      const refused = new Set<unknown>();
      return {
        answer: (answer, request) => {
          const { id_data: identity } = objectOf(request);
          if (answer.status === 401) refused.add(identity);
          const isLate = answer.status === 200 && refused.has(identity);
          return isLate ? withStatus(answer, 401) : answer;
        },
      };
    },
  },
  {
    id: 'rejection-accepts',
    title: 'A device that waits and is rejected by a user is accepted.',
    breaks: ['auth.rejected-is-refused'],
    operations: ['set-auth-set-status', 'post-auth-request'],
    plant: rejectionAccepts,
  },
  {
    id: 'preauthorized-device-waits',
    title: 'A pre-authorized device with a key on P-256 is refused at its first request.',
    breaks: ['auth.preauthorized-gets-token', 'auth.ecdsa', 'auth.body-is-what-is-signed'],
    operations,
    plant: () => {
      const seen = new Set<unknown>();
      return {
        answer: (answer, request) => {
          const { id_data: identity } = objectOf(request);
          const isFirst = signedRequest(request)?.keyType === 'ec' && !seen.has(identity);
          seen.add(identity);
          return isFirst && answer.status === 200 ? withStatus(answer, 401) : answer;
        },
      };
    },
  },
  {
    id: 'authorization-header-is-judged',
    title: 'An authentication request with an Authorization header is refused.',
    breaks: ['auth.authorization-is-ignored'],
    operations,
    plant: statusBecomes(200, 401, ({ headers }) => headers.authorization !== undefined),
  },
  {
    id: 'new-key-is-403',
    title: 'A known identity that comes with another key is answered 403.',
    breaks: ['auth.new-key-waits'],
    operations,
    plant: () => {
      const keys = new Map<unknown, unknown>();
      return {
        answer: (answer, request) => {
          const { id_data: identity, pubkey } = objectOf(request);
          if (answer.status === 200) keys.set(identity, pubkey);
          const known = keys.get(identity);
          const isNew = isRightlySigned(request) && known !== undefined && known !== pubkey;
          return isNew && answer.status === 401 ? withStatus(answer, 403) : answer;
        },
      };
    },
  },
  {
    id: 'malformed-body-is-401',
    title: 'A body that is no JSON object is answered 401.',
    breaks: ['auth.malformed-is-400', 'service.request-bodies-are-json'],
    operations,
    plant: statusBecomes(400, 401, (request) => request.body.length > 0 && !isObject(request)),
  },
  {
    id: 'missing-body-is-401',
    title: 'A request without a body is answered 401.',
    breaks: ['auth.body-is-required'],
    operations,
    plant: statusBecomes(400, 401, ({ body }) => body.length === 0),
  },
];

/** What is wrong with one field only: the others are as they should be. */
function isOnlyFault(field: string, isFault: (value: unknown) => boolean) {
  return (request: ProxiedRequest): boolean => {
    const { id_data: identity, pubkey } = objectOf(request);
    const others = { id_data: isJsonText(identity), pubkey: isKey(pubkey) };
    const othersAreGood = Object.entries(others).every(([name, good]) => name === field || good);
    const isSigned = signatureText(request) !== undefined;
    return isSigned && isObject(request) && othersAreGood && isFault(objectOf(request)[field]);
  };
}

function isJsonText(value: unknown): boolean {
  return (
    typeof value === 'string' && jsonOf({ headers: {}, body: Buffer.from(value) }) !== undefined
  );
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('CERT') && keyOf(value) !== undefined;
}

function isOtherKind(value: unknown): boolean {
  return value !== undefined && typeof value !== 'string';
}

const fields: readonly Defect[] = [
  {
    id: 'missing-id-data-is-401',
    title: 'A request without id_data is answered 401.',
    breaks: ['auth.id-data-is-required'],
    operations,
    plant: statusBecomes(
      400,
      401,
      isOnlyFault('id_data', (value) => value === undefined),
    ),
  },
  {
    id: 'id-data-of-another-kind-is-401',
    title: 'An id_data that is no text is answered 401.',
    breaks: ['auth.id-data-is-text'],
    operations,
    plant: statusBecomes(400, 401, isOnlyFault('id_data', isOtherKind)),
  },
  {
    id: 'id-data-may-be-any-text',
    title: 'An id_data that is no JSON is answered 401, as a new device is.',
    breaks: ['auth.id-data-is-json-text'],
    operations,
    plant: statusBecomes(
      400,
      401,
      isOnlyFault('id_data', (value) => typeof value === 'string' && !isJsonText(value)),
    ),
  },
  {
    id: 'identity-must-be-flat',
    title: 'An identity that holds an object is answered 400.',
    breaks: ['auth.identity-is-free'],
    operations,
    plant: statusBecomes(401, 400, (request) =>
      String(objectOf(request).id_data).includes('"position":{'),
    ),
  },
  {
    id: 'missing-pubkey-is-401',
    title: 'A request without pubkey is answered 401.',
    breaks: ['auth.pubkey-is-required'],
    operations,
    plant: statusBecomes(
      400,
      401,
      isOnlyFault('pubkey', (value) => value === undefined),
    ),
  },
  {
    id: 'pubkey-of-another-kind-is-401',
    title: 'A pubkey that is no text is answered 401.',
    breaks: ['auth.pubkey-is-text'],
    operations,
    plant: statusBecomes(400, 401, isOnlyFault('pubkey', isOtherKind)),
  },
  {
    id: 'pubkey-may-be-any-text',
    title: 'A pubkey that is no PEM is answered 401.',
    breaks: ['auth.pubkey-is-pem'],
    operations,
    plant: statusBecomes(
      400,
      401,
      isOnlyFault('pubkey', (value) => typeof value === 'string' && !isKey(value)),
    ),
  },
  {
    id: 'tenant-token-of-another-kind-is-401',
    title: 'A tenant_token that is no text is answered 401.',
    breaks: ['auth.tenant-token-is-text'],
    operations,
    plant: statusBecomes(400, 401, isOnlyFault('tenant_token', isOtherKind)),
  },
  {
    id: 'short-tenant-token-is-400',
    title: 'A tenant_token of a few letters is answered 400.',
    breaks: ['auth.tenant-token-may-be-there'],
    operations,
    plant: statusBecomes(401, 400, (request) => objectOf(request).tenant_token === 'token'),
  },
  {
    id: 'external-id-of-another-kind-is-401',
    title: 'An external_id that is no text is answered 401.',
    breaks: ['auth.external-id-is-text'],
    operations,
    plant: statusBecomes(400, 401, isOnlyFault('external_id', isOtherKind)),
  },
  {
    id: 'external-id-is-400',
    title: 'A request with an external_id is answered 400.',
    breaks: ['auth.external-id-may-be-there'],
    operations,
    plant: statusBecomes(401, 400, (request) => typeof objectOf(request).external_id === 'string'),
  },
  {
    id: 'tenant-token-is-asked-for',
    title: 'A device that is not let in yet and sends no tenant_token is answered 400.',
    breaks: [
      'auth.optional-fields',
      'auth.first-contact-is-401',
      'auth.undecided-is-401',
      'auth.identity-is-free',
      'auth.external-id-may-be-there',
      'auth.new-key-waits',
    ],
    operations,
    plant: statusBecomes(
      401,
      400,
      (request) => isRightlySigned(request) && objectOf(request).tenant_token === undefined,
    ),
  },
  {
    id: 'unknown-field-is-400',
    title: 'A field that the server does not know makes a request malformed.',
    breaks: ['auth.unknown-fields'],
    operations,
    plant: statusBecomes(200, 400, (request) => 'tier' in objectOf(request)),
  },
  {
    id: 'member-order-makes-an-identity',
    title: 'An identity whose members come in another order is another device.',
    breaks: ['auth.identity-is-the-content'],
    operations,
    plant: statusBecomes(200, 401, (request) =>
      /^\{"serial"/.test(String(objectOf(request).id_data)),
    ),
  },
  {
    id: 'pem-line-ends-make-a-key',
    title: 'A key with line ends of Windows is another key.',
    breaks: ['auth.same-key'],
    operations,
    plant: statusBecomes(200, 401, (request) => String(objectOf(request).pubkey).includes('\r')),
  },
];

const tokens: readonly Defect[] = [
  {
    id: 'token-is-quoted',
    title: 'The token stands in quotes, as JSON.',
    breaks: ['auth.token-is-plain-text'],
    operations,
    plant: answerBecomes((answer) =>
      answer.status === 200
        ? { ...answer, body: Buffer.from(JSON.stringify(answer.body.toString())) }
        : answer,
    ),
  },
  {
    id: 'token-is-opaque',
    title: 'The token is a text that says nothing of itself.',
    breaks: ['auth.token-is-a-jwt'],
    operations: 'all',
    plant: () => tokensInDisguise((token) => Buffer.from(token).toString('hex')),
  },
  {
    id: 'token-lasts-a-day',
    title: 'The token of a device says that it expires after a day.',
    breaks: ['tokens.device-token-lasts-a-week'],
    operations: 'all',
    plant: () =>
      tokensInDisguise((token) => {
        const [header, claims = '', signature] = token.split('.');
        const told: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString());
        const { iat } = told as { readonly iat: number };
        const changed = JSON.stringify({ ...(told as object), exp: iat + 86_400 });
        return `${header}.${Buffer.from(changed).toString('base64url')}.${signature}`;
      }),
  },
  {
    id: 'renewed-token-is-of-no-use',
    title: 'The second token of a device opens nothing.',
    breaks: ['tokens.renewal', 'tokens.expired-is-renewed'],
    operations,
    plant: () => {
      const seen = new Set<unknown>();
      return {
        answer: (answer, request) => {
          const { id_data: identity } = objectOf(request);
          const isSecond = answer.status === 200 && seen.has(identity);
          if (answer.status === 200) seen.add(identity);
          const body = Buffer.from(
            `${answer.body}`.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
          );
          return isSecond
            ? { ...answer, body: Buffer.concat([Buffer.from('e30.'), body.subarray(4)]) }
            : answer;
        },
      };
    },
  },
];

/** Spec: States and transitions; AuthRequest; Device authentication */
export const authenticationDefects: readonly Defect[] = [...flow, ...fields, ...tokens];

function isObject(request: ProxiedRequest): boolean {
  const value = jsonOf(request);
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isRightlySigned(request: ProxiedRequest): boolean {
  const signed = signedRequest(request);
  return signed !== undefined && verifies(signed, Buffer.from(signed.text, 'base64'));
}

/** Devices get other texts than the tokens that the target gave, which they stand for. */
function tokensInDisguise(disguise: (token: string) => string): Plant {
  const behind = new Map<string, string>();
  return {
    request: (request) => {
      const { authorization, cookie } = request.headers;
      const [scheme = '', shown = ''] = authorization?.split(' ') ?? [];
      const token = authorization === `${scheme} ${shown}` ? behind.get(shown) : undefined;
      const crumbs = cookie?.replace(/[\w.-]+/g, (text) => behind.get(text) ?? text);
      const shownToTarget = {
        ...(token !== undefined && { authorization: `${scheme} ${token}` }),
        ...(crumbs !== undefined && { cookie: crumbs }),
      };
      return withHeaders(request, shownToTarget);
    },
    answer: (answer, { operation }) => {
      if (operation !== 'post-auth-request' || answer.status !== 200) return answer;
      const token = answer.body.toString();
      behind.set(disguise(token), token);
      return { ...answer, body: Buffer.from(disguise(token)) };
    },
  };
}

/** Turns the rejection of a device that never had a token into its acceptance. */
function rejectionAccepts(): Plant {
  const tokens: string[] = [];
  return {
    request: (request) => {
      const { id = '' } = request.parameters;
      const hadToken = tokens.some((claims) => claims.includes(id));
      const isRejection = objectOf(request).status === 'rejected' && !hadToken;
      return isRejection ? withJson(request, { status: 'accepted' }) : request;
    },
    answer: (answer, { operation }) => {
      const [, claims = ''] = answer.body.toString().split('.');
      const isToken = operation === 'post-auth-request' && answer.status === 200;
      if (isToken) tokens.push(Buffer.from(claims, 'base64url').toString());
      return answer;
    },
  };
}

/** Accepts, as a user, whatever waits, and asks again. */
function acceptsUndecided(): Plant {
  return {
    answer: async (answer, request, ask) => {
      const { id_data: identity, pubkey } = objectOf(request);
      if (answer.status !== 401 || typeof identity !== 'string') return answer;
      const token = ask.userToken;
      const query = { status: 'pending', per_page: '500' };
      const waiting = await ask(requestFor('list-devices', { token, query }));
      for (const device of JSON.parse(waiting.body.toString())) {
        for (const set of device.auth_sets) {
          if (set.pubkey.trim() !== String(pubkey).trim() || set.status !== 'pending') continue;
          const parameters = { id: device.id, aid: set.id };
          const json = { status: 'accepted' };
          await ask(requestFor('set-auth-set-status', { token, parameters, json }));
          return ask(request);
        }
      }
      return answer;
    },
  };
}
