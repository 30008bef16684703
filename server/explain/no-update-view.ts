/** The view of a poll without an update, shared by the journal and all explanations. */
import { maskText } from '../http/masking.ts';
import type { NoUpdate } from '../rules/no-update.ts';

/** Returns the outcome of the poll as a phrase. */
export function outcomeOf({ isUpToDate }: NoUpdate): 'no update' | 'up to date' {
  return isUpToDate ? 'up to date' : 'no update';
}

/** Returns the reason as a journal entry shows it. */
export function noUpdateView(noUpdate: NoUpdate) {
  const { condition, deploymentId, reason } = noUpdate;
  return {
    outcome: outcomeOf(noUpdate),
    condition,
    ...(deploymentId !== undefined && { deploymentId }),
    reason: maskText(reason),
  };
}
