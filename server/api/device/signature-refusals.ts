/**
 * Refuses authentication requests for a bad key or signature, and keeps the evidence for an
 * explanation. The evidence is analysed only when an explanation is requested, because refusing a
 * hostile request must stay cheap.
 */
import { charactersIn } from '../../../fixtures/base/characters.ts';
import { countText } from '../../../fixtures/base/count-text.ts';
import { isObject, parsedJson } from '../../../fixtures/base/json.ts';
import { printable } from '../../../fixtures/base/printable.ts';
import { headerPrefixPattern } from '../../../fixtures/contract/vendor-names.ts';
import { publicKeyFormat } from '../../crypto/public-key.ts';
import {
  RefusedKey,
  RefusedSignature,
  type SignatureFacts,
} from '../../crypto/refused-signature.ts';
import { type Refusal, refuse } from '../../http/refusal.ts';
import type { RefusalDetail } from '../../rules/refusal-detail.ts';

const signatureFormats =
  'base64 of the signature over the body as sent: RSA PKCS#1 v1.5 or ECDSA P-256 in DER over its SHA-256, Ed25519 over the body itself';

/**
 * Maximum length in bytes of a body or key that is kept as evidence. Equals the journal's limit for
 * bodies, because a longer body would be held in memory only here.
 */
const KEPT_MAX_BYTES = 16_384;

/**
 * Refuses a `pubkey` that is not a usable key. The refusal does not repeat the text, because it may
 * be a private key.
 */
export function unusableKey(pubkey: string, reason: string): Refusal {
  return refuse.malformed(`body: pubkey: ${reason}`, {
    path: 'body.pubkey',
    requirement: 'auth.pubkey-is-pem',
    expected: publicKeyFormat,
    actual: `a string of ${countText(charactersIn(pubkey), 'character')} that ${reason.split(';', 1)[0]}`,
    ...(pubkey.length <= KEPT_MAX_BYTES && { evidence: new RefusedKey(pubkey) }),
  });
}

/**
 * Refuses a request without a signature header. If the signature was sent under another name, or in
 * the body, the refusal says where.
 * @param header the header's name
 */
export function missingSignature(
  header: string,
  rawHeaders: readonly string[],
  body: Buffer,
): Refusal {
  const otherPlace = otherHeader(header, rawHeaders) ?? memberOf(body, header);
  const hint = otherPlace ? `, but ${otherPlace.sent} was sent; ${otherPlace.remedy}` : '';
  return refuse.malformed(`the ${header} header is missing or empty${hint}`, {
    path: `header.${header}`,
    requirement: 'auth.signature-header-is-required',
    expected: signatureFormats,
    actual: otherPlace?.actual ?? 'nothing',
  });
}

function memberOf(body: Buffer, header: string): MisplacedSignature | undefined {
  const members = parsedJson(body.toString('utf8'));
  const name = isObject(members) ? Object.keys(members).find(isSignatureName) : undefined;
  if (name === undefined) return undefined;
  const sentPlace = `the member "${printable(name, NAME_MAX_CHARACTERS)}" of the body`;
  return {
    sent: sentPlace,
    actual: sentPlace,
    remedy: `send it in ${header}, and sign the body without it`,
  };
}

/** A place other than the expected header in which a signature was sent. */
interface MisplacedSignature {
  readonly sent: string;
  readonly actual: string;
  readonly remedy: string;
}

const NAME_MAX_CHARACTERS = 40;

function isSignatureName(name: string): boolean {
  return /(?:^|[-_])sig(?:n|nature)?$/i.test(name) || /[a-z]Signature$/.test(name);
}

/**
 * Returns the first other header that appears to carry a signature: the header of another vendor,
 * or a misspelt one.
 */
function otherHeader(
  header: string,
  rawHeaders: readonly string[],
): MisplacedSignature | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!isSignatureName(name) || name.toLowerCase() === header.toLowerCase()) continue;
    const sentName = name.slice(0, NAME_MAX_CHARACTERS);
    const [, prefix = ''] = /^([\w-]{1,40})-signature$/i.exec(name) ?? [];
    if (!headerPrefixPattern.test(prefix)) {
      return { sent: sentName, actual: `${sentName}, another header`, remedy: `send ${header}` };
    }
    const remedy = `send ${header}, or start the server with --header-prefix ${prefix}`;
    return { sent: sentName, actual: `${sentName}, the header of another vendor`, remedy };
  }
  return undefined;
}

/**
 * Returns the detail of a refusal for a signature that does not match.
 * @param header the header's name
 */
export function signatureDetail(header: string, refused: SignatureFacts): RefusalDetail {
  const { body, key, signatureText } = refused;
  return {
    requirement: 'auth.bad-signature-is-401',
    path: `header.${header}`,
    expected: signatureFormats,
    actual: `a string of ${countText(charactersIn(signatureText), 'character')} that is not a signature by the ${key.keyType} key in pubkey over the ${countText(body.length, 'byte')} of the body`,
    ...(body.length <= KEPT_MAX_BYTES && { evidence: new RefusedSignature(refused) }),
  };
}
