/**
 * Statuses of a device's authentication sets: the changes that a user may make, and their effects on the
 * other sets, the tokens, and the device.
 */
import type {
  AuthSetStatus,
  DeviceStatus,
  SettableAuthSetStatus,
} from '../../fixtures/contract/vocabulary.ts';

export type AuthSetChange = 'apply' | 'nothing' | 'refuse';

/** Current status x wanted status. A preauthorized set becomes accepted by the device's own request only. */
export const authSetChanges: Record<AuthSetStatus, Record<SettableAuthSetStatus, AuthSetChange>> = {
  pending: { accepted: 'apply', rejected: 'apply', pending: 'nothing' },
  accepted: { accepted: 'nothing', rejected: 'apply', pending: 'apply' },
  rejected: { accepted: 'apply', rejected: 'nothing', pending: 'apply' },
  preauthorized: { accepted: 'refuse', rejected: 'refuse', pending: 'refuse' },
};

/** The status of another set of the device: it has at most one that is accepted. */
export function statusOfOtherSet(current: AuthSetStatus, changed: AuthSetStatus): AuthSetStatus {
  return changed === 'accepted' && current === 'accepted' ? 'rejected' : current;
}

/** The tokens of a set, by the second since the Unix epoch from which they are valid. */
interface TokensOfSet {
  readonly status: AuthSetStatus;
  readonly tokensFromSeconds: number;
}

/** Tokens of a set that is accepted no more stay revoked when it is accepted again. */
export function tokensFromAfter(set: TokensOfSet, next: AuthSetStatus, nowSeconds: number): number {
  const isLost = set.status === 'accepted' && next !== 'accepted';
  return isLost ? tokensFromRevocation(set, nowSeconds) : set.tokensFromSeconds;
}

/** A second later each time, because a token has only the second of its issue. */
export function tokensFromRevocation(
  { tokensFromSeconds }: Pick<TokensOfSet, 'tokensFromSeconds'>,
  nowSeconds: number,
): number {
  return Math.max(tokensFromSeconds, nowSeconds) + 1;
}

/** The status of a device is the best one of its sets. */
export function deviceStatusOf(statuses: readonly AuthSetStatus[]): DeviceStatus {
  return bestFirst.find((status) => statuses.includes(status)) ?? 'noauth';
}

const bestFirst = ['accepted', 'preauthorized', 'pending', 'rejected'] as const;
