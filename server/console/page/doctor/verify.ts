/**
 * Verifies a device's signature in the browser alone: RSA with node-forge, Ed25519 with tweetnacl,
 * ECDSA with WebCrypto. Nothing leaves the page. Spec: Device authentication
 */
import forge from 'node-forge';
import nacl from 'tweetnacl';
import { bytesOf, derToRaw, pemBytes } from './bytes.ts';

/** What a device has sent: the body as it was, its key, and the header with the signature. */
export interface Evidence {
  readonly body: Uint8Array;
  readonly pubkey: string;
  readonly signature: string;
}

type Verify = (body: Uint8Array, signature: Uint8Array) => Promise<boolean>;

/** A public key that verifies. */
export interface Key {
  readonly type: 'rsa' | 'ecdsa' | 'ed25519';
  readonly verify: Verify;
  /** Ways to sign that are not the contract's, by what a client did. */
  readonly others: Readonly<Record<string, Verify>>;
}

/** Digests that clients take for SHA-256. */
const otherDigests = ['SHA-1', 'SHA-384', 'SHA-512'] as const;
const DIGEST_BYTES = 32;

const oids = {
  rsa: '1.2.840.113549.1.1.1',
  ecdsa: '1.2.840.10045.2.1',
  ed25519: '1.3.101.112',
} as const;

/** Reads a key in PEM. @throws Error with a sentence when it is none of the three kinds */
export function readKey(pem: string): Key {
  const der = pemBytes(pem, 'PUBLIC KEY');
  const asn1 = forge.asn1.fromDer(forge.util.createBuffer(binary(der)));
  const [algorithm, bits] = childrenOf(asn1);
  const [oidNode] = childrenOf(algorithm);
  const oid = typeof oidNode?.value === 'string' ? forge.asn1.derToOid(oidNode.value) : '';
  if (oid === oids.rsa) return rsaKey(asn1);
  if (oid === oids.ecdsa) return ecdsaKey(der);
  if (oid === oids.ed25519) return ed25519Key(bits);
  throw new Error(`the key has the algorithm ${oid}; RSA, ECDSA P-256 and Ed25519 are supported`);
}

/** By what each of them is called in a finding. */
function withDigests(verifier: (digest: (typeof otherDigests)[number]) => Verify) {
  return Object.fromEntries(
    otherDigests.map((digest) => [`The body was digested with ${digest}.`, verifier(digest)]),
  );
}

const forgeDigests = {
  'SHA-1': forge.md.sha1,
  'SHA-256': forge.md.sha256,
  'SHA-384': forge.md.sha384,
  'SHA-512': forge.md.sha512,
};

function rsaKey(asn1: forge.asn1.Asn1): Key {
  const key = forge.pki.publicKeyFromAsn1(asn1) as forge.pki.rsa.PublicKey;
  const digestOf = (body: Uint8Array, name: keyof typeof forgeDigests = 'SHA-256') =>
    forgeDigests[name].create().update(binary(body)).digest().getBytes();
  const verifier =
    (name?: keyof typeof forgeDigests): Verify =>
    async (body, signature) =>
      key.verify(digestOf(body, name), binary(signature));
  const verifyPss =
    (saltLength: number): Verify =>
    async (body, signature) => {
      const mask = forge.mgf.mgf1.create(forge.md.sha256.create());
      const scheme = forge.pss.create({ md: forge.md.sha256.create(), mgf: mask, saltLength });
      return key.verify(digestOf(body), binary(signature), scheme);
    };
  const longestSalt = Math.ceil(key.n.bitLength() / 8) - DIGEST_BYTES - 2;
  return {
    type: 'rsa',
    verify: verifier(),
    others: {
      ...withDigests(verifier),
      'The signature is padded by PSS.': verifyPss(DIGEST_BYTES),
      'The signature is padded by PSS, with the longest salt.': verifyPss(longestSalt),
    },
  };
}

function ecdsaKey(der: Uint8Array<ArrayBuffer>): Key {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const imported = crypto.subtle.importKey('spki', der, algorithm, false, ['verify']);
  // Without a reader it would count as unhandled before the first signature is tried.
  imported.catch(() => undefined);
  const verifier =
    (hash: string): Verify =>
    async (body, signature) => {
      const raw = derToRaw(signature);
      if (!raw) return false;
      const digest = { name: 'ECDSA', hash };
      return crypto.subtle.verify(digest, await imported, raw, Uint8Array.from(body));
    };
  return { type: 'ecdsa', verify: verifier('SHA-256'), others: withDigests(verifier) };
}

function ed25519Key(bits: forge.asn1.Asn1 | undefined): Key {
  // The bit string begins with the number of its unused bits, which is 0.
  const key = typeof bits?.value === 'string' ? bytesOf(bits.value.slice(-32)) : new Uint8Array();
  if (key.length !== nacl.sign.publicKeyLength) throw new Error('the Ed25519 key is not 32 bytes');
  return {
    type: 'ed25519',
    verify: async (body, signature) =>
      signature.length === nacl.sign.signatureLength &&
      nacl.sign.detached.verify(body, signature, key),
    others: {},
  };
}

function childrenOf(node: forge.asn1.Asn1 | undefined): forge.asn1.Asn1[] {
  return Array.isArray(node?.value) ? node.value : [];
}

/** One character a byte, as node-forge has it. */
function binary(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
