/** Test CAs: newly created, or loaded from stored PEM. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import forge from 'node-forge';
import { freshEcKey, freshRsaKey, type Random } from '../../../fixtures/base/random.ts';
import {
  type CertificatePlan,
  type EcPublicKey,
  type Issuer,
  makeCertificate,
  type Validity,
} from './certificate.ts';

const KEY_BITS = 2048;
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
/**
 * Certificates are valid this long before and after the server's time: clients check with their own
 * clocks, which neither `--date` nor an advance of the test clock moves.
 */
const VALID_YEARS = 10;

/** An RSA key, as PEM for Node and as an object of node-forge. */
export interface AuthorityKey {
  readonly pem: string;
  readonly forged: forge.pki.rsa.PrivateKey;
}

/** A server's key on P-256, as PEM for Node and in the format that `makeCertificate` accepts. */
export interface EcKey {
  readonly pem: string;
  readonly forged: EcPublicKey;
}

/** Contents of a certificate to issue; the authority adds its own random source. */
export type CertificateToIssue = Omit<CertificatePlan, 'key' | 'random'> & {
  readonly key: AuthorityKey | EcKey;
};

/** A CA that can issue certificates. */
export interface Authority {
  readonly certificatePem: string;
  readonly keyPem: string;
  /** Returns a certificate in PEM. */
  issue(wanted: CertificateToIssue): string;
}

/** Returns the validity period of all certificates that are meant to be valid. */
export function longValidity(nowMs: number): Validity {
  return { fromMs: nowMs - VALID_YEARS * YEAR_MS, toMs: nowMs + VALID_YEARS * YEAR_MS };
}

/** Returns a period of one year immediately before, or after, `longValidity`. */
export function outsideValidity(nowMs: number, side: 'before' | 'after'): Validity {
  const { fromMs, toMs } = longValidity(nowMs);
  return side === 'before'
    ? { fromMs: fromMs - YEAR_MS, toMs: fromMs }
    : { fromMs: toMs, toMs: toMs + YEAR_MS };
}

/** Creates a new RSA key with `KEY_BITS` bits. */
export async function freshSigningKey(): Promise<AuthorityKey> {
  return signingKey(await freshRsaKey(KEY_BITS));
}

/** Creates a new key on P-256. */
export async function freshServerEcKey(): Promise<EcKey> {
  const key = await freshEcKey();
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return { pem: key.export({ type: 'pkcs8', format: 'pem' }).toString(), forged: { spki } };
}

/**
 * Returns the key as PEM and as an object of node-forge.
 * @param key RSA, private
 */
export function signingKey(key: KeyObject): AuthorityKey {
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { pem, forged: forge.pki.privateKeyFromPem(pem) };
}

/**
 * Creates an authority. Its common name contains random digits, which distinguish it from others of
 * the same title.
 */
export async function createAuthority(
  title: string,
  { nowMs, random }: { nowMs: number; random: Random },
): Promise<Authority> {
  const key = await freshSigningKey();
  const certificate = makeCertificate({
    purpose: 'authority',
    commonName: `${title} ${random.bytes(4).toString('hex')}`,
    validity: longValidity(nowMs),
    key: key.forged,
    random,
  });
  return authorityOf(pemOf(certificate), key, random);
}

/**
 * Returns the authority with this certificate (PEM) and key.
 * @throws Error when node-forge cannot read the certificate
 */
export function authorityOf(certificatePem: string, key: AuthorityKey, random: Random): Authority {
  const issuer: Issuer = {
    certificate: forge.pki.certificateFromPem(certificatePem),
    key: key.forged,
  };
  return {
    certificatePem,
    keyPem: key.pem,
    issue: ({ key: { forged }, ...plan }) =>
      pemOf(makeCertificate({ ...plan, key: forged, random }, issuer)),
  };
}

/** Returns PEM with line feeds only; node-forge writes CRLF. */
function pemOf(certificate: forge.pki.Certificate): string {
  return forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
}

/** Returns a certificate in PEM signed with its own key. */
export function selfSigned({ key, ...plan }: CertificateToIssue, random: Random): string {
  return pemOf(makeCertificate({ ...plan, key: key.forged, random }));
}
