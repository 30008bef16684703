/**
 * Builds and signs X.509 certificates with node-forge. Signatures use RSA and SHA-256, which all
 * known clients support. The certified key may also be on P-256, which node-forge does not support.
 */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import forge from 'node-forge';
import type { Random } from '../../../fixtures/base/random.ts';

/** Type numbers of GeneralName in RFC 5280. */
const DNS_NAME = 2;
const IP_ADDRESS = 7;
const SERIAL_BYTES = 16;

/** Validity period of a certificate, milliseconds since the Unix epoch. */
export interface Validity {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The permitted use of a certificate. */
export type CertificatePurpose = 'authority' | 'server' | 'client';

/** The contents of a certificate to issue. */
export interface CertificatePlan {
  readonly purpose: CertificatePurpose;
  readonly commonName: string;
  /** Subject alternative names: DNS names and IP addresses in canonical form. */
  readonly names?: readonly string[];
  readonly validity: Validity;
  /** The certified key; the certificate contains only its public half. */
  readonly key: forge.pki.rsa.PrivateKey | EcPublicKey;
  readonly random: Random;
}

/** A public key on P-256. */
export interface EcPublicKey {
  /** SubjectPublicKeyInfo in DER. */
  readonly spki: Buffer;
}

/** The signer of a certificate. */
export interface Issuer {
  readonly certificate: forge.pki.Certificate;
  readonly key: forge.pki.rsa.PrivateKey;
}

/**
 * Returns a certificate signed by `issuer`, or self-signed when there is none.
 * @throws Error for a key on P-256 without an issuer
 */
export function makeCertificate(plan: CertificatePlan, issuer?: Issuer): forge.pki.Certificate {
  const certificate = forge.pki.createCertificate();
  const { spki, rsa = issuer?.key } =
    'spki' in plan.key ? { spki: plan.key.spki } : { rsa: plan.key };
  if (!rsa) throw new Error('a key on P-256 signs no certificate');
  certificate.publicKey = forge.pki.setRsaPublicKey(rsa.n, rsa.e);
  certificate.serialNumber = serialNumber(plan.random);
  certificate.validity.notBefore = new Date(plan.validity.fromMs);
  certificate.validity.notAfter = new Date(plan.validity.toMs);
  certificate.setSubject([
    { name: 'organizationName', value: 'Fleetbed' },
    { name: 'commonName', value: plan.commonName },
  ]);
  const { certificate: signed, key } = issuer ?? { certificate, key: rsa };
  certificate.setIssuer(signed.subject.attributes);
  certificate.setExtensions([
    ...(spki ? usagesOfEc : usages[plan.purpose]),
    spki ? keyIdentifierIn(spki) : { name: 'subjectKeyIdentifier' },
    { name: 'authorityKeyIdentifier', keyIdentifier: keyIdentifierOf(signed) },
    ...alternativeNames(plan.names),
  ]);
  certificate.sign(key, forge.md.sha256.create());
  if (spki) putKey(certificate, spki, key);
  return certificate;
}

/** Index of the public key in TBSCertificate (RFC 5280). */
const KEY_AT = 6;

/** Replaces the public key in a certificate, and signs the certificate again. */
function putKey(certificate: forge.pki.Certificate, spki: Buffer, signer: Issuer['key']): void {
  const { tbsCertificate } = certificate;
  const members = tbsCertificate.value as forge.asn1.Asn1[];
  members[KEY_AT] = forge.asn1.fromDer(spki.toString('latin1'));
  const digest = forge.md.sha256.create();
  digest.update(forge.asn1.toDer(tbsCertificate).getBytes());
  certificate.signature = signer.sign(digest);
}

const ofNoAuthority = { name: 'basicConstraints', critical: true, cA: false };
const leaf = [
  ofNoAuthority,
  { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
];

/** Only servers have P-256 keys here. Such a key signs but does not encrypt session keys. */
const usagesOfEc = [
  ofNoAuthority,
  { name: 'keyUsage', critical: true, digitalSignature: true },
  { name: 'extKeyUsage', serverAuth: true },
];

const usages: Readonly<Record<CertificatePurpose, readonly object[]>> = {
  authority: [
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
  ],
  server: [...leaf, { name: 'extKeyUsage', serverAuth: true }],
  client: [...leaf, { name: 'extKeyUsage', clientAuth: true }],
};

/** Length of an uncompressed point, with which the SubjectPublicKeyInfo of a P-256 key ends. */
const POINT_BYTES = 65;

/** Returns the key identifier: SHA-1 over the point. RFC 5280, section 4.2.1.2 */
function keyIdentifierIn(spki: Buffer): object {
  const digest = createHash('sha1').update(spki.subarray(-POINT_BYTES)).digest().toString('latin1');
  const { asn1, pki } = forge;
  const value = asn1.create(asn1.Class.UNIVERSAL, asn1.Type.OCTETSTRING, false, digest);
  return { id: pki.oids.subjectKeyIdentifier, value };
}

/**
 * Clears the highest bit and sets the next one, so that the number is positive and has full length
 * in DER.
 */
function serialNumber(random: Random): string {
  const bytes = random.bytes(SERIAL_BYTES);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString('hex');
}

/** Read from the signer's certificate, which may use another method to compute it. */
function keyIdentifierOf(certificate: forge.pki.Certificate): string {
  const extension = certificate.getExtension('subjectKeyIdentifier');
  return extension && 'subjectKeyIdentifier' in extension
    ? forge.util.hexToBytes(String(extension.subjectKeyIdentifier))
    : certificate.generateSubjectKeyIdentifier().getBytes();
}

function alternativeNames(names: readonly string[] = []): object[] {
  if (names.length === 0) return [];
  const altNames = names.map((name) =>
    isIP(name) ? { type: IP_ADDRESS, ip: name } : { type: DNS_NAME, value: name },
  );
  return [{ name: 'subjectAltName', altNames }];
}
