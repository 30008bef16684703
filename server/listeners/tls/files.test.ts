import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock, systemClock } from '../../../fixtures/base/clock.ts';
import { systemRandom } from '../../../fixtures/base/random.ts';
import { SettingError } from '../../settings.ts';
import { startOfTest, startTestServer } from '../../testing/test-server.ts';
import { caOf, openssl, refusalOf, startTlsServer } from '../../testing/test-tls.ts';
import type { TlsSettings } from '../../tls-settings.ts';
import {
  type Authority,
  type AuthorityKey,
  createAuthority,
  freshSigningKey,
  longValidity,
  outsideValidity,
} from './authority.ts';

const DAY_MS = 86_400_000;

let folder: string;
let authority: Authority;
let key: AuthorityKey;

const filePath = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-tls-'));
  [authority, key] = await Promise.all([
    createAuthority('test', { nowMs: startOfTest, random: systemRandom }),
    freshSigningKey(),
  ]);
  const plan = { purpose: 'server', commonName: 'own', names: ['127.0.0.1'], key } as const;
  const long = longValidity(startOfTest);
  const files: Record<string, string> = {
    'ca.pem': authority.certificatePem,
    'ca-key.pem': authority.keyPem,
    'key.pem': key.pem,
    'cert.pem': authority.issue({ ...plan, validity: long }),
    'expired.pem': authority.issue({ ...plan, validity: outsideValidity(startOfTest, 'before') }),
    'early.pem': authority.issue({ ...plan, validity: outsideValidity(startOfTest, 'after') }),
    'text.pem': 'no certificate\n',
    'garbled.pem': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    'large.pem': 'a'.repeat(2 ** 20 + 1),
    'empty.pem': '',
  };
  files['both.pem'] = `${files['ca.pem']}${files['key.pem']}`;
  files['leaf-both.pem'] = `${files['cert.pem']}${files['key.pem']}`;
  for (const [name, text] of Object.entries(files)) writeFileSync(filePath(name), text);
  mkdirSync(filePath('folder'));
  await openssl(
    'pkcs8',
    '-topk8',
    '-in',
    filePath('key.pem'),
    '-out',
    filePath('locked.pem'),
    '-passout',
    'pass:x',
  );
  const subject = ['-subj', '/CN=own', '-days', '30', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const args = [
    'req',
    '-x509',
    '-nodes',
    '-keyout',
    filePath('ec-key.pem'),
    '-out',
    filePath('ec.pem'),
  ];
  await openssl(...args, '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', ...subject);
  const weak = [
    'req',
    '-x509',
    '-nodes',
    '-keyout',
    filePath('weak-key.pem'),
    '-out',
    filePath('weak.pem'),
  ];
  await openssl(...weak, '-newkey', 'rsa:512', ...subject);
});

afterAll(() => rmSync(folder, { recursive: true }));

const placed = ['certFile', 'keyFile', 'clientCaFile', 'caKeepFile'] as const;

/** Returns the settings with their files in the test's folder. */
function resolvePaths(tls: TlsSettings): TlsSettings {
  const entries = Object.entries(tls).map(([name, value]) => [
    name,
    placed.some((one) => one === name) ? filePath(String(value)) : value,
  ]);
  return Object.fromEntries(entries);
}

