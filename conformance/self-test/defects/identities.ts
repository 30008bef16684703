/** Defects in how a server distinguishes devices: by identity, key, token, tenant and rate. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { isMap, membersOf } from '../../target/json-members.ts';
import { objectOf, ownResponse, tokenOf, withJson, withStatus } from '../alter.ts';
import { requestBecomes, statusBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';
import { isRightlySigned } from './authentication-request.ts';

const request = ['post-auth-request'] as const;

/** Database columns of strings are this long by default. */
const COLUMN_CHARACTERS = 255;
const LONG_BODY_BYTES = 16_384;

function identityIn(request: ProxiedRequest): string {
  return String(objectOf(request).id_data ?? '');
}

/** Returns the JSON text with the members of every object sorted and each value changed. */
function changedText(text: string, change: (value: unknown) => unknown): string {
  try {
    return JSON.stringify(JSON.parse(text), (_, value: unknown) => {
      const changedValue = change(value);
      return isMap(changedValue)
        ? Object.fromEntries(Object.entries(changedValue).sort())
        : changedValue;
    });
  } catch {
    return text;
  }
}

const unauthorized = ownResponse(401, { error: 'dev auth: unauthorized', request_id: 'defect' });

/**
 * Grants a device the token of another one with its key, if `normalize` makes their identities
 * equal.
 */
function comparesAs(normalize: (text: string) => string): () => Alteration {
  return () => {
    const grants = new Map<string, { readonly own: string; readonly response: ProxiedResponse }>();
    return {
      response: (response, request) => {
        const identityText = changedText(identityIn(request), (value) => value);
        const device = `${normalize(identityText)} ${String(objectOf(request).pubkey)}`;
        if (response.status === 200) grants.set(device, { own: identityText, response });
        const grant = grants.get(device);
        const isOther =
          response.status === 401 && grant !== undefined && grant.own !== identityText;
        return isOther && isRightlySigned(request) ? grant.response : response;
      },
    };
  };
}

function byValues(change: (value: unknown) => unknown): () => Alteration {
  return comparesAs((text) => changedText(text, change));
}

/** Refuses a device that writes the objects within its identity otherwise than the first time. */
function ordersMembersWithin(): Alteration {
  const identityByKey = new Map<unknown, string>();
  return {
    response: (response, request) => {
      if (response.status !== 200) return response;
      const { pubkey } = objectOf(request);
      const { place } = membersOf(JSON.parse(identityIn(request)));
      const placeText = JSON.stringify(place ?? null);
      const firstText = identityByKey.get(pubkey) ?? placeText;
      identityByKey.set(pubkey, firstText);
      return firstText === placeText ? response : unauthorized;
    },
  };
}

/** Answers a first contact that would be recorded, if another tenant knows the identity. */
function knowsOneTenant(): Alteration {
  const tenants = new Map<string, unknown>();
  return {
    request: (request) => {
      const identity = identityIn(request);
      const { tenant_token: tenant } = objectOf(request);
      if (typeof tenant !== 'string' || !isRightlySigned(request)) return request;
      const firstTenant = tenants.has(identity) ? tenants.get(identity) : tenant;
      tenants.set(identity, firstTenant);
      return firstTenant === tenant ? request : unauthorized;
    },
  };
}

/** Refuses every device of a tenant after one of them has sent too many requests. */
function limitsTogether(): Alteration {
  const limitedTokens = new Map<unknown, string>();
  return {
    response: (response, request) => {
      const token = tokenOf(request);
      const tenant = claimIn(token, 'svc.tenant');
      if (response.status === 429) limitedTokens.set(tenant, token);
      const limitedToken = limitedTokens.get(tenant);
      if (response.status === 429 || limitedToken === undefined || limitedToken === token)
        return response;
      return ownResponse(429, { error: 'slow down', request_id: 'defect' });
    },
  };
}

export function claimIn(token: string, name: string): unknown {
  try {
    const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
    return membersOf(JSON.parse(claims))[name];
  } catch {
    return undefined;
  }
}

function isCookie({ headers }: ProxiedRequest): boolean {
  return headers.authorization === undefined && headers.cookie !== undefined;
}

/** Forgets pre-authorized keys that are not written as this server writes them. */
function forgetsForeignKeys(): Alteration {
  const foreign = new Set<unknown>();
  return {
    request: (request) => {
      const { pubkey } = objectOf(request);
      const pubkeyText = String(pubkey);
      const key = pubkeyText.replaceAll(/\s/g, '');
      if (request.operation === 'preauthorize-device') {
        if (pubkeyText.includes('\r')) foreign.add(key);
        return request;
      }
      return foreign.has(key) && isRightlySigned(request) ? unauthorized : request;
    },
  };
}

const another: readonly [RequirementId, ...RequirementId[]] = [
  'auth.first-contact-is-401',
  'auth.identity-is-the-content',
];

