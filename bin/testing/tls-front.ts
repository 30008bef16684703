/** A TLS front end with a self-signed certificate for a plain server. */
import { generateKeyPairSync } from 'node:crypto';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import forge from 'node-forge';

const DAY_MS = 86_400_000;

export interface TlsFront {
  readonly baseUrl: string;
  /** The certificate, PEM, which is its own CA. */
  readonly certificatePem: string;
  close(): void;
}

/**
 * Listens on a free port of the loopback interface.
 * @param nowMs time at which the certificate is valid
 */
export async function openTlsFront(baseUrl: string, nowMs: number): Promise<TlsFront> {
  const { key, certificatePem } = selfSigned(nowMs);
  const open = new Set<Socket>();
  const server = createServer({ key, cert: certificatePem }, (outside) => {
    const inside = connect(Number(new URL(baseUrl).port), '127.0.0.1');
    for (const socket of [outside, inside]) {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
      // Either side may close the connection at any time.
      socket.on('error', () => socket.destroy());
    }
    outside.pipe(inside).pipe(outside);
  });
  // A client that does not trust the certificate disconnects in the handshake.
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    certificatePem,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Returns a self-signed certificate for 127.0.0.1 and its key, both in PEM. */
export function selfSigned(nowMs: number) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const signer = forge.pki.privateKeyFromPem(key);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.setRsaPublicKey(signer.n, signer.e);
  certificate.serialNumber = '01';
  certificate.validity.notBefore = new Date(nowMs - DAY_MS);
  certificate.validity.notAfter = new Date(nowMs + DAY_MS);
  const name = [{ name: 'commonName', value: '127.0.0.1' }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
  ]);
  certificate.sign(signer, forge.md.sha256.create());
  return { key, certificatePem: forge.pki.certificateToPem(certificate) };
}
