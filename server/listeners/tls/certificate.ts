/**
 * Builds and signs X.509 certificates with node-forge: RSA and SHA-256, which all known clients
 * support.
 */
import { isIP } from 'node:net';
import forge from 'node-forge';
import type { Random } from '../../../fixtures/random.ts';

/** Numbers of RFC 5280, GeneralName. */
const DNS_NAME = 2;
const IP_ADDRESS = 7;
const SERIAL_BYTES = 16;

/** Validity period of a certificate, milliseconds since the Unix epoch. */
export interface Validity {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What a certificate may be used for. */
export type Purpose = 'authority' | 'server' | 'client';

/** The contents of a certificate to issue. */
export interface CertificatePlan {
  readonly purpose: Purpose;
  readonly commonName: string;
  /** DNS names and IP addresses in their canonical form. */
  readonly names?: readonly string[];
  readonly validity: Validity;
  /** The holder's key; the certificate contains the public half. */
  readonly key: forge.pki.rsa.PrivateKey;
  readonly random: Random;
}

/** The signer of a certificate. */
export interface Issuer {
  readonly certificate: forge.pki.Certificate;
  readonly key: forge.pki.rsa.PrivateKey;
}

/** Returns a certificate signed by `issuer`, or self-signed without one. */
export function makeCertificate(plan: CertificatePlan, issuer?: Issuer): forge.pki.Certificate {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.setRsaPublicKey(plan.key.n, plan.key.e);
  certificate.serialNumber = serialNumber(plan.random);
  certificate.validity.notBefore = new Date(plan.validity.fromMs);
  certificate.validity.notAfter = new Date(plan.validity.toMs);
  certificate.setSubject([
    { name: 'organizationName', value: 'Fleetbed' },
    { name: 'commonName', value: plan.commonName },
  ]);
  const { certificate: signed, key } = issuer ?? { certificate, key: plan.key };
  certificate.setIssuer(signed.subject.attributes);
  certificate.setExtensions([
    ...usages[plan.purpose],
    { name: 'subjectKeyIdentifier' },
    { name: 'authorityKeyIdentifier', keyIdentifier: keyIdentifierOf(signed) },
    ...alternativeNames(plan.names),
  ]);
  certificate.sign(key, forge.md.sha256.create());
  return certificate;
}

const leaf = [
  { name: 'basicConstraints', critical: true, cA: false },
  { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
];

const usages: Readonly<Record<Purpose, readonly object[]>> = {
  authority: [
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
  ],
  server: [...leaf, { name: 'extKeyUsage', serverAuth: true }],
  client: [...leaf, { name: 'extKeyUsage', clientAuth: true }],
};

/** Positive and of full length in DER: the highest bit is off, the next one on. */
function serialNumber(random: Random): string {
  const bytes = random.bytes(SERIAL_BYTES);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString('hex');
}

/** Taken from the signer's certificate, which may have computed it differently. */
function keyIdentifierOf(certificate: forge.pki.Certificate): string {
  const said = certificate.getExtension('subjectKeyIdentifier');
  return said && 'subjectKeyIdentifier' in said
    ? forge.util.hexToBytes(String(said.subjectKeyIdentifier))
    : certificate.generateSubjectKeyIdentifier().getBytes();
}

function alternativeNames(names: readonly string[] = []): object[] {
  if (names.length === 0) return [];
  const altNames = names.map((name) =>
    isIP(name) ? { type: IP_ADDRESS, ip: name } : { type: DNS_NAME, value: name },
  );
  return [{ name: 'subjectAltName', altNames }];
}
