import { describe, expect, it } from 'vitest';
import { completeSettings, SettingError } from '../../settings.ts';
import type { TlsSettings } from './settings.ts';

const own = { certFile: 'cert.pem', keyFile: 'key.pem' };

describe('settings of TLS', () => {
  it.each<TlsSettings>([
    {},
    { gallery: true, names: ['a.test'], caKeepFile: 'ca.pem', clientCaFile: 'clients.pem' },
    { ...own, clientCaFile: 'clients.pem', gallery: false, names: [] },
  ])('are kept as they are: %o', (tls) => {
    expect(completeSettings({ tls }).tls).toEqual(tls);
  });

  it('are absent unless they were given', () => {
    expect(completeSettings({})).not.toHaveProperty('tls');
  });

  it.each<[TlsSettings, string]>([
    [{ certFile: 'cert.pem' }, 'TLS has a certificate file but no key file; give both'],
    [{ keyFile: 'key.pem' }, 'TLS has a key file but no certificate file; give both'],
    [{ ...own, names: ['a.test'] }, 'names are those of the certificate file'],
    [{ ...own, gallery: true }, 'the gallery is made with the test CA'],
    [{ ...own, caKeepFile: 'ca.pem' }, 'there is no test CA to keep'],
    [{ names: [''] }, 'TLS name "" must be a host name such as update.example.com'],
    [{ names: ['a.test', 'https://a.test'] }, 'TLS name "https://a.test" must be'],
    [{ names: ['a.test:443'] }, 'an IP address without a port'],
    [{ names: Array.from({ length: 101 }, (_, n) => `n${n}`) }, 'at most 100 names, not 101'],
  ])('cannot be %o', (tls, sentence) => {
    expect(() => completeSettings({ tls })).toThrow(SettingError);
    expect(() => completeSettings({ tls })).toThrow(sentence);
  });
});
