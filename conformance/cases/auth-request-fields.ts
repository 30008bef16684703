/**
 * Values of each field of an authentication request, as a literal table that a test checks against
 * the contract's shape. Where the contract sets no length limit, length is not checked. Spec:
 * AuthRequest
 */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';

/** One row: values of a field that one requirement decides in the same way. */
interface FieldRow {
  /** End of the case id. */
  readonly slug: string;
  /** Describes the values, to follow `… whose field`. */
  readonly words: string;
  readonly requirement: RequirementId;
  /** Values by description; undefined omits the field. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly fate: 'malformed' | 'fine';
}

const otherKinds = { 'a number': 7, 'a truth value': true, 'an array': ['a'], 'an object': {} };

const certificate = 'MIIBszCCAVmgAwIBAgIUQm9hcmQgb2YgdGhlIHN1aXRlMAoGCCqGSM49BAMC';

function block(label: string, content: string): string {
  return `-----BEGIN ${label}-----\n${content}\n-----END ${label}-----\n`;
}

/** Every field of the contract with its rows. */
export const authRequestFields: Readonly<Record<string, readonly FieldRow[]>> = {
  id_data: [
    {
      slug: 'missing-id-data-is-400',
      words: 'is not there',
      requirement: 'auth.id-data-is-required',
      values: { missing: undefined },
      fate: 'malformed',
    },
    {
      slug: 'id-data-of-another-kind-is-400',
      words: 'is null, a number, a truth value, an array or an object',
      requirement: 'auth.id-data-is-text',
      values: { null: null, ...otherKinds },
      fate: 'malformed',
    },
    {
      slug: 'id-data-that-is-no-json-is-400',
      words: 'is empty, or a text that is no JSON',
      requirement: 'auth.id-data-is-json-text',
      values: {
        'an empty text': '',
        'a word': 'serial',
        'JSON that is cut off': '{"serial":"7"',
        'a member in single quotes': "{'serial':'7'}",
        'two values': '{"serial":"7"}{"serial":"8"}',
      },
      fate: 'malformed',
    },
  ],
  pubkey: [
    {
      slug: 'missing-pubkey-is-400',
      words: 'is not there',
      requirement: 'auth.pubkey-is-required',
      values: { missing: undefined },
      fate: 'malformed',
    },
    {
      slug: 'pubkey-of-another-kind-is-400',
      words: 'is null, a number, a truth value, an array or an object',
      requirement: 'auth.pubkey-is-text',
      values: { null: null, ...otherKinds },
      fate: 'malformed',
    },
    {
      slug: 'pubkey-that-is-no-pem-is-400',
      words: 'is empty, or a text that is no public key in PEM',
      requirement: 'auth.pubkey-is-pem',
      values: {
        'an empty text': '',
        'a key of SSH': 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAA',
        'an empty block': block('PUBLIC KEY', ''),
        'a block without its end': block('PUBLIC KEY', 'MFkw').split('-----END')[0],
        'a block that holds no key': block('PUBLIC KEY', 'aGVsbG8='),
        'a block that is no Base64': block('PUBLIC KEY', '!!!!'),
        'a certificate': block('CERTIFICATE', certificate),
      },
      fate: 'malformed',
    },
  ],
  tenant_token: [
    {
      slug: 'tenant-token-is-not-malformed',
      words: 'is a filled text',
      requirement: 'auth.tenant-token-may-be-there',
      values: { 'a word': 'token', 'a long text': 'token.'.repeat(100) },
      fate: 'fine',
    },
    {
      slug: 'tenant-token-of-another-kind-is-400',
      words: 'is a number, a truth value, an array or an object',
      requirement: 'auth.tenant-token-is-text',
      values: otherKinds,
      fate: 'malformed',
    },
  ],
  external_id: [
    {
      slug: 'external-id-is-not-malformed',
      words: 'is a text, empty or filled',
      requirement: 'auth.external-id-may-be-there',
      values: { 'an empty text': '', 'a word': 'device-7', 'a long text': 'device'.repeat(40) },
      fate: 'fine',
    },
    {
      slug: 'external-id-of-another-kind-is-400',
      words: 'is a number, a truth value, an array or an object',
      requirement: 'auth.external-id-is-text',
      values: otherKinds,
      fate: 'malformed',
    },
  ],
};

/** Bodies that are not a JSON object. */
export const malformedBodies: Readonly<Record<string, string>> = {
  'JSON that is cut off': '{"id_data":',
  'no JSON': 'id_data=serial',
  'an array': '[]',
  'a text': '"id_data"',
  'a number': '7',
  null: 'null',
};
