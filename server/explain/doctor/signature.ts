/** Diagnoses why a signature does not match: tries every known mistake. */
import { signatureFits } from '../../crypto/device-signature.ts';
import type { SignatureFacts } from '../../crypto/refused-signature.ts';
import { type Diagnosis, diagnosisOf, type MistakeWords } from './diagnosis.ts';
import { type Reading, readingsOf, writingMistakes } from './readings.ts';
import { openSignature, unopenedSignature } from './schemes.ts';
import { type SigningEvidence, type SigningMistake, signingMistakes } from './signing-mistakes.ts';

/**
 * The mistake that explains the signature; `undefined` when it fits, or when no known one does.
 * Takes some tens of milliseconds at worst and never throws. Spec: Device authentication
 */
export function diagnoseSignature(refused: SignatureFacts): Diagnosis | undefined {
  const readings = readingsOf(refused.signatureText, refused.key.keyType);
  const right = readings.find(({ bytes }) => fits(refused, bytes));
  if (right) return writingDiagnosis(right);
  for (const { bytes, mistakes } of readings.filter(isInOrder)) {
    for (const row of signingMistakes) {
      const found = foundIn(row, { refused, bytes });
      if (found === false) continue;
      const detail = found === true ? undefined : found;
      return diagnosisOf(row, { detail, also: mistakes });
    }
  }
  return undefined;
}

/**
 * Whether one row explains the bytes of a signature; a text says in which of its forms.
 * Never throws: what cannot be tried does not fit.
 */
export function foundIn(
  row: SigningMistake,
  { refused, bytes }: { refused: SignatureFacts; bytes: Buffer },
): boolean | string {
  const { body, key, otherKeys = [] } = refused;
  if (!row.keyTypes.includes(key.keyType)) return false;
  try {
    const signature = openSignature[key.keyType](key.key, bytes) ?? unopenedSignature;
    const evidence: SigningEvidence = { body, signature, signatureBytes: bytes, otherKeys };
    return row.fits(evidence);
  } catch {
    // OpenSSL throws on numbers that no signature has, JSON on what is nested too deep.
    return false;
  }
}

function fits({ body, key }: SignatureFacts, bytes: Buffer): boolean {
  return signatureFits(body, key, bytes.toString('base64'));
}

/** Moved bytes are looked for over the body itself only: two mistakes of that kind are rare. */
function isInOrder({ mistakes }: Reading): boolean {
  const { swapped, reversed, surplus } = writingMistakes;
  return ![swapped.id, reversed.id, surplus.id].some((id) => mistakes.includes(id));
}

const writingRows = new Map<string, MistakeWords>(
  Object.values(writingMistakes).map((row) => [row.id, row]),
);

function writingDiagnosis({ mistakes: [first, ...also] }: Reading): Diagnosis | undefined {
  const row = first === undefined ? undefined : writingRows.get(first);
  return row && diagnosisOf(row, { also });
}
