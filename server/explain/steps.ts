/**
 * Finds the steps before a corrected request: waiting, logging in, and having a device accepted.
 */
import { valueText } from '../../fixtures/base/value-text.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { type Operation, pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import { readPublicKey } from '../crypto/public-key.ts';
import { readIdentity } from '../rules/identity.ts';
import type { StoredAuthSet } from '../store/devices.ts';
import type { Store } from '../store/store.ts';
import { jsonOf, type ReceivedRequest, textOf, tokenOwnerIn } from './received-request.ts';
import type { RefusedRequest } from './request-problem.ts';

/** A step that has to come before the request. */
export type PreparationStep =
  | {
      readonly kind: 'device-token';
      readonly deviceId?: string;
      readonly identity?: string;
      readonly keyType?: KeyType;
      /**
       * `another key` if another key of the device is accepted now, `nobody` if the device has no
       * access.
       */
      readonly instead?: 'another key' | 'nobody';
    }
  /** Logs in as the user with this email address, if known, or as another user. */
  | { readonly kind: 'user-token'; readonly email?: string; readonly isOther?: boolean }
  | { readonly kind: 'accept'; readonly path: string; readonly deviceId: string }
  /** Preauthorizes a device that the server no longer knows. */
  | { readonly kind: 'preauthorize' }
  | { readonly kind: 'wait'; readonly seconds: number };

/** The parts of a store that the explanations read. */
export type KnownStore = Pick<Store, 'devices' | 'users' | 'deviceDeployments'>;

interface PreparationInput extends RefusedRequest {
  readonly location: string;
  readonly store: KnownStore;
}

/** Returns the steps before the operation is called, in order. */
export function stepsOf(refused: PreparationInput, operation: Operation): PreparationStep[] {
  const { refusal, location } = refused;
  const wait = Number(refusal.headers['Retry-After']);
  if (Number.isInteger(wait) && wait > 0) return [{ kind: 'wait', seconds: wait }];
  const isRole = refusal.detail?.requirement === 'errors.role-forbidden-is-403';
  if (!concernsToken(location) && !isRole) return acceptance(refused);
  // A malformed Authorization header may contain a valid token.
  if (refusal.detail?.requirement === 'tokens.malformed-is-401' && refusal.detail.remedy) return [];
  if (operation.authorization === 'user') return [userToken(refused)];
  return operation.authorization === 'basic' ? [] : deviceToken(refused);
}

/** Returns true if the caller's token was refused, in either of its headers. */
export function concernsToken(location: string): boolean {
  return location === 'header.Authorization' || location === 'header.Cookie';
}

function userToken({ request, store, refusal }: PreparationInput): PreparationStep {
  if (refusal.status === 403) return { kind: 'user-token', isOther: true };
  const user = store.users.find(tokenOwnerIn(request)?.subject ?? '');
  return { kind: 'user-token', ...(user && { email: user.email }) };
}

function deviceToken({ request, store }: PreparationInput): PreparationStep[] {
  const owner = tokenOwnerIn(request);
  const device = owner?.isDevice ? store.devices.find(owner.subject) : undefined;
  if (!device) {
    return [...(owner?.isDevice ? [preauthorize] : []), { kind: 'device-token' }];
  }
  const sets = store.devices.listAuthSets(device.id);
  const authSet = sets.find(({ status }) => status === 'accepted') ?? sets[0];
  const key = authSet && readPublicKey(authSet.publicKeyPem);
  const keyType = key && 'keyType' in key ? key.keyType : undefined;
  const isOther = authSet?.status === 'accepted' && owner?.tokenId !== authSet.id;
  const instead = isOther ? 'another key' : authSet?.status === 'rejected' ? 'nobody' : undefined;
  return [
    ...(authSet ? acceptOf(authSet) : [preauthorize]),
    {
      kind: 'device-token',
      deviceId: device.id,
      identity: device.identity,
      ...(keyType && { keyType }),
      ...(instead && { instead }),
    },
  ];
}

const preauthorize: PreparationStep = { kind: 'preauthorize' };

/** Returns the step that accepts a known pending device. */
function acceptance({ request, refusal, operation, store }: PreparationInput): PreparationStep[] {
  if (!isUnaccepted({ refusal, operation })) return [];
  const authSet = authSetIn(request, store);
  return authSet && !hasOtherKey(authSet, store) ? acceptOf(authSet) : [];
}

/**
 * Returns true if the device is accepted with another key, which accepting this key would replace.
 */
export function hasOtherKey({ id, deviceId }: StoredAuthSet, { devices }: KnownStore): boolean {
  return devices.listAuthSets(deviceId).some((set) => set.status === 'accepted' && set.id !== id);
}

/** Returns true if an authentication request was refused because its device is not accepted. */
export function isUnaccepted({
  refusal,
  operation,
}: Pick<RefusedRequest, 'refusal' | 'operation'>): boolean {
  const isAuthentication = operation?.id === operations['post-auth-request'].id;
  return isAuthentication && refusal.error.startsWith('device not authorized');
}

/** Returns the current authentication set of the device and key in an authentication request. */
export function authSetIn(
  request: ReceivedRequest,
  { devices }: KnownStore,
): StoredAuthSet | undefined {
  const body = jsonOf(textOf(request))?.value;
  const members = new Map<string, unknown>(Object.entries(body ?? {}));
  const identity = readIdentity(valueText(members.get('id_data')));
  const key = readPublicKey(valueText(members.get('pubkey')));
  if ('reason' in identity || 'reason' in key) return undefined;
  const device = devices.findByIdentity(identity.canonical);
  return device && devices.findAuthSet(device.id, key.pem);
}

function acceptOf({ id, deviceId, status }: StoredAuthSet): PreparationStep[] {
  // Only a user can decide to accept a rejected device again.
  if (status !== 'pending') return [];
  const row = managementOperations['set-auth-set-status'];
  return [{ kind: 'accept', path: pathOf(row, { id: deviceId, aid: id }), deviceId }];
}
