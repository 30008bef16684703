import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deprecatedApis } from '../../fixtures/contract/deprecations.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { rowFinder } from './rows.ts';
import { rowName, scheduleOn } from './schedule.ts';

const finder = rowFinder(scheduleOn('2026-10-18'));

/** Returns the rows used by a call without bodies; undefined for a path outside this API. */
function usedBy(method: string, pathname: string): readonly string[] | undefined {
  const bodies = { requestBody: () => undefined, responseBody: () => undefined };
  const uses = finder.usesOf({ atMs: 0, method, pathname, status: 200, ...bodies });
  return uses?.rows.map(rowName);
}

const v1 = '/api/management/v1';
const v2 = '/api/management/v2';

describe('a deprecated call', () => {
  it.each(deprecatedApis)('is found by $method $version $path', ({ method, version, path }) => {
    const name = `${method} ${version} ${path}`;
    const filled = path.replace(/\{\w+\}/g, '5f0c8d2e-aaaa-4bbb-8ccc-000000000001');
    expect(usedBy(method, `/api/management/${version}${filled}`)).toEqual([name]);
  });

  it('is found with any parameter and any prefix before the API path', () => {
    const row = deprecatedApis.find(({ path }) => path === '/useradm/roles/{id}');
    const segment = fc.stringMatching(/^[\w.~%@:-]{1,40}$/);
    const prefixes = fc.array(fc.stringMatching(/^[a-z0-9]{1,8}$/), { maxLength: 3 });
    fc.assert(
      fc.property(segment, prefixes, (id, prefix) => {
        const path = `${prefix.map((part) => `/${part}`).join('')}${v1}/useradm/roles/${id}`;
        expect(usedBy('GET', path)).toEqual([`GET v1 ${row?.path}`]);
      }),
    );
  });

  it.each([
    [`${v2}/devauth/limits/max_devices`, 'GET v2 /devauth/limits/{name}'],
    [`${v1}/deployments/artifacts/list`, 'GET v1 /deployments/artifacts/list'],
    [`${v1}/deployments/deployments/releases`, 'GET v1 /deployments/deployments/releases'],
  ])('is found by the most specific row for GET %s', (path, name) => {
    expect(usedBy('GET', path)).toEqual([name]);
  });
});

describe('a call that is not deprecated', () => {
  it.each([
    ['GET', `${v2}/devauth/limits/devices`],
    ['POST', `${v1}/deployments/artifacts`],
    ['GET', `${v2}/deployments/artifacts`],
    ['GET', `${v1}/deployments/artifacts/list2`],
    ['GET', `${v1}/deployments/artifacts/5f0c8d2e-aaaa-4bbb-8ccc-000000000001`],
    ['POST', `${v1}/deployments/deployments`],
    ['GET', `${v1}/deployments/deployments/x/devices/list`],
    ['GET', `${v1}/deployments/deployments/x`],
    ['GET', `${v1}/devauth/limits/max_devices`],
    ['GET', `${v2}/useradm/roles`],
    ['GET', `${v1}/useradm/users`],
    ['GET', `${v1}/useradm/users/me`],
    ['PUT', `${v1}/useradm/users/someone`],
    ['PATCH', `${v1}/useradm/roles/x`],
    ['OPTIONS', `${v1}/useradm/roles`],
    ['HEAD', `${v1}/useradm/roles`],
  ])('matches no row of the schedule: %s %s', (method, path) => {
    expect(usedBy(method, path)).toEqual([]);
  });

  it.each([
    `${v1}/useradm/roles/`,
    `${v1}/useradm/roles//`,
    `${v1}//useradm/roles`,
    `${v1}/useradm/Roles`,
    `${v1}/useradm/roles/x/y`,
    '/api/management/v3/useradm/roles',
    '/api/devices/v1/useradm/roles',
    '/api/internal/v1/useradm/roles',
  ])('may differ from a deprecated path in one detail: GET %s', (path) => {
    expect(usedBy('GET', path)).toEqual([]);
  });

  it('is every other operation of the contract and the management API', () => {
    const formOf = (method: string, path: string) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`;
    const gone = deprecatedApis.map(({ method, version, path }) =>
      formOf(method, `/api/management/${version}${path}`),
    );
    const all = [...Object.values(operations), ...Object.values(managementOperations)];
    const kept = all.filter(({ method, path }) => !gone.includes(formOf(method, path)));
    expect(kept.length).toBeGreaterThan(40);
    const found = kept.filter(({ method, path }) => {
      return (usedBy(method, path.replace(/\{\w+\}/g, 'some')) ?? []).length > 0;
    });
    expect(found).toEqual([]);
  });
});

describe('a call outside this API', () => {
  it.each([
    '/',
    '',
    '/useradm/roles',
    '/api/v1/useradm/roles',
    '/api/management',
    '/api/management/',
    '/api/management/v1',
    '/api/management/latest/useradm/roles',
    '/api/managements/v1/useradm/roles',
    '/API/management/v1/useradm/roles',
  ])('is ignored: GET %j', (path) => {
    expect(usedBy('GET', path)).toBeUndefined();
  });
});
