/** The view of a poll without an update, shared by the journal and all explanations. */
import { maskText } from '../http/masking.ts';
import type { NoUpdate } from '../rules/no-update.ts';

/** What became of the poll, in words. */
export function outcomeOf({ isUpToDate }: NoUpdate): 'no update' | 'up to date' {
  return isUpToDate ? 'up to date' : 'no update';
}

/** The reason as an entry of the journal shows it. */
export function noUpdateView(noUpdate: NoUpdate) {
  const { rule, deploymentId, because } = noUpdate;
  return {
    outcome: outcomeOf(noUpdate),
    rule,
    ...(deploymentId !== undefined && { deploymentId }),
    because: maskText(because),
  };
}
