/** Members that this answer may lack. */
import type { Operation } from '../../../fixtures/contract/operation.ts';
import type { Place } from './places.ts';

/** Errors, rule 1, lets a refusal carry both; the words stay, since nothing else says why. */
const ofRefusals: readonly Place[] = ['request_id'];

/** The members that this answer may lack. */
export function removableMembers(
  operation: Operation | undefined,
  status: number,
): readonly Place[] {
  return status >= 400 ? ofRefusals : (operation?.answer?.removable ?? []);
}
