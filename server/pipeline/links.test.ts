import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { createLinkSigner } from '../crypto/link-signature.ts';
import { completeSettings } from '../settings.ts';
import { publish } from '../testing/test-artifacts.ts';
import { acceptedDevice } from '../testing/test-device.ts';
import { startTestServer } from '../testing/test-server.ts';
import { checkLink, makeLink } from './links.ts';

const nowMs = Date.parse('2026-11-21T12:00:00.250Z');
const origin = 'http://fleet.example';
const path = '/files/a%2Fb%20%C3%A9';

function servicesOf(headerPrefix = 'X-SVC', linkLifetimeSeconds = 60) {
  return {
    linkSigner: createLinkSigner(seededRandom('links').bytes(32)),
    headerNames: vendorNames(headerPrefix),
    settings: completeSettings({ headerPrefix, linkLifetimeSeconds }),
  };
}

function linkOf(services = servicesOf()): URL {
  return new URL(makeLink({ ...services, origin, nowMs }, path).uri);
}

/** Returns the status for a link, which is 200 when the link is valid. */
function statusFor(link: URL, { services = servicesOf(), atMs = nowMs } = {}): number {
  const { pathname, searchParams: search } = link;
  return checkLink(services, { path: pathname, search, nowMs: atMs })?.status ?? 200;
}

function altered(change: (link: URL) => void): URL {
  const link = linkOf();
  change(link);
  return link;
}

describe('a signed artifact link', () => {
  it('expires in whole UTC seconds, not before the full lifetime', () => {
    const { uri, expire } = makeLink({ ...servicesOf(), origin, nowMs }, path);
    expect(expire).toBe('2026-11-21T12:01:01.000Z');
    expect(new URL(uri).searchParams.get('x-svc-expire')).toBe(expire);
    expect(uri.startsWith(`${origin}${path}?`)).toBe(true);
  });

  it('is valid for repeated use until its expiry', () => {
    expect(statusFor(linkOf())).toBe(200);
    expect(statusFor(linkOf(), { atMs: Date.parse('2026-11-21T12:01:00.999Z') })).toBe(200);
  });

  it('returns 403 from its expiry onwards', () => {
    expect(statusFor(linkOf(), { atMs: Date.parse('2026-11-21T12:01:01.000Z') })).toBe(403);
    expect(statusFor(linkOf(), { atMs: nowMs + 1e12 })).toBe(403);
  });

  it('is valid with any spelling of the escapes in its path', () => {
    expect(statusFor(altered((link) => (link.pathname = '/files/a%2fb%20%c3%a9')))).toBe(200);
  });

  it.each<[string, (link: URL) => void]>([
    ['another path', (link) => (link.pathname = '/files/other')],
    ['a later expiry', (link) => link.searchParams.set('x-svc-expire', '2027-01-01T00:00:00.000Z')],
    [
      'the same expiry in another notation',
      (link) => link.searchParams.set('x-svc-expire', '2026-11-21T12:01:01Z'),
    ],
    ['another tenant', (link) => link.searchParams.set('tenant_id', 'other')],
    ['a signature cut short', (link) => cutSignature(link, -1)],
    ['half a signature', (link) => cutSignature(link, 20)],
    ['another signature', (link) => link.searchParams.set('x-svc-signature', 'A'.repeat(43))],
    [
      'a longer signature',
      (link) => link.searchParams.set('x-svc-signature', `${signatureIn(link)}A`),
    ],
  ])('returns 403 for %s', (_, change) => {
    expect(statusFor(altered(change))).toBe(403);
  });

  it('returns 403 at another server with another secret', () => {
    const services = {
      ...servicesOf(),
      linkSigner: createLinkSigner(seededRandom('other').bytes(32)),
    };
    expect(statusFor(linkOf(), { services })).toBe(403);
  });

  it('cannot be forged by a path that imitates the signed fields', () => {
    const laterExpiry = '2099-01-01T00:00:00.000Z';
    const type = encodeURIComponent(`x/device\nexpire=${laterExpiry}\ntenant_id=t`);
    const given = new URL(makeLink({ ...servicesOf(), origin, nowMs }, `/${type}/device`).uri);
    const expiry = given.searchParams.get('x-svc-expire');
    const imitatedFields = `t/device\nexpire=${expiry}\ntenant_id=`;
    const forged = altered((link) => {
      link.pathname = '/x/device';
      link.searchParams.set('x-svc-expire', laterExpiry);
      link.searchParams.set('x-svc-signature', signatureIn(given));
      link.searchParams.set('tenant_id', imitatedFields);
    });
    expect(statusFor(forged)).toBe(403);
  });

  it('returns 403 when an escaped slash becomes a real one', () => {
    const unescaped = altered((link) => (link.pathname = link.pathname.replace('%2F', '/')));
    expect(statusFor(unescaped)).toBe(403);
  });

  it.each<[string, (link: URL) => void]>([
    ['no expiry', (link) => link.searchParams.delete('x-svc-expire')],
    ['no signature', (link) => link.searchParams.delete('x-svc-signature')],
    ['an empty signature', (link) => link.searchParams.set('x-svc-signature', '')],
    [
      'an expiry that is not a date-time',
      (link) => link.searchParams.set('x-svc-expire', 'tomorrow'),
    ],
    [
      'an expiry without an offset',
      (link) => link.searchParams.set('x-svc-expire', '2026-11-21T12:01:01'),
    ],
    ['an expiry in Unix seconds', (link) => link.searchParams.set('x-svc-expire', '1795262461')],
    ['no query', (link) => (link.search = '')],
  ])('returns 400 for %s', (_, change) => {
    expect(statusFor(altered(change))).toBe(400);
  });

  it('is valid without its empty tenant', () => {
    expect(statusFor(altered((link) => link.searchParams.delete('tenant_id')))).toBe(200);
  });

  it('is created and read under the configured prefix only', () => {
    const services = servicesOf('X-MEN');
    const link = linkOf(services);
    expect(statusFor(link, { services })).toBe(200);
    expect([...link.searchParams.keys()]).toEqual(['x-men-expire', 'x-men-signature', 'tenant_id']);
    expect(statusFor(linkOf(), { services })).toBe(400);
    expect(statusFor(link)).toBe(400);
  });
});

