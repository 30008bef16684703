/**
 * Device keys of RSA, signed by node-forge and by node:crypto, which also finds the primes, 10 times
 * as fast.
 */
import { constants, createHash, type KeyObject, privateEncrypt, sign } from 'node:crypto';
import forge from 'node-forge';
import { freshRsaKey } from '../../fixtures/random.ts';
import type { SigningKey, WrongForms } from './signing-key.ts';

const MODULUS_BITS = 2048;
const SALT_BYTES = 32;

/** A fresh RSA-2048 key. Its primes are the system's choice and cannot be seeded. */
export async function makeRsaKey(): Promise<SigningKey> {
  return rsaKeyOf(await freshRsaKey(MODULUS_BITS));
}

/** The signing key of a private key. */
export function rsaKeyOf(key: KeyObject): SigningKey {
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  const privateKey = forge.pki.privateKeyFromPem(pem);
  const publicKey = forge.pki.setRsaPublicKey(privateKey.n, privateKey.e);
  const signed = (body: Buffer): Buffer =>
    binary(privateKey.sign(digestOf(body), 'RSASSA-PKCS1-V1_5'));
  return {
    keyType: 'rsa',
    publicKeyPem: forge.pki.publicKeyToPem(publicKey).replaceAll('\r', ''),
    sign: signed,
    signers: { 'node-forge': signed, 'node:crypto': (body) => sign('sha256', body, key) },
    wrongForms: wrongFormsOf(key, privateKey),
  };
}

function wrongFormsOf(key: KeyObject, privateKey: forge.pki.rsa.PrivateKey): WrongForms {
  const padding = constants.RSA_PKCS1_PADDING;
  return {
    digest: {
      'the SHA-1 of the body': (body) => sign('sha1', body, key),
      'the SHA-384 of the body': (body) => sign('sha384', body, key),
      'the SHA-512 of the body': (body) => sign('sha512', body, key),
      'the SHA-256 of the SHA-256 of the body': (body) =>
        sign('sha256', createHash('sha256').update(body).digest(), key),
    },
    form: {
      'PSS padding': (body) => binary(privateKey.sign(digestOf(body), probabilisticScheme())),
      'the digest without the name of its algorithm': (body) =>
        privateEncrypt({ key, padding }, createHash('sha256').update(body).digest()),
    },
  };
}

function digestOf(body: Buffer): forge.md.MessageDigest {
  return forge.md.sha256.create().update(body.toString('latin1'), 'raw');
}

function probabilisticScheme(): forge.pss.PSS {
  const sha256 = forge.md.sha256.create();
  return forge.pss.create({
    md: sha256,
    mgf: forge.mgf.mgf1.create(forge.md.sha256.create()),
    saltLength: SALT_BYTES,
  });
}

function binary(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
