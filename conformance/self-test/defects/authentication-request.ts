/** Defects in the fields of an authentication request. */
import { jsonOf, objectOf } from '../alter.ts';
import { statusBecomes } from '../alterations.ts';
import type { Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';
import { keyOf, signatureText, signedRequest, verifies } from '../signed-requests.ts';

const operations = ['post-auth-request'] as const;

/** Matches requests in which only this field is wrong. */
function isOnlyProblem(field: string, isWrong: (value: unknown) => boolean) {
  return (request: ProxiedRequest): boolean => {
    const { id_data: identity, pubkey } = objectOf(request);
    const otherFields = { id_data: isJsonText(identity), pubkey: isKey(pubkey) };
    const areOthersValid = Object.entries(otherFields).every(
      ([name, isValid]) => name === field || isValid,
    );
    const isSigned = signatureText(request) !== undefined;
    return isSigned && isObject(request) && areOthersValid && isWrong(objectOf(request)[field]);
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

/** All defects of the fields. */
export const authenticationRequestDefects: readonly Defect[] = [
  {
    id: 'missing-id-data-is-401',
    title: 'A request without id_data is answered with 401.',
    violates: ['auth.id-data-is-required'],
    operations,
    alter: statusBecomes(
      400,
      401,
      isOnlyProblem('id_data', (value) => value === undefined),
    ),
  },
  {
    id: 'id-data-of-another-kind-is-401',
    title: 'An id_data that is not a string is answered with 401.',
    violates: ['auth.id-data-is-string'],
    operations,
    alter: statusBecomes(400, 401, isOnlyProblem('id_data', isOtherKind)),
  },
  {
    id: 'id-data-may-be-any-string',
    title: 'An id_data that is not JSON is answered with 401, like a new device.',
    violates: ['auth.id-data-is-json-text'],
    operations,
    alter: statusBecomes(
      400,
      401,
      isOnlyProblem('id_data', (value) => typeof value === 'string' && !isJsonText(value)),
    ),
  },
  {
    id: 'identity-must-be-flat',
    title: 'An identity that holds an object is answered with 400.',
    violates: ['auth.identity-is-free'],
    operations,
    alter: statusBecomes(401, 400, (request) =>
      String(objectOf(request).id_data).includes('"position":{'),
    ),
  },
  {
    id: 'missing-pubkey-is-401',
    title: 'A request without pubkey is answered with 401.',
    violates: ['auth.pubkey-is-required'],
    operations,
    alter: statusBecomes(
      400,
      401,
      isOnlyProblem('pubkey', (value) => value === undefined),
    ),
  },
  {
    id: 'pubkey-of-another-kind-is-401',
    title: 'A pubkey that is not a string is answered with 401.',
    violates: ['auth.pubkey-is-string'],
    operations,
    alter: statusBecomes(400, 401, isOnlyProblem('pubkey', isOtherKind)),
  },
  {
    id: 'pubkey-may-be-any-string',
    title: 'A pubkey that is not PEM is answered with 401.',
    violates: ['auth.pubkey-is-pem'],
    operations,
    alter: statusBecomes(
      400,
      401,
      isOnlyProblem('pubkey', (value) => typeof value === 'string' && !isKey(value)),
    ),
  },
  {
    id: 'tenant-token-of-another-kind-is-401',
    title: 'A tenant_token that is not a string is answered with 401.',
    violates: ['auth.tenant-token-is-string'],
    operations,
    alter: statusBecomes(400, 401, isOnlyProblem('tenant_token', isOtherKind)),
  },
  {
    id: 'short-tenant-token-is-400',
    title: 'A tenant_token of a few letters is answered with 400.',
    violates: ['auth.tenant-token-may-be-there'],
    operations,
    alter: statusBecomes(401, 400, (request) => objectOf(request).tenant_token === 'token'),
  },
  {
    id: 'external-id-of-another-kind-is-401',
    title: 'An external_id that is not a string is answered with 401.',
    violates: ['auth.external-id-is-string'],
    operations,
    alter: statusBecomes(400, 401, isOnlyProblem('external_id', isOtherKind)),
  },
  {
    id: 'external-id-is-400',
    title: 'A request with an external_id is answered with 400.',
    violates: ['auth.external-id-may-be-there', 'auth.undecided-is-401'],
    operations,
    alter: statusBecomes(401, 400, (request) => typeof objectOf(request).external_id === 'string'),
  },
  {
    id: 'tenant-token-is-required',
    title: 'A device that is not accepted yet and sends no tenant_token is answered with 400.',
    violates: [
      'auth.optional-fields',
      'auth.first-contact-is-401',
      'auth.undecided-is-401',
      'auth.identity-is-free',
      'auth.external-id-may-be-there',
      'auth.new-key-waits',
    ],
    operations,
    alter: statusBecomes(
      401,
      400,
      (request) => isRightlySigned(request) && objectOf(request).tenant_token === undefined,
    ),
  },
  {
    id: 'unknown-field-is-400',
    title: 'A field that the server does not know makes a request malformed.',
    violates: ['auth.unknown-fields'],
    operations,
    alter: statusBecomes(200, 400, (request) => 'tier' in objectOf(request)),
  },
  {
    id: 'member-order-makes-an-identity',
    title: 'An identity with its members in another order is another device.',
    violates: ['auth.identity-is-the-content'],
    operations,
    alter: statusBecomes(200, 401, (request) =>
      /^\{"(?!maker")/.test(String(objectOf(request).id_data)),
    ),
  },
  {
    id: 'identities-are-compared-in-small-letters',
    title: 'Identities that differ in letter case are those of one device.',
    violates: ['auth.identity-is-the-content', 'auth.first-contact-is-401'],
    operations,
    alter: () => {
      const grants = new Map<
        string,
        { readonly text: unknown; readonly response: ProxiedResponse }
      >();
      return {
        response: (response, request) => {
          const { id_data, pubkey } = objectOf(request);
          const device = `${String(id_data).toLowerCase()} ${pubkey}`;
          if (response.status === 200) grants.set(device, { text: id_data, response });
          const alike = grants.get(device);
          if (response.status !== 401 || !alike || alike.text === id_data) return response;
          return isRightlySigned(request) ? alike.response : response;
        },
      };
    },
  },
  {
    id: 'pem-line-ends-make-a-key',
    title: 'A key with Windows line ends is another key.',
    violates: ['auth.same-key'],
    operations,
    alter: statusBecomes(200, 401, (request) => String(objectOf(request).pubkey).includes('\r')),
  },
];

/** Returns true when the body is a JSON object. */
export function isObject(request: ProxiedRequest): boolean {
  const value = jsonOf(request);
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true when the signature matches the body and the key in it. */
export function isRightlySigned(request: ProxiedRequest): boolean {
  const signedParts = signedRequest(request);
  return (
    signedParts !== undefined && verifies(signedParts, Buffer.from(signedParts.text, 'base64'))
  );
}
