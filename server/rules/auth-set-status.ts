/**
 * Statuses of a device's authentication sets: which changes a user may make, and how they affect
 * the other sets, the tokens, and the device.
 */
import type {
  AuthSetStatus,
  DeviceStatus,
  SettableAuthSetStatus,
} from '../../fixtures/contract/vocabulary.ts';

export type AuthSetChange = 'apply' | 'nothing' | 'refuse';

/**
 * Effect of a change, by current status and then by wanted status. A preauthorized set is accepted
 * only by the device's own request.
 */
export const authSetChanges: Record<AuthSetStatus, Record<SettableAuthSetStatus, AuthSetChange>> = {
  pending: { accepted: 'apply', rejected: 'apply', pending: 'nothing' },
  accepted: { accepted: 'nothing', rejected: 'apply', pending: 'apply' },
  rejected: { accepted: 'apply', rejected: 'nothing', pending: 'apply' },
  preauthorized: { accepted: 'refuse', rejected: 'refuse', pending: 'refuse' },
};

/**
 * Returns the next status of another set of the same device, of which at most one can be accepted.
 */
export function statusOfOtherSet(current: AuthSetStatus, changed: AuthSetStatus): AuthSetStatus {
  return changed === 'accepted' && current === 'accepted' ? 'rejected' : current;
}

/** A set's status, and the second since the Unix epoch from which its tokens are valid. */
interface TokensOfSet {
  readonly status: AuthSetStatus;
  readonly tokensValidFromSeconds: number;
}

/**
 * Revokes the tokens of a set that loses its acceptance; they stay revoked when it is accepted
 * again.
 */
export function tokensValidFromAfter(
  set: TokensOfSet,
  next: AuthSetStatus,
  nowSeconds: number,
): number {
  const isLost = set.status === 'accepted' && next !== 'accepted';
  return isLost ? tokensValidFromRevocation(set, nowSeconds) : set.tokensValidFromSeconds;
}

/**
 * Returns the second after now, or after the previous revocation: a token's time of issue has whole
 * seconds, so a token of the same second would otherwise stay valid.
 */
export function tokensValidFromRevocation(
  { tokensValidFromSeconds }: Pick<TokensOfSet, 'tokensValidFromSeconds'>,
  nowSeconds: number,
): number {
  return Math.max(tokensValidFromSeconds, nowSeconds) + 1;
}

/** Returns the status of a device: the best status of its sets, `noauth` without sets. */
export function deviceStatusOf(statuses: readonly AuthSetStatus[]): DeviceStatus {
  return bestFirst.find((status) => statuses.includes(status)) ?? 'noauth';
}

const bestFirst = ['accepted', 'preauthorized', 'pending', 'rejected'] as const;
