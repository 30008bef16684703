/** Public facts about the keys that several devices share, as a result contains them. */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { countText } from '../../fixtures/base/count-text.ts';
import type { Immutable } from './immutable.ts';
import { fields, first, rows, sum } from './mergers.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const fingerprint = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex'));

const keyUseShape = v.object({
  position: v.pipe(
    count,
    v.description('Position of the key in the pool, or among the key files.'),
  ),
  fingerprint: v.pipe(
    fingerprint,
    v.description('SHA-256 of the SubjectPublicKeyInfo of the public key.'),
  ),
  devices: v.pipe(count, v.description('Number of devices that use the key.')),
});
/** A shared key and the number of devices that use it. */
export type KeyUse = Immutable<v.InferOutput<typeof keyUseShape>>;

const sourceFields = {
  source: v.picklist(['rsa-pool', 'key-folder']),
  size: v.pipe(
    count,
    v.description('Number of keys; device i uses the key at position i mod size.'),
  ),
  bits: v.exactOptional(v.pipe(count, v.description('Modulus length of the keys in a pool.'))),
};
const sourceShape = v.object(sourceFields);
type KeySource = Immutable<v.InferOutput<typeof sourceShape>>;

/** Schema of the keys that the devices of a fleet share. */
export const sharedKeysShape = v.object({
  ...sourceFields,
  hash: v.pipe(
    fingerprint,
    v.description('Hash over the position and fingerprint of all keys in use.'),
  ),
  devices: v.pipe(count, v.description('Number of devices that use one of these keys.')),
  keys: v.pipe(v.array(keyUseShape), v.description('Keys in use, by position.')),
});
export type SharedKeys = Immutable<v.InferOutput<typeof sharedKeysShape>>;

/** Returns the facts about these keys. */
export function sharedKeysOf(source: KeySource, keys: readonly KeyUse[]): SharedKeys {
  const hash = createHash('sha256');
  for (const { position, fingerprint } of keys) hash.update(`${position} ${fingerprint}\n`);
  const devices = keys.reduce((sum, each) => sum + each.devices, 0);
  return { ...source, hash: hash.digest('hex'), devices, keys };
}

const mergeUses = rows<KeyUse>(
  ({ position, fingerprint: key }) => `${position} ${key}`,
  fields<KeyUse>({ position: first, fingerprint: first, devices: sum }),
  (one, other) => one.position - other.position || (one.fingerprint < other.fingerprint ? -1 : 1),
);

/**
 * Merges the facts of several parts of a fleet. When parts have different keys at the same
 * position, each key is listed.
 */
export function mergedSharedKeys(parts: readonly SharedKeys[]): SharedKeys | undefined {
  const [one] = parts;
  if (one === undefined) return undefined;
  const { source, size, bits } = one;
  const keys = mergeUses(parts.map((part) => part.keys));
  return sharedKeysOf({ source, size, ...(bits === undefined ? {} : { bits }) }, keys);
}

/** Describes the shared keys in one line: number of keys, devices per key, and the hash. */
export function sharedKeysLine({ source, size, bits, hash, devices, keys }: SharedKeys): string {
  const counts = keys.map((each) => each.devices);
  const [min, max] = [Math.min(...counts), Math.max(...counts)];
  const each = min === max ? `${max}` : `${min} to ${max}`;
  const kind = source === 'rsa-pool' ? `RSA-${bits} key` : 'own key';
  const pool = source === 'rsa-pool' ? ` of a pool of ${size}` : '';
  const share = devices === 1 ? 'uses' : 'share';
  return `${countText(devices, 'device')} ${share} ${countText(keys.length, kind)}${pool}, ${each} a key; hash ${hash.slice(0, 16)}`;
}
