/** Diagnoses why a signature does not match, by trying every known cause. */
import { verifySignature } from '../../crypto/device-signature.ts';
import type { SignatureFacts } from '../../crypto/refused-signature.ts';
import { type CauseText, type Diagnosis, diagnosisOf } from './diagnosis.ts';
import { encodingCauses, readingsOf, type SignatureDecoding } from './readings.ts';
import { openSignature, unopenedSignature } from './schemes.ts';
import { type SigningCause, type SigningEvidence, signingCauses } from './signing-causes.ts';

/**
 * Returns the cause that explains the signature; undefined if the signature matches, or if no
 * known cause explains it. Takes some tens of milliseconds at worst and never throws.
 * Spec: Device authentication
 */
export function diagnoseSignature(refused: SignatureFacts): Diagnosis | undefined {
  const readings = readingsOf(refused.signatureText, refused.key.keyType);
  const right = readings.find(({ bytes }) => fits(refused, bytes));
  if (right) return writingDiagnosis(right);
  for (const { bytes, causes } of readings.filter(isInOrder)) {
    for (const row of signingCauses) {
      const evidence = foundIn(row, { refused, bytes });
      if (evidence === false) continue;
      const detail = evidence === true ? undefined : evidence;
      return diagnosisOf(row, { detail, also: causes });
    }
  }
  return undefined;
}

/**
 * Returns true if a row explains the bytes of a signature, or a string that names the variant.
 * Never throws: a check that fails counts as false.
 */
export function foundIn(
  row: SigningCause,
  { refused, bytes }: { refused: SignatureFacts; bytes: Buffer },
): boolean | string {
  const { body, key, otherKeys = [] } = refused;
  if (!row.keyTypes.includes(key.keyType)) return false;
  try {
    const signature = openSignature[key.keyType](key.key, bytes) ?? unopenedSignature;
    const evidence: SigningEvidence = { body, signature, signatureBytes: bytes, otherKeys };
    return row.fits(evidence);
  } catch {
    // OpenSSL throws for numbers that no signature has, and JSON throws for deep nesting.
    return false;
  }
}

function fits({ body, key }: SignatureFacts, bytes: Buffer): boolean {
  return verifySignature(body, key, bytes.toString('base64'));
}

/**
 * Returns false for decodings that move bytes. They are checked only against the body itself,
 * because a second cause in addition is rare.
 */
function isInOrder({ causes }: SignatureDecoding): boolean {
  const { swapPair: swapped, reverseBytes: reversed, surplus } = encodingCauses;
  return ![swapped.id, reversed.id, surplus.id].some((id) => causes.includes(id));
}

const writingRows = new Map<string, CauseText>(
  Object.values(encodingCauses).map((row) => [row.id, row]),
);

function writingDiagnosis({ causes: [first, ...also] }: SignatureDecoding): Diagnosis | undefined {
  const row = first === undefined ? undefined : writingRows.get(first);
  return row && diagnosisOf(row, { also });
}
