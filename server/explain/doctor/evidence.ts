/** Finds the mistake behind a refusal from its stored evidence. */
import { RefusedKey, RefusedSignature } from '../../crypto/refused-signature.ts';
import type { Diagnosis } from './diagnosis.ts';
import { diagnoseKey } from './key.ts';
import { diagnoseSignature } from './signature.ts';

/** Nothing when no known mistake explains it. Takes some tens of milliseconds at worst. */
export function diagnose(evidence: unknown): Diagnosis | undefined {
  if (evidence instanceof RefusedKey) return diagnoseKey(evidence.text);
  return evidence instanceof RefusedSignature ? diagnoseSignature(evidence.facts) : undefined;
}
