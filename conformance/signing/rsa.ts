/** Device keys of RSA: node-forge signs; node:crypto finds the primes, 10 times as fast. */
import type { KeyObject } from 'node:crypto';
import forge from 'node-forge';
import { freshRsaKey } from '../../fixtures/random.ts';
import type { SigningKey } from './signing-key.ts';

const MODULUS_BITS = 2048;
const SALT_BYTES = 32;

/** A fresh RSA-2048 key. Its primes are the system's choice and cannot be seeded. */
export async function makeRsaKey(): Promise<SigningKey> {
  return rsaKeyOf(await freshRsaKey(MODULUS_BITS));
}

/** The signing key that node-forge makes of a private key. */
function rsaKeyOf(key: KeyObject): SigningKey {
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  const privateKey = forge.pki.privateKeyFromPem(pem);
  const publicKey = forge.pki.setRsaPublicKey(privateKey.n, privateKey.e);
  return {
    keyType: 'rsa',
    publicKeyPem: forge.pki.publicKeyToPem(publicKey).replaceAll('\r', ''),
    sign: (body) => binary(privateKey.sign(digestOf(body), 'RSASSA-PKCS1-V1_5')),
    wrongForms: {
      'PSS padding': (body) => binary(privateKey.sign(digestOf(body), probabilisticScheme())),
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
