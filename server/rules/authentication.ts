/** What becomes of an authentication request that is well signed. Spec: Device identity (authentication) flow */
import type { AuthSetStatus } from '../../fixtures/contract/vocabulary.ts';

/** How the request's identity and key stand in the store. */
export type AuthSituation =
  | 'unknown-device'
  | 'unknown-key'
  | 'too-many-keys'
  | 'limit-reached'
  | AuthSetStatus;

export interface AuthOutcome {
  /** What is to be recorded before the answer. */
  readonly effect: 'record-device' | 'record-key' | 'accept' | 'none';
  readonly granted: boolean;
  readonly because: string;
}

/** Every situation and its outcome. First contact is always refused, and recorded. */
export const authOutcomes: Record<AuthSituation, AuthOutcome> = {
  'unknown-device': {
    effect: 'record-device',
    granted: false,
    because: 'the device is new; it is recorded and waits for a user to accept it',
  },
  'unknown-key': {
    effect: 'record-key',
    granted: false,
    because: 'the key is new for this device; it is recorded and waits for a user to accept it',
  },
  'too-many-keys': {
    effect: 'none',
    granted: false,
    because: 'the device has come with too many keys; a user must decommission it first',
  },
  'limit-reached': {
    effect: 'none',
    granted: false,
    because:
      'the device was preauthorized, but the maximum number of accepted devices is reached; one must go first',
  },
  pending: {
    effect: 'none',
    granted: false,
    because: 'the device waits for a user to accept it',
  },
  rejected: { effect: 'none', granted: false, because: 'the device has been rejected' },
  accepted: { effect: 'none', granted: true, because: 'the device is accepted' },
  preauthorized: { effect: 'accept', granted: true, because: 'the device was preauthorized' },
};
