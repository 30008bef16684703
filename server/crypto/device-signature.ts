/** Verifies a device's signature over the bytes that it sent. Spec: Device authentication */
import { keyAlgorithms } from './key-algorithms.ts';
import type { PublicKey } from './public-key.ts';

const standardBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Returns true when the header's text is the key's signature over exactly these bytes. */
export function signatureFits(signed: Uint8Array, key: PublicKey, signatureText: string): boolean {
  if (!standardBase64.test(signatureText)) return false;
  const algorithm = keyAlgorithms.find(({ keyType }) => keyType === key.keyType);
  if (!algorithm) return false;
  try {
    return algorithm.verifies(signed, key.key, Buffer.from(signatureText, 'base64'));
  } catch {
    // OpenSSL throws on signatures that it cannot even parse; they do not match.
    return false;
  }
}