describe('unusable TLS files', () => {
  it.each<[string, TlsSettings]>([
    ['certificate file .*: there is no such file', { certFile: 'none.pem', keyFile: 'key.pem' }],
    ['key file .*: there is no such file', { certFile: 'cert.pem', keyFile: 'none.pem' }],
    ['certificate file .*: it is a folder', { certFile: 'folder', keyFile: 'key.pem' }],
    ['certificate file .*: it is too large', { certFile: 'large.pem', keyFile: 'key.pem' }],
    ['certificate file .* holds no certificate', { certFile: 'text.pem', keyFile: 'key.pem' }],
    ['certificate file .* holds no certificate', { certFile: 'empty.pem', keyFile: 'key.pem' }],
    ['certificate that cannot be read', { certFile: 'garbled.pem', keyFile: 'key.pem' }],
    ['key file .* holds no private key', { certFile: 'cert.pem', keyFile: 'cert.pem' }],
    ['key with a passphrase', { certFile: 'cert.pem', keyFile: 'locked.pem' }],
    ['does not belong to the certificate', { certFile: 'cert.pem', keyFile: 'ca-key.pem' }],
    ['expired at .* renew it', { certFile: 'expired.pem', keyFile: 'key.pem' }],
    ['is not valid before', { certFile: 'early.pem', keyFile: 'key.pem' }],
    ['cannot be used with its key', { certFile: 'weak.pem', keyFile: 'weak-key.pem' }],
    ['client CA file .*: there is no such file', { clientCaFile: 'none.pem' }],
    ['client CA file .* holds no certificate', { clientCaFile: 'key.pem' }],
    ['certificate that is not a CA certificate', { clientCaFile: 'cert.pem' }],
    ['client CA file .* expired', { clientCaFile: 'expired.pem' }],
    ['CA file .*: it is a folder', { caKeepFile: 'folder' }],
    ['CA file .* cannot be created: there is no such', { caKeepFile: 'none/ca.pem' }],
    ['CA file .* holds no private key', { caKeepFile: 'ca.pem' }],
    ['CA file .* holds no certificate', { caKeepFile: 'ca-key.pem' }],
    ['its RSA key', { caKeepFile: 'both.pem' }],
    ['its RSA key', { caKeepFile: 'leaf-both.pem' }],
  ])('prevent the start with one sentence: %s', async (sentence, tls) => {
    const starting = startTestServer({ tls: resolvePaths(tls), clock: systemClock });
    await expect(starting).rejects.toThrow(SettingError);
    await expect(starting).rejects.toThrow(new RegExp(`^TLS [^\\n]*${sentence}[^\\n]*$`));
  });

  it("are checked for expiry by the server's clock", async () => {
    const tls = { certFile: filePath('ec.pem'), keyFile: filePath('ec-key.pem') };
    const laterClock = new ManualClock(systemClock.now() + 31 * DAY_MS);
    await expect(startTestServer({ tls, clock: laterClock })).rejects.toThrow('expired at');
    const earlierClock = new ManualClock(systemClock.now() - DAY_MS);
    await expect(startTestServer({ tls, clock: earlierClock })).rejects.toThrow(
      'is not valid before',
    );
  });
});

describe('a server with its own certificate', () => {
  it.each([
    ['RSA, of an authority', 'cert.pem', 'key.pem', 'ca.pem'],
    ['P-256, signed by itself', 'ec.pem', 'ec-key.pem', 'ec.pem'],
  ])('serves clients that trust it and has no test CA: %s', async (_, cert, keyFile, ca) => {
    const server = await startTestServer({
      tls: { certFile: filePath(cert), keyFile: filePath(keyFile) },
      clock: systemClock,
    });
    expect(server.tls).toEqual({ brokenTls: {} });
    expect(await refusalOf(server.baseUrl, { ca: readFileSync(filePath(ca)) })).toBe('answered');
    expect(await refusalOf(server.baseUrl, {})).toMatch(/^(DEPTH_ZERO|UNABLE)/);
    await server.close();
  });
});

describe('a test CA kept in a file', () => {
  it('is created once, readable by its owner, and reused by later servers', async () => {
    const caKeepFile = filePath('kept.pem');
    const first = await startTlsServer({ caKeepFile });
    const kept = readFileSync(caKeepFile, 'utf8');
    expect(kept).toContain(caOf(first));
    expect(statSync(caKeepFile).mode & 0o777).toBe(0o600);
    const second = await startTlsServer({ caKeepFile });
    expect(caOf(second)).toBe(caOf(first));
    expect(await refusalOf(second.baseUrl, { ca: caOf(first) })).toBe('answered');
    expect(readFileSync(caKeepFile, 'utf8')).toBe(kept);
    expect(readdirSync(folder).filter((name) => name.startsWith('kept.pem'))).toHaveLength(1);
    await Promise.all([first.close(), second.close()]);
  });

  it('is shared by two servers that start at once', async () => {
    const caKeepFile = filePath('raced.pem');
    const servers = await Promise.all([
      startTlsServer({ caKeepFile }),
      startTlsServer({ caKeepFile }),
    ]);
    const [one, other] = servers.map(caOf);
    expect(one).toBe(other);
    await Promise.all(servers.map((server) => server.close()));
  });

  it('may come from another tool if it is an RSA key', async () => {
    const parts = [
      '-keyout',
      filePath('other-key.pem'),
      '-out',
      filePath('other-ca.pem'),
      '-days',
      '30',
    ];
    await openssl('req', '-x509', '-nodes', '-newkey', 'rsa:2048', ...parts, '-subj', '/CN=Our CA');
    const [ca, caKey] = ['other-ca.pem', 'other-key.pem'].map((name) =>
      readFileSync(filePath(name), 'utf8'),
    );
    writeFileSync(filePath('other.pem'), `${caKey}${ca}`);
    const server = await startTlsServer(
      { caKeepFile: filePath('other.pem') },
      { clock: systemClock },
    );
    expect(caOf(server)).toBe(ca);
    expect(await refusalOf(server.baseUrl, { ca })).toBe('answered');
    await server.close();
  });
});
