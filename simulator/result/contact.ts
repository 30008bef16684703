/** Whether the devices of a run got through to the server; a run without any has shown nothing. */
import * as v from 'valibot';
import { operations } from '../../fixtures/contract/operations.ts';
import { thresholdOf, thresholdsShape } from '../plan/thresholds-parser.ts';
import type { FleetResult } from './result.ts';

/** Why a run has shown nothing about the server. */
export type ContactDoubt = 'no device got an answer' | 'no device was accepted';

/** Returns why nothing was shown, or undefined when a device got through. */
export function contactDoubt(
  result: Pick<FleetResult, 'funnel' | 'operations' | 'thresholds'>,
): ContactDoubt | undefined {
  const { devices, silent, waiting } = result.funnel;
  if (silent === devices) return 'no device got an answer';
  if (silent + waiting < devices || wasAnyAccepted(result)) return undefined;
  return isAboutSignIns(result) ? undefined : 'no device was accepted';
}

const signIn = operations['post-auth-request'].id;

/** A device that was accepted for a while may be pending at the end. */
function wasAnyAccepted(result: Pick<FleetResult, 'operations'>): boolean {
  const signIns = result.operations.find(({ operation }) => operation === signIn);
  return (signIns?.answers['2xx'] ?? 0) > 0;
}

/** A run whose thresholds measure nothing but sign-ins needs no accepted device. */
function isAboutSignIns({ thresholds }: Pick<FleetResult, 'thresholds'>): boolean {
  const texts = thresholds.map(({ threshold }) => threshold);
  // A result that was read from a file may have any text there.
  if (texts.length === 0 || !v.is(thresholdsShape, texts)) return false;
  return texts.every((text) => {
    const { subject } = thresholdOf(text);
    const measured = 'operations' in subject ? subject.operations : [];
    return measured.length > 0 && measured.every((operation) => operation === signIn);
  });
}
