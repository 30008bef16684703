import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { deprecatedApis } from '../../fixtures/contract/deprecations.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

const DAY_MS = 86_400_000;
const sunset = 'Wed, 25 Aug 2027 00:00:00 GMT';
const deprecated = (Object.values(managementOperations) as Operation[]).flatMap((operation) =>
  operation.deprecated ? [[operation.id, operation, operation.deprecated] as const] : [],
);

/** Starts a server at this time, an ISO 8601 text. */
function startAt(time: string): Promise<TestServer> {
  return startTestServer({ clock: new ManualClock(Date.parse(time)) });
}

function callAt(server: TestServer, { method, path }: Operation, token = server.adminToken) {
  const target = path.replace(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000');
  return server.request(method, target, token === '' ? {} : { token });
}

describe('the deprecated operations', () => {
  it('are the fifteen of the schedule without duplicates', () => {
    const named = deprecated.map(
      ([, , { method, version, path }]) => `${method} ${version} ${path}`,
    );
    const scheduled = deprecatedApis.map(
      ({ method, version, path }) => `${method} ${version} ${path}`,
    );
    expect(named.toSorted()).toEqual(scheduled.toSorted());
    expect(named).toHaveLength(15);
  });

  it('have the paths of the schedule', () => {
    for (const [, operation, row] of deprecated) {
      expect(operation.method).toBe(row.method);
      const own = `/api/management/${row.version}${row.path}`;
      expect(operation.path.replace(/\{\w+\}/g, '{}')).toBe(own.replace(/\{\w+\}/g, '{}'));
    }
  });
});

describe('a deprecated operation before its announcement', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startAt('2020-01-01T00:00:00Z');
  });
  afterAll(() => server.close());

  it.each(deprecated)('has no deprecation headers: %s', async (_, operation) => {
    const response = await callAt(server, operation);
    expect(response.status).not.toBe(410);
    for (const name of ['deprecation', 'sunset']) expect(response.headers.get(name)).toBeNull();
    expect(response.headers.get('link') ?? '').not.toContain('successor-version');
  });
});

describe('a deprecated operation after its announcement', () => {
  it.each(deprecated)(
    'has the deprecation headers from its announcement on: %s',
    async (_, operation, row) => {
      const sinceMs = Date.parse(`${row.deprecatedSince}T00:00:00Z`);
      const clock = new ManualClock(sinceMs - 1);
      const server = await startTestServer({ clock });
      const before = await callAt(server, operation);
      clock.advance(1);
      const since = await callAt(server, operation);
      await server.close();
      expect(before.headers.get('deprecation')).toBeNull();
      expect(since.status).toBe(before.status);
      expect(since.headers.get('deprecation')).toBe(`@${sinceMs / 1000}`);
      expect(since.headers.get('sunset')).toBe(sunset);
    },
  );

  it.each([
    ['list-artifacts-v1', '/api/management/v2/deployments/artifacts'],
    ['list-releases-v1', '/api/management/v2/deployments/deployments/releases'],
    ['get-role-v1', '/api/management/v2/useradm/roles/a%2Fb'],
    ['get-limit-by-name', '/api/management/v2/devauth/limits/devices'],
    ['list-deployment-devices-v1', '/api/management/v1/deployments/deployments/a%2Fb/devices/list'],
  ])('links its successor with the path parameters: %s', async (id, successor) => {
    const server = await startAt('2026-11-21T12:00:00Z');
    const operation = (managementOperations as Record<string, Operation>)[id];
    if (!operation) throw new Error(`there is no operation ${id}`);
    const target = operation.path.replace(/\{\w+\}/g, 'a%2Fb');
    const response = await server.request(operation.method, target, { token: server.adminToken });
    await server.close();
    expect(response.headers.get('link')).toContain(`<${successor}>; rel="successor-version"`);
  });

  it.each(deprecated)('has the headers on a 401 too: %s', async (_, operation) => {
    const server = await startAt('2026-11-21T12:00:00Z');
    const response = await callAt(server, operation, '');
    await server.close();
    expect(response.status).toBe(401);
    expect(response.headers.get('sunset')).toBe(sunset);
  });
});

describe('an operation at its retirement date', () => {
  it.each(deprecated)('returns 410 exactly from that date on: %s', async (_, operation, row) => {
    const clock = new ManualClock(Date.parse('2027-08-24T23:59:59.999Z'));
    const server = await startTestServer({ clock });
    const before = await callAt(server, operation);
    clock.advance(1);
    const after = await callAt(server, operation);
    const later = await (async () => {
      clock.advance(3000 * DAY_MS);
      return callAt(server, operation, '');
    })();
    await server.close();
    expect(before.status).not.toBe(410);
    expect(after.status).toBe(410);
    expect(after.json().error).toContain(row.replacement);
    expect(after.json().request_id).toBe(after.headers.get('x-svc-requestid'));
    expect(after.headers.get('link')).toContain('successor-version');
    expect(later.status).toBe(410);
  });

  it.each([
    ['upload-artifact', 400],
    ['get-device-limit', 200],
    ['list-all-artifacts', 200],
    ['list-deployments', 200],
    ['list-releases', 200],
  ])('is unaffected if it is not in the schedule: %s', async (id, status) => {
    const server = await startAt('2027-08-26T00:00:00Z');
    const operation = (managementOperations as Record<string, Operation>)[id];
    if (!operation) throw new Error(`there is no operation ${id}`);
    const response = await callAt(server, operation);
    await server.close();
    expect(response.status).toBe(status);
    for (const name of ['deprecation', 'sunset']) expect(response.headers.get(name)).toBeNull();
  });

  it('keeps its path reserved, so that no ID can replace it', async () => {
    const server = await startAt('2027-08-26T00:00:00Z');
    const { token } = { token: server.adminToken };
    const list = await server.request('GET', '/api/management/v1/deployments/artifacts/list', {
      token,
    });
    const removal = await server.request(
      'DELETE',
      '/api/management/v1/deployments/artifacts/list',
      { token },
    );
    await server.close();
    expect(list.status).toBe(410);
    expect(removal.status).toBe(405);
  });
});

describe('the Date header of a response', () => {
  it("is the server's own time, not the machine's", async () => {
    const server = await startAt('2031-01-02T03:04:05Z');
    const response = await server.request('GET', '/nowhere');
    await server.close();
    expect(response.headers.get('date')).toBe('Thu, 02 Jan 2031 03:04:05 GMT');
  });
});
