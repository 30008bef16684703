import { afterEach, describe, expect, it } from 'vitest';
import { ClientFixture } from '../testing/client-fixture.ts';
import { type StubResponse, StubServer } from '../testing/stub-server.ts';
import { expectApi } from './plan-transport.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function apiWith(response: StubResponse, next = response) {
  const server = await StubServer.start({
    'get-configuration': () => response,
    'get-next-deployment': () => next,
  });
  closers.push(() => server.close());
  const fixture = new ClientFixture(server.baseUrl);
  closers.push(() => fixture.close());
  return {
    server,
    fixture,
    shown: expectApi(fixture.transport, { clock: fixture.clock, baseUrl: server.baseUrl }),
  };
}

const html = { 'content-type': 'text/html' };

describe('the server behind the base URL', () => {
  it.each<[string, StubResponse, RegExp]>([
    [
      'a static page',
      { status: 200, headers: html, body: '<html><title>Welcome to nginx!</title></html>' },
      /answered with 200 and an HTML page \(Welcome to nginx!\); this is not the device API: check --url/,
    ],
    [
      'a page for what is not found',
      { status: 404, headers: html, body: '<h1>Not Found</h1>' },
      /answered with 404 and an HTML page \(without a title\); this is not the device API/,
    ],
    [
      'a redirect',
      { status: 301, headers: { location: 'https://other.example/' } },
      /answered with 301, a redirect to https:\/\/other\.example\/.*; this is not the device API, or a login page stands before it; check --url/,
    ],
    [
      'a server that takes everything',
      { status: 200, body: {} },
      /answered with 200 to a request without a token; this is not the device API: check --url/,
    ],
    [
      'another API',
      { status: 404, body: { detail: 'Not Found' } },
      /answered with 404 for \/api\/devices\/v1\/deployments\/\S+; this is not the device API/,
    ],
    [
      'a gateway without its server',
      { status: 503, headers: html, body: '<h1>Service Unavailable</h1>' },
      /answered with 503 and an HTML page \(without a title\); wait until the server is up/,
    ],
  ])('is refused with one sentence when it is %s', async (_what, response, sentence) => {
    const { shown } = await apiWith(response);
    await expect(shown).rejects.toThrow(sentence);
  });

  it('is refused when it does not answer within five seconds', async () => {
    const { server, fixture, shown } = await apiWith('no-response');
    const refused = expect(shown).rejects.toThrow('no complete response within 5000 ms');
    await server.untilAsked('get-configuration');
    fixture.clock.advance(5000);
    await refused;
  });

  it('is accepted as this API when it has no configuration, but deployments', async () => {
    const { shown } = await apiWith({ status: 404 }, { status: 401 });
    await expect(shown).resolves.toBeUndefined();
  });

  it.each([401, 403, 429, 500, 503])(
    'is accepted as this API when it answers %i without a page',
    async (status) => {
      const { shown } = await apiWith({ status });
      await expect(shown).resolves.toBeUndefined();
    },
  );
});
