/**
 * The refusals of an auth request's key and signature, with the evidence for an explanation. The
 * analysis runs only on request, as hostile requests must stay cheap; until then only the evidence
 * is kept.
 */
import { charactersIn } from '../../../fixtures/characters.ts';
import { headerPrefixPattern } from '../../../fixtures/contract/vendor-names.ts';
import { publicKeyForm } from '../../crypto/public-key.ts';
import {
  RefusedKey,
  RefusedSignature,
  type SignatureFacts,
} from '../../crypto/refused-signature.ts';
import { type Refusal, type RefusalDetail, refuse } from '../../http/refusal.ts';

const signatureForms =
  'base64 of the signature over the body as sent: RSA PKCS#1 v1.5 or ECDSA P-256 in DER over its SHA-256, Ed25519 over the body itself';

/** The same limit as for bodies in the journal: the rest would be held here only. */
const KEPT_MAX_BYTES = 16_384;

/** Refuses a `pubkey` that is not a key. Its text is not repeated: it may be a private key. */
export function unusableKey(pubkey: string, because: string): Refusal {
  return refuse.malformed(`body: pubkey: ${because}`, {
    path: 'body.pubkey',
    requirement: 'auth.pubkey-is-pem',
    expected: publicKeyForm,
    actual: `a string of ${charactersIn(pubkey)} characters that ${because.split(';', 1)[0]}`,
    ...(pubkey.length <= KEPT_MAX_BYTES && { evidence: new RefusedKey(pubkey) }),
  });
}

/**
 * Refuses a request without a signature; mentions that of another vendor. @param header the
 * header's name
 */
export function missingSignature(header: string, rawHeaders: readonly string[]): Refusal {
  const other = otherVendors(header, rawHeaders);
  const hint = other
    ? `, but ${other.name} was sent; send ${header}, or start the server with --header-prefix ${other.prefix}`
    : '';
  return refuse.malformed(`the ${header} header is missing or empty${hint}`, {
    path: `header.${header}`,
    requirement: 'auth.signature-header-is-required',
    expected: signatureForms,
    actual: other ? `${other.name}, the header of another vendor` : 'nothing',
  });
}

/** Returns the signature header of another vendor, which a device configured for it sends. */
function otherVendors(header: string, rawHeaders: readonly string[]) {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const [, prefix] = /^([\w-]{1,40})-signature$/i.exec(name) ?? [];
    if (prefix === undefined || name.toLowerCase() === header.toLowerCase()) continue;
    if (headerPrefixPattern.test(prefix)) return { name, prefix };
  }
  return undefined;
}

/** What is wrong with a signature that does not match. @param header the header's name */
export function signatureDetail(header: string, refused: SignatureFacts): RefusalDetail {
  const { body, key, signatureText } = refused;
  return {
    requirement: 'auth.bad-signature-is-401',
    path: `header.${header}`,
    expected: signatureForms,
    actual: `a string of ${charactersIn(signatureText)} characters that is not a signature by the ${key.keyType} key in pubkey over the ${body.length} bytes of the body`,
    ...(body.length <= KEPT_MAX_BYTES && { evidence: new RefusedSignature(refused) }),
  };
}
