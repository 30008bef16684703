/**
 * Writes the test CA's certificate in the formats that clients use: PEM, DER and a C header. Its
 * private key is never written.
 */
import { X509Certificate } from 'node:crypto';

const HEX_PER_LINE = 12;

/**
 * Returns contents by file name.
 * @param pem one certificate
 */
export function authorityFiles(pem: string): Readonly<Record<string, string | Buffer>> {
  const certificate = new X509Certificate(pem);
  const text = certificate.toString();
  return { 'ca.pem': text, 'ca.der': certificate.raw, 'ca.h': header(certificate, text) };
}

/**
 * Returns a C header with the certificate. The PEM ends with a NUL, as mbed TLS and ESP-IDF
 * require; its size includes the NUL.
 */
function header({ fingerprint256, validFrom, validTo, raw }: X509Certificate, pem: string): string {
  const lines = pem.trimEnd().split('\n');
  return `/*
 * Test CA of Fleetbed: for tests only, its key is in no safe place.
 * SHA-256 ${fingerprint256}
 * valid from ${validFrom} to ${validTo}
 */
#ifndef FLEETBED_TEST_CA_H
#define FLEETBED_TEST_CA_H

static const char fleetbed_test_ca_pem[] =
${lines.map((line) => `    "${line}\\n"`).join('\n')};

static const unsigned char fleetbed_test_ca_der[${raw.length}] = {
${hexRows(raw)}
};

#define FLEETBED_TEST_CA_PEM_SIZE sizeof(fleetbed_test_ca_pem)
#define FLEETBED_TEST_CA_DER_SIZE sizeof(fleetbed_test_ca_der)

#endif
`;
}

function hexRows(bytes: Buffer): string {
  const rows: string[] = [];
  for (let start = 0; start < bytes.length; start += HEX_PER_LINE) {
    const row = bytes.subarray(start, start + HEX_PER_LINE);
    rows.push(
      `    ${[...row].map((byte) => `0x${byte.toString(16).padStart(2, '0')}`).join(', ')},`,
    );
  }
  return rows.join('\n');
}
