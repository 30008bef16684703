/** What a user may make of an authentication set: current status x wanted status. */
import type { AuthSetStatus, SettableAuthSetStatus } from '../../fixtures/contract/vocabulary.ts';

export type AuthSetChange = 'apply' | 'nothing' | 'refuse';

/** A preauthorized set becomes accepted by the device's own request only. */
export const authSetChanges: Record<AuthSetStatus, Record<SettableAuthSetStatus, AuthSetChange>> = {
  pending: { accepted: 'apply', rejected: 'apply', pending: 'nothing' },
  accepted: { accepted: 'nothing', rejected: 'apply', pending: 'apply' },
  rejected: { accepted: 'apply', rejected: 'nothing', pending: 'apply' },
  preauthorized: { accepted: 'refuse', rejected: 'refuse', pending: 'refuse' },
};
