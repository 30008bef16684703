import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemRandom } from '../../../fixtures/base/random.ts';
import { acceptedDevice } from '../../testing/test-device.ts';
import { journalPage } from '../../testing/test-journal.ts';
import { startOfTest, type TestServer } from '../../testing/test-server.ts';
import {
  type ClientTls,
  caOf,
  refusalOf,
  sendSecurely,
  startTlsServer,
} from '../../testing/test-tls.ts';
import {
  type Authority,
  type AuthorityKey,
  createAuthority,
  freshSigningKey,
  longValidity,
  outsideValidity,
  selfSigned,
} from './authority.ts';
import type { CertificatePurpose, Validity } from './certificate.ts';

let folder: string;
let authority: Authority;
let unknownCa: Authority;
let key: AuthorityKey;
let server: TestServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-mtls-'));
  const given = { nowMs: startOfTest, random: systemRandom };
  [authority, unknownCa, key] = await Promise.all([
    createAuthority('client CA', given),
    createAuthority('client CA', given),
    freshSigningKey(),
  ]);
  const clientCaFile = join(folder, 'clients.pem');
  writeFileSync(clientCaFile, authority.certificatePem);
  const client = { key: key.pem, cert: clientCertificate() };
  server = await startTlsServer({ clientCaFile, brokenTls: true }, { client });
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

function clientCertificate(
  changes: { by?: Authority; purpose?: CertificatePurpose; validity?: Validity } = {},
): string {
  const { by = authority, ...plan } = changes;
  const validity = longValidity(startOfTest);
  return by.issue({ purpose: 'client', commonName: 'device', validity, key, ...plan });
}

describe('a server that requires client certificates', () => {
  it('serves a client with a certificate of its authority', async () => {
    expect((await acceptedDevice(server, 'with-certificate')).token).toMatch(/\./);
  });

  it.each<[string, () => ClientTls, RegExp, string]>([
    ['without any', () => ({}), /CERTIFICATE_REQUIRED/, 'sent no certificate'],
    [
      'without any, over TLS 1.2',
      () => ({ maxVersion: 'TLSv1.2' }),
      /ECONNRESET|EPROTO|ERR_SSL/,
      'sent no certificate',
    ],
    [
      'of another authority of the same title',
      () => ({ key: key.pem, cert: clientCertificate({ by: unknownCa }) }),
      /UNKNOWN_CA|ECONNRESET/,
      'is not from a CA of --tls-client-ca',
    ],
    [
      'signed by itself',
      () => {
        const plan = { purpose: 'client', commonName: 'device', key } as const;
        const validity = longValidity(startOfTest);
        return { key: key.pem, cert: selfSigned({ ...plan, validity }, systemRandom) };
      },
      /UNKNOWN_CA|BAD_CERTIFICATE|ECONNRESET/,
      'is not from a CA of --tls-client-ca',
    ],
    [
      'that has expired',
      () => {
        const validity = outsideValidity(startOfTest, 'before');
        return { key: key.pem, cert: clientCertificate({ validity }) };
      },
      /CERTIFICATE_EXPIRED|ECONNRESET/,
      'has expired',
    ],
    [
      'that is for servers',
      () => ({ key: key.pem, cert: clientCertificate({ purpose: 'server' }) }),
      /UNSUPPORTED_CERTIFICATE|ECONNRESET/,
      'is not for clients',
    ],
  ])('refuses a client by its certificate: %s', async (_, client, code, reason) => {
    const tls = { ca: caOf(server), ...client() };
    const { added } = (await journalPage(server)).size;
    expect(await refusalOf(server.baseUrl, tls)).toMatch(code);
    const { entries } = await journalPage(server, `kind=unparsable&after=${added}`);
    expect(entries).toMatchObject([
      { refusal: { error: expect.stringMatching(`^the client.* ${reason}`) } },
    ]);
  });

  it('requests none in the ports with broken TLS', async () => {
    const url = `${server.tls?.brokenTls.expired}`;
    const careless = { rejectUnauthorized: false };
    expect((await sendSecurely(url, { tls: careless })).status).toBe(404);
  });
});
