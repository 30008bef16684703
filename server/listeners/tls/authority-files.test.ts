import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../../testing/test-server.ts';
import { caOf, openssl, startTlsServer } from '../../testing/test-tls.ts';
import { authorityFiles } from './authority-files.ts';

let folder: string;
let server: TestServer;
let files: ReturnType<typeof authorityFiles>;

const filePath = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-ca-'));
  server = await startTlsServer({ brokenTls: true });
  files = authorityFiles(caOf(server));
  for (const [name, content] of Object.entries(files)) writeFileSync(filePath(name), content);
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/**
 * Returns the output of `openssl s_client` for a server, trusting only this file and checking the
 * address.
 */
function askWithOpenssl(url: string, caFile: string): Promise<string> {
  const { host } = new URL(url);
  const trust = ['-CAfile', caFile, '-no-CApath', '-verify_ip', '127.0.0.1'];
  const minProtocol = ['-min_protocol', 'TLSv1.2'];
  return openssl(
    's_client',
    '-connect',
    host,
    '-verify_return_error',
    '-x509_strict',
    ...trust,
    ...minProtocol,
  );
}

async function pemShownBy(url: string): Promise<string> {
  const output = await openssl('s_client', '-connect', new URL(url).host);
  const [pem] = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----\n/.exec(output) ?? [];
  if (pem === undefined) throw new Error(`no certificate in: ${output}`);
  return pem;
}

describe('the test CA in its file formats', () => {
  it('is the same certificate in PEM, in DER and in C', () => {
    const header = String(files['ca.h']);
    const der = files['ca.der'] as Buffer;
    const array = /fleetbed_test_ca_der\[(\d+)\] = \{([^}]*)\}/.exec(header);
    const bytes = Buffer.from(array?.[2]?.match(/0x[0-9a-f]{2}/g)?.map(Number) ?? []);
    expect(bytes.equals(der)).toBe(true);
    expect(Number(array?.[1])).toBe(der.length);
    const literals = header.match(/^ {4}"(.*)\\n";?$/gm) ?? [];
    const text = literals.map((line) => line.replace(/^ {4}"|\\n";?$/g, '')).join('\n');
    expect(`${text}\n`).toBe(files['ca.pem']);
    const base64 = String(files['ca.pem']).replace(/-----[^-]+-----|\n/g, '');
    expect(base64).toBe(der.toString('base64'));
  });

  it('is a C header that may be included twice and contains only ASCII', () => {
    const header = String(files['ca.h']);
    expect(header).toMatch(/#ifndef (\w+)\n#define \1\n[\s\S]*#endif\n$/);
    expect(header).toMatch(/^[\x20-\x7e\n]+$/);
    expect(header.match(/\*\//g)).toHaveLength(1);
  });

  it('never contains a private key', () => {
    expect(Object.keys(files)).toEqual(['ca.pem', 'ca.der', 'ca.h']);
    for (const content of Object.values(files)) {
      expect(content.toString('latin1')).not.toContain('PRIVATE');
      expect(content.length).toBeLessThan(16_384);
    }
  });

  it('is readable by openssl in both formats', async () => {
    const wanted = ['-noout', '-fingerprint', '-sha256'];
    const ofPem = await openssl('x509', '-in', filePath('ca.pem'), ...wanted);
    expect(await openssl('x509', '-in', filePath('ca.der'), '-inform', 'DER', ...wanted)).toBe(
      ofPem,
    );
    expect(files['ca.h']).toContain(ofPem.trim().split('=')[1]);
  });
});

describe('openssl as an outside client', () => {
  it('verifies the chain strictly for exactly the served names', async () => {
    writeFileSync(filePath('own.pem'), await pemShownBy(server.baseUrl));
    const strict = [
      'verify',
      '-x509_strict',
      '-purpose',
      'sslserver',
      '-CAfile',
      filePath('ca.pem'),
    ];
    const named = ['-verify_hostname', 'localhost', '-verify_ip', '::1'];
    expect(await openssl(...strict, ...named, filePath('own.pem'))).toContain('own.pem: OK');
    const otherCheck = openssl(...strict, '-verify_hostname', 'example.com', filePath('own.pem'));
    await expect(otherCheck).rejects.toThrow('hostname mismatch');
    const asClient = ['verify', '-purpose', 'sslclient', '-CAfile', filePath('ca.pem')];
    await expect(openssl(...asClient, filePath('own.pem'))).rejects.toThrow('purpose');
  });

  it('connects to the server with the test CA', async () => {
    expect(await askWithOpenssl(server.baseUrl, filePath('ca.pem'))).toContain(
      'Verify return code: 0',
    );
  });

  it.each([
    ['expired', 'certificate has expired'],
    ['notYetValid', 'certificate is not yet valid'],
    ['wrongHost', 'IP address mismatch'],
    ['unknownCa', 'unable to get local issuer certificate'],
    ['selfSigned', 'self-signed certificate'],
    ['oldProtocol', 'alert protocol version'],
  ])('refuses the broken certificate %s', async (member, reason) => {
    const handshake = askWithOpenssl(`${server.tls?.brokenTls[member]}`, filePath('ca.pem'));
    await expect(handshake).rejects.toThrow(reason);
  });
});
