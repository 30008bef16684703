/** Finds the cause behind a refusal from its stored evidence. */
import { RefusedKey, RefusedSignature } from '../../crypto/refused-signature.ts';
import type { Diagnosis } from './diagnosis.ts';
import { diagnoseKey } from './key.ts';
import { diagnoseSignature } from './signature.ts';
import { describeUnexplained } from './unexplained.ts';

/**
 * Returns undefined for other evidence, and for a key that no known cause explains. Takes some
 * tens of milliseconds at worst.
 */
export function diagnose(evidence: unknown): Diagnosis | undefined {
  if (evidence instanceof RefusedKey) return diagnoseKey(evidence.text);
  if (!(evidence instanceof RefusedSignature)) return undefined;
  return diagnoseSignature(evidence.facts) ?? describeUnexplained(evidence.facts);
}
