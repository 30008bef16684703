import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { startTestServer, type TestResponse, type TestServer } from '../testing/test-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

const path = operations['post-auth-request'].path;
const Origin = 'https://console.example';

function preflight(requestedHeaders?: string): Promise<TestResponse> {
  const headers = {
    Origin,
    'Access-Control-Request-Method': 'POST',
    ...(requestedHeaders !== undefined && { 'Access-Control-Request-Headers': requestedHeaders }),
  };
  return server.request('OPTIONS', path, { headers });
}

function namesIn(response: TestResponse, header: string): readonly string[] {
  return (response.headers.get(header) ?? '').toLowerCase().split(', ');
}

describe('a CORS preflight', () => {
  it('needs neither token nor origin, and allows every origin', async () => {
    for (const response of [await preflight(), await server.request('OPTIONS', path)]) {
      expect([response.status, response.text]).toEqual([204, '']);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('access-control-max-age')).toBe('600');
    }
  });

  it("allows Authorization, Content-Type and the contract's vendor headers", async () => {
    const allowed = namesIn(await preflight(), 'access-control-allow-headers');
    expect(allowed.toSorted()).toEqual([
      'authorization',
      'content-type',
      'x-svc-requestid',
      'x-svc-signature',
    ]);
  });

  it('allows any other requested vendor header', async () => {
    const response = await preflight('x-svc-anything, X-SVC-Signature, authorization');
    const allowed = namesIn(response, 'access-control-allow-headers');
    expect(allowed).toContain('x-svc-anything');
    expect(allowed.filter((name) => name === 'x-svc-signature')).toHaveLength(1);
  });

  it.each(['x-men-signature', 'x-custom', 'cookie', 'x-svcsignature', 'x-svc-a b', 'x-svc-\u00e9'])(
    'refuses any other header: %s',
    async (name) => {
      const response = await preflight(`${name}, authorization`);
      expect(namesIn(response, 'access-control-allow-headers')).not.toContain(name);
    },
  );

  it('exposes the headers that pages need to read', async () => {
    const exposed = namesIn(await preflight(), 'access-control-expose-headers');
    for (const name of ['link', 'x-total-count', 'x-svc-requestid', 'retry-after']) {
      expect(exposed).toContain(name);
    }
  });

  it('lists exactly the methods of the path', async () => {
    const response = await server.request('OPTIONS', operations['put-configuration'].path);
    expect(response.headers.get('access-control-allow-methods')).toBe('GET, PUT, OPTIONS');
  });

  it('returns 404 for a path outside the API', async () => {
    const response = await server.request('OPTIONS', `${path}/more`, { headers: { Origin } });
    expect(response.status).toBe(404);
    expect(response.headers.get('access-control-allow-methods')).toBeNull();
  });
});

describe('a response to a page of another origin', () => {
  it.each<[string, () => Promise<TestResponse>, number]>([
    ['a refusal', () => server.request('GET', '/nowhere', { headers: { Origin } }), 404],
    [
      'a success',
      () => server.call('list-devices', { token: server.adminToken, headers: { Origin } }),
      200,
    ],
  ])('may be read by the page with its headers: %s', async (_, ask, status) => {
    const response = await ask();
    expect(response.status).toBe(status);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(namesIn(response, 'access-control-expose-headers')).toContain('x-svc-requestid');
  });

  it('never allows browser credentials', async () => {
    const response = await preflight();
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('has no CORS headers for a request without an origin', async () => {
    const response = await server.request('GET', managementOperations['list-devices'].path);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });
});
