/** A self-signed loopback certificate, which is not trusted by default. */
import forge from 'node-forge';
import { freshRsaKey } from '../../fixtures/base/random.ts';

const IP_ADDRESS = 7;

/** Returns key and certificate in PEM; the certificate is its own authority. */
export async function selfSigned(): Promise<{ readonly key: string; readonly cert: string }> {
  const key = (await freshRsaKey(2048)).export({ type: 'pkcs8', format: 'pem' }).toString();
  const privateKey = forge.pki.privateKeyFromPem(key);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.setRsaPublicKey(privateKey.n, privateKey.e);
  certificate.serialNumber = '01';
  certificate.validity.notBefore = new Date('2020-01-01T00:00:00Z');
  certificate.validity.notAfter = new Date('2049-01-01T00:00:00Z');
  const name = [{ name: 'commonName', value: 'stub server' }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames: [{ type: IP_ADDRESS, ip: '127.0.0.1' }] },
  ]);
  certificate.sign(privateKey, forge.md.sha256.create());
  return { key, cert: forge.pki.certificateToPem(certificate) };
}