/** Spec: States and transitions; Device authentication; Authentication */
function forgetsDevicesThatPolled(): Alteration {
  const polled = new Set<unknown>();
  return {
    request: (request) => {
      const { devices, ...others } = objectOf(request);
      if (!Array.isArray(devices)) return request;
      const reachedDevices = devices.filter((id, index) => index === 0 || !polled.has(id));
      return withJson(request, { ...others, devices: reachedDevices });
    },
    response: (response, request) => {
      const hadNothing = request.operation === 'get-next-deployment' && response.status === 204;
      if (hadNothing) polled.add(claimIn(tokenOf(request), 'sub'));
      return response;
    },
  };
}

export const identityDefects: readonly Defect[] = [
  {
    id: 'identities-are-cut-to-a-column',
    title: `Identities are compared by their first ${COLUMN_CHARACTERS} characters.`,
    violates: another,
    operations: request,
    alter: comparesAs((text) => text.slice(0, COLUMN_CHARACTERS)),
  },
  {
    id: 'arrays-in-identities-have-no-order',
    title:
      'Identities whose arrays have the same elements in another order are those of one device.',
    violates: another,
    operations: request,
    alter: byValues((value) => (Array.isArray(value) ? value.toSorted() : value)),
  },
  {
    id: 'numbers-in-identities-are-numerals',
    title: 'A number in an identity equals the string of its digits.',
    violates: another,
    operations: request,
    alter: byValues((value) => (typeof value === 'number' ? String(value) : value)),
  },
  {
    id: 'booleans-in-identities-are-strings',
    title: 'A boolean or null in an identity equals the string of its letters.',
    violates: another,
    operations: request,
    alter: byValues((value) =>
      typeof value === 'boolean' || value === null ? String(value) : value,
    ),
  },
  {
    id: 'empty-members-do-not-count-in-identities',
    title: 'Identities that differ in members that are null or empty are those of one device.',
    violates: another,
    operations: request,
    alter: byValues((value) => (value === null || value === '' ? undefined : value)),
  },
  {
    id: 'objects-within-identities-do-not-count',
    title: 'Identities that differ in the members of an object within are those of one device.',
    violates: another,
    operations: request,
    alter: byValues((value) => (isMap(value) && 'rack' in value ? {} : value)),
  },
  {
    id: 'members-within-identities-have-an-order',
    title:
      'An identity whose objects within have another order of members is that of another device.',
    violates: ['auth.identity-is-the-content'],
    operations: request,
    alter: ordersMembersWithin,
  },
  {
    id: 'long-body-is-authenticated-part',
    title: 'Only the beginning of a long body is compared with its signature.',
    violates: ['auth.body-is-what-is-signed'],
    operations: request,
    alter: statusBecomes(200, 401, ({ body }) => body.length > LONG_BODY_BYTES),
  },
  {
    id: 'pre-authorized-key-is-kept-as-written',
    title: 'A pre-authorized key with Windows line ends is not the key that the device sends.',
    violates: ['auth.preauthorized-gets-token', 'auth.same-key'],
    operations: [...request, 'preauthorize-device'],
    alter: forgetsForeignKeys,
  },
  {
    id: 'identity-of-another-tenant-is-refused',
    title: 'An identity that another tenant knows is refused, and not recorded.',
    violates: ['auth.first-contact-is-recorded', 'auth.accepted-gets-token'],
    operations: request,
    alter: knowsOneTenant,
  },
  {
    id: 'devices-of-a-tenant-share-a-rate-limit',
    title: 'A device is answered with 429 for the requests of another device of its tenant.',
    violates: ['errors.limit-is-of-one-caller'],
    operations: ['get-next-deployment'],
    alter: limitsTogether,
  },
  {
    id: 'refused-cookie-is-not-401',
    title: 'A token that is refused is answered with 400 when it comes as a cookie.',
    violates: [
      'tokens.invalid-is-401',
      'tokens.kinds-are-apart',
      'tokens.end-with-acceptance',
      'tokens.end-with-device',
      'tokens.expired-is-refused',
    ],
    operations: ['connect'],
    alter: () => ({
      response: (response, request) =>
        response.status === 401 &&
        isCookie(request) &&
        (request.headers.cookie ?? '').startsWith('JWT=')
          ? withStatus(response, 400)
          : response,
    }),
  },
  {
    id: 'only-first-devices-of-a-deployment',
    title: 'A deployment of more than a hundred devices reaches the first hundred.',
    violates: ['next.get-pending-is-200'],
    operations: ['create-deployment'],
    alter: requestBecomes((request) => {
      const { devices, ...others } = objectOf(request);
      if (!Array.isArray(devices) || devices.length <= 100) return request;
      const body = JSON.stringify({ ...others, devices: devices.slice(0, 100) });
      return { ...request, body: Buffer.from(body) };
    }),
  },
  {
    id: 'devices-that-polled-before-are-forgotten',
    title: 'Of the devices that polled in vain, a new deployment reaches only the first.',
    violates: ['next.get-pending-is-200'],
    operations: ['create-deployment', 'get-next-deployment'],
    alter: forgetsDevicesThatPolled,
  },
];
