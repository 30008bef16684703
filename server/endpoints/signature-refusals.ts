/**
 * The refusals of an auth request's key and signature, each with a doctor who can be asked why.
 * He is asked seldom, as hostile requests must stay cheap; so what he needs is kept until then,
 * and nothing else of the request.
 */

import { readPublicKey } from '../crypto/public-key.ts';
import { diagnoseKey } from '../doctor/key.ts';
import { diagnoseSignature, type RefusedSignature } from '../doctor/signature.ts';
import { type DeviceKey, OTHER_KEYS_MAX } from '../doctor/signing-mistakes.ts';
import { type Refusal, refuse } from '../http/refusal.ts';
import type { Store } from '../store/store.ts';

const signatureForms =
  'base64 of the signature over the body as sent: RSA PKCS#1 v1.5 or ECDSA P-256 in DER over its SHA-256, Ed25519 over the body itself';

/** As much as the journal keeps of a body: a larger one would be held by the doctor alone. */
const KEPT_MAX_BYTES = 16_384;

/** Refuses a `pubkey` that is no key. Its text is not repeated: it may be a private one. */
export function unusableKey(pubkey: string, because: string): Refusal {
  return refuse.malformed(`body: pubkey: ${because}`, {
    path: 'body.pubkey',
    expected: 'SubjectPublicKeyInfo in PEM of an RSA, ECDSA P-256 or Ed25519 key',
    actual: `a text of ${pubkey.length} characters that ${because}`,
    ...(pubkey.length <= KEPT_MAX_BYTES && { diagnose: () => diagnoseKey(pubkey) }),
  });
}

/** Refuses a request without a signature. @param header the header's name */
export function missingSignature(header: string): Refusal {
  return refuse.malformed(`the ${header} header is missing or empty`, {
    path: `header.${header}`,
    expected: signatureForms,
    actual: 'nothing',
  });
}

/** Refuses a signature that does not fit. @param header the header's name */
export function wrongSignature(header: string, refused: RefusedSignature): Refusal {
  const { body, key, signatureText } = refused;
  return refuse.unauthorized('signature verification failed', {
    path: `header.${header}`,
    expected: signatureForms,
    actual: `a text of ${signatureText.length} characters that is no signature of the ${key.keyType} key in pubkey over the ${body.length} bytes of the body`,
    ...(body.length <= KEPT_MAX_BYTES && { diagnose: () => diagnoseSignature(refused) }),
  });
}

/** Keys of a fleet that a signature may be by: other ones of the same device, then the newest. */
export function keysOfFleet(store: Store, identity: string): Iterable<DeviceKey> {
  return {
    *[Symbol.iterator]() {
      for (const { deviceId, publicKeyPem } of store.devices.newestKeys(identity, OTHER_KEYS_MAX)) {
        const key = readPublicKey(publicKeyPem);
        if (!('because' in key)) yield { device: `device ${deviceId}`, key };
      }
    },
  };
}
