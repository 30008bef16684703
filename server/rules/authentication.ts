/**
 * The outcome of a correctly signed authentication request.
 * Spec: Device identity (authentication) flow
 */
import type { AuthSetStatus } from '../../fixtures/contract/vocabulary.ts';

/** What the store knows of the identity and key of a request. */
export type AuthSituation =
  | 'unknown-device'
  | 'unknown-key'
  | 'too-many-keys'
  | 'limit-reached'
  | AuthSetStatus;

export interface AuthOutcome {
  /** What is done before the answer, if anything. */
  readonly effect?: 'record' | 'accept';
  /** Whether the device gets a token. */
  readonly granted?: true;
  readonly because: string;
}

/** Every situation and its outcome. First contact is always refused, and recorded. */
export const authOutcomes: Record<AuthSituation, AuthOutcome> = {
  'unknown-device': {
    effect: 'record',
    because: 'the device is new; it is recorded as pending until a user accepts it',
  },
  'unknown-key': {
    effect: 'record',
    because: 'the key is new for this device; it is recorded as pending until a user accepts it',
  },
  'too-many-keys': {
    because: 'the device has used too many keys; a user must decommission it first',
  },
  'limit-reached': {
    because:
      'the device was preauthorized, but the maximum number of accepted devices is reached; a user must decommission or reject one first',
  },
  pending: { because: 'the device is pending; a user must accept it' },
  rejected: { because: 'the device has been rejected' },
  accepted: { granted: true, because: 'the device is accepted' },
  preauthorized: { effect: 'accept', granted: true, because: 'the device was preauthorized' },
};
