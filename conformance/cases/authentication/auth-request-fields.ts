/**
 * Values of each field of an authentication request, as a literal table that a test checks against
 * the contract's shape. Where the contract sets no length limit, length is not checked. Spec:
 * AuthRequest
 */
import { type InputTable, otherThanString } from '../../suite/input-table.ts';

/** A request whose values have the right types but are not a real identity or key. */
export const textualRequest = { id_data: '{}', pubkey: 'a key in PEM' };

const certificate = 'MIIBszCCAVmgAwIBAgIUQm9hcmQgb2YgdGhlIHN1aXRlMAoGCCqGSM49BAMC';

function block(label: string, content: string): string {
  return `-----BEGIN ${label}-----\n${content}\n-----END ${label}-----\n`;
}

/** Every field of the contract, and the body. */
export const authRequestInputs: InputTable = {
  'missing-id-data-is-400': {
    title: 'A signed request without id_data is answered with 400.',
    requirement: 'auth.id-data-is-required',
    field: 'id_data',
    refused: ['missing'],
  },
  'id-data-of-another-kind-is-400': {
    title:
      'A signed request whose id_data is null, a number, a boolean, an array or an object is answered with 400.',
    requirement: 'auth.id-data-is-string',
    field: 'id_data',
    refused: otherThanString,
  },
  'id-data-that-is-not-json-is-400': {
    title: 'A signed request whose id_data is empty or not JSON is answered with 400.',
    requirement: 'auth.id-data-is-json-text',
    field: 'id_data',
    refused: {
      'an empty string': '',
      'a word': 'serial',
      'JSON that is cut off': '{"serial":"7"',
      'a member in single quotes': "{'serial':'7'}",
      'two values': '{"serial":"7"}{"serial":"8"}',
    },
  },
  'missing-pubkey-is-400': {
    title: 'A signed request without pubkey is answered with 400.',
    requirement: 'auth.pubkey-is-required',
    field: 'pubkey',
    refused: ['missing'],
  },
  'pubkey-of-another-kind-is-400': {
    title:
      'A signed request whose pubkey is null, a number, a boolean, an array or an object is answered with 400.',
    requirement: 'auth.pubkey-is-string',
    field: 'pubkey',
    refused: otherThanString,
  },
  'pubkey-that-is-no-pem-is-400': {
    title:
      'A signed request whose field pubkey is empty, or a string that is not a PEM public key is answered with 400.',
    requirement: 'auth.pubkey-is-pem',
    field: 'pubkey',
    refused: {
      'an empty string': '',
      'a key of SSH': 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAA',
      'an empty block': block('PUBLIC KEY', ''),
      'a block without its end': block('PUBLIC KEY', 'MFkw').split('-----END')[0],
      'a block that holds no key': block('PUBLIC KEY', 'aGVsbG8='),
      'a block that is not Base64': block('PUBLIC KEY', '!!!!'),
      'a certificate': block('CERTIFICATE', certificate),
    },
  },
  'tenant-token-is-not-malformed': {
    title: 'A signed request whose tenant_token is a non-empty string is not malformed.',
    requirement: 'auth.tenant-token-may-be-there',
    field: 'tenant_token',
    accepted: { 'a word': 'token', 'a long string': 'token.'.repeat(100) },
  },
  'tenant-token-of-another-kind-is-400': {
    title:
      'A signed request whose tenant_token is a number, a boolean, an array or an object is answered with 400.',
    requirement: 'auth.tenant-token-is-string',
    field: 'tenant_token',
    refused: ['number', 'boolean', 'array', 'object'],
  },
  'external-id-is-not-malformed': {
    title: 'A signed request whose external_id is a string, empty or not, is not malformed.',
    requirement: 'auth.external-id-may-be-there',
    field: 'external_id',
    accepted: { 'an empty string': '', 'a word': 'device-7', 'a long string': 'device'.repeat(40) },
  },
  'external-id-of-another-kind-is-400': {
    title:
      'A signed request whose external_id is a number, a boolean, an array or an object is answered with 400.',
    requirement: 'auth.external-id-is-string',
    field: 'external_id',
    refused: ['number', 'boolean', 'array', 'object'],
  },
  'malformed-body-is-400': {
    title: 'A signed body that is not a JSON object is answered with 400.',
    requirement: 'auth.malformed-is-400',
    field: '',
    refused: {
      'JSON that is cut off': '{"id_data":',
      'not JSON': 'id_data=serial',
      'an array': '[]',
      'a string': '"id_data"',
      'a number': '7',
      null: 'null',
    },
  },
  'missing-body-is-400': {
    title: 'A request without a body is answered with 400.',
    requirement: 'auth.body-is-required',
    field: '',
    refused: ['missing'],
  },
};
