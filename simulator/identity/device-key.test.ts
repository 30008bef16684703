import { createHash, createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { deviceKey } from './device-key.ts';

const random = seededRandom('x');

describe('the key of a device', () => {
  it.each([
    ['ecdsa', '57bdf9d33d79a1cb0d36cbaebff41ac4183131c4dea4a8e7cde3913723454a15'],
    ['ed25519', '309ff273ff1ebcd8fc644e7a5c1c044f17969f51133cffc3401c02ca49df4124'],
  ] as const)('is for type %s the same with the same seed, in every run', (keyType, wanted) => {
    const { publicKeyPem } = deviceKey(seededRandom('x'), 0, keyType);
    const der = createPublicKey(publicKeyPem).export({ type: 'spki', format: 'der' });
    expect(createHash('sha256').update(der).digest('hex')).toBe(wanted);
  });

  it('is different for each device and key type', () => {
    const pems = [
      deviceKey(random, 0, 'ed25519'),
      deviceKey(random, 1, 'ed25519'),
      deviceKey(random, 0, 'ecdsa'),
      deviceKey(random, 1, 'ecdsa'),
    ];
    expect(new Set(pems.map(({ publicKeyPem }) => publicKeyPem)).size).toBe(4);
  });

  it('differs after each change of keys and is the same in every run', () => {
    const pemOf = (seed: string, generation: number) =>
      deviceKey(seededRandom(seed), 0, 'ed25519', generation).publicKeyPem;
    const first = [0, 1, 2].map((each) => pemOf('x', each));
    const second = [0, 1, 2].map((each) => pemOf('x', each));
    expect(new Set(first).size).toBe(3);
    expect(second).toEqual(first);
    expect(pemOf('x', 0)).toBe(deviceKey(random, 0, 'ed25519').publicKeyPem);
  });

  it('is exported as SubjectPublicKeyInfo in PEM', () => {
    const { publicKeyPem } = deviceKey(random, 0, 'ecdsa');
    expect(publicKeyPem).toMatch(
      /^-----BEGIN PUBLIC KEY-----\n[A-Za-z0-9+/=\n]+\n-----END PUBLIC KEY-----\n$/,
    );
  });

  it('is derived again for each signature, and stays the same', () => {
    const key = deviceKey(random, 3, 'ecdsa');
    const [one, other] = [key.privateKey, key.privateKey];
    expect(one).not.toBe(other);
    expect(one.equals(other)).toBe(true);
  });

  it('is not derived from a seed if it is of type RSA', () => {
    expect(() => deviceKey(random, 0, 'rsa')).toThrow('rsa keys are not made from a seed');
  });
});
