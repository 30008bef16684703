import { describe, expect, it } from 'vitest';
import { completeSettings, SettingError } from './settings.ts';
import { canonicalName, type TlsSettings } from './tls-settings.ts';

const own = { certFile: 'cert.pem', keyFile: 'key.pem' };

describe('valid TLS settings', () => {
  it.each<TlsSettings>([
    {},
    { brokenTls: true, names: ['a.test'], caKeepFile: 'ca.pem', clientCaFile: 'clients.pem' },
    { ...own, clientCaFile: 'clients.pem', brokenTls: false, names: [] },
  ])('are kept unchanged: %o', (tls) => {
    expect(completeSettings({ tls }).tls).toEqual(tls);
  });

  it('are absent unless they are given', () => {
    expect(completeSettings({})).not.toHaveProperty('tls');
  });

  it.each<[TlsSettings, string]>([
    [{ certFile: 'cert.pem' }, 'TLS has a certificate file but no key file; give both'],
    [{ keyFile: 'key.pem' }, 'TLS has a key file but no certificate file; give both'],
    [{ ...own, names: ['a.test'] }, 'has its own names; leave out TLS names, or the certificate'],
    [
      { ...own, brokenTls: true },
      'has no test CA, which broken TLS requires; leave out broken TLS',
    ],
    [{ ...own, caKeepFile: 'ca.pem' }, 'has no test CA to keep; leave out the file of the test CA'],
    [
      { certFile: 'c', keyFile: 'k', keyType: 'ec' },
      'TLS with your own certificate file has its own key; leave out the TLS key type',
    ],
    [{ names: [''] }, 'TLS name "" must be a host name such as update.example.com'],
    [{ names: ['a.test', 'https://a.test'] }, 'TLS name "https://a.test" must be'],
    [{ names: ['a.test:443'] }, 'an IP address without a port'],
    [{ names: Array.from({ length: 101 }, (_, n) => `n${n}`) }, 'at most 100 names, not 101'],
  ])('do not include %o', (tls, sentence) => {
    expect(() => completeSettings({ tls })).toThrow(SettingError);
    expect(() => completeSettings({ tls })).toThrow(sentence);
  });
});

describe('a host name for a certificate', () => {
  it.each([
    ['localhost', 'localhost'],
    ['Update.Example.COM', 'update.example.com'],
    ['*.example.com', '*.example.com'],
    ['my_service', 'my_service'],
    ['xn--gert-loa.example', 'xn--gert-loa.example'],
    ['192.168.1.10', '192.168.1.10'],
    ['FD00:0::0017', 'fd00::17'],
    ['::ffff:10.1.2.3', '::ffff:a01:203'],
    ['fe80::1%eth0', 'fe80::1'],
  ])('is normalized from %s to %s', (text, written) => {
    expect(canonicalName(text)).toBe(written);
  });

  it.each([
    '',
    ' ',
    '*',
    'a b',
    'a..b',
    '.a',
    'a.',
    '-a.example',
    'a-.example',
    'a.*.example',
    '*.*.example',
    'https://a.example',
    'a.example:443',
    'a.example/path',
    '[::1]',
    '1.2.3',
    '256.1.1.1',
    '1.2.3.4%a',
    'gerät.example',
    'a\0b',
    'a\n',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(127)}`,
    `${'a.'.repeat(130)}example`,
  ])('is refused: %j', (text) => {
    expect(canonicalName(text)).toBeUndefined();
  });
});