function signatureIn(link: URL): string {
  return link.searchParams.get('x-svc-signature') ?? '';
}

function cutSignature(link: URL, end: number): void {
  link.searchParams.set('x-svc-signature', signatureIn(link).slice(0, end));
}

describe('the origin of an artifact link', () => {
  const forwarded = { 'X-Forwarded-Host': 'fleet.example', 'X-Forwarded-Proto': 'https' };

  async function originsOf(trustProxy: boolean, headers: Readonly<Record<string, string>>) {
    const server = await startTestServer({ trustProxy });
    try {
      const { token } = await acceptedDevice(server, 'links');
      const parameters = { id: await publish(server) };
      const response = await server.call('get-artifact-link', { token, parameters, headers });
      const { origin, pathname } = new URL(response.json<{ uri: string }>().uri);
      return { link: origin, path: pathname, own: server.baseUrl };
    } finally {
      await server.close();
    }
  }

  it('is the one that the caller used', async () => {
    const { link, own } = await originsOf(false, {});
    expect(link).toBe(own);
  });

  it('ignores the headers of an untrusted proxy', async () => {
    const { link, own } = await originsOf(false, forwarded);
    expect(link).toBe(own);
  });

  it('is the first one that a trusted proxy names', async () => {
    const headers = {
      'X-Forwarded-Host': 'fleet.example:8443, inner',
      'X-Forwarded-Proto': 'https, http',
    };
    expect((await originsOf(true, headers)).link).toBe('https://fleet.example:8443');
  });

  it.each(['evil.example/path?', 'a b', 'user@host', 'host:port', ''])(
    "is the server's own when the proxy names an invalid host: %s",
    async (host) => {
      const { link, own } = await originsOf(true, { 'X-Forwarded-Host': host });
      expect(link).toBe(own);
    },
  );

  it.each([
    ['/fleet', '/fleet/storage/'],
    ['/fleet/eu-1/', '/fleet/eu-1/storage/'],
    ['/fleet, /inner', '/fleet/storage/'],
  ])('includes the path of a trusted proxy: %s', async (prefix, pathPrefix) => {
    const headers = { ...forwarded, 'X-Forwarded-Prefix': prefix };
    const { link, path } = await originsOf(true, headers);
    expect([link, path.startsWith(pathPrefix)]).toEqual(['https://fleet.example', true]);
    expect((await originsOf(false, headers)).path).toMatch(/^\/storage\//);
  });

  it.each(['fleet', '//evil.example', '/a?b=', '/..', '/a/./b', '/a b', '/', ''])(
    'ignores an invalid path of a proxy: %s',
    async (prefix) => {
      const { path } = await originsOf(true, { ...forwarded, 'X-Forwarded-Prefix': prefix });
      expect(path).toMatch(/^\/storage\//);
    },
  );

  it.each(['javascript', 'ftp', 'HTTPS:', ''])(
    'stays http when the proxy names another scheme: %s',
    async (scheme) => {
      const headers = { 'X-Forwarded-Host': 'fleet.example', 'X-Forwarded-Proto': scheme };
      expect((await originsOf(true, headers)).link).toBe('http://fleet.example');
    },
  );
});
