import { describe, expect, it } from 'vitest';
import { fieldIn } from './fields.ts';
import { rowFinder } from './rows.ts';
import { scheduleOn } from './schedule.ts';

const schedule = scheduleOn('2026-10-18');
const finder = rowFinder(schedule);

interface Sent {
  readonly method?: string;
  readonly status?: number;
  readonly request?: unknown;
  readonly response?: unknown;
}

/**
 * Returns the fields that an exchange contains; `unseen …` for those whose body was not recorded.
 */
function fieldsOf(pathname: string, { method = 'GET', status = 200, request, response }: Sent) {
  const bodies = { requestBody: () => request, responseBody: () => response };
  const uses = finder.usesOf({ atMs: 0, method, pathname, status, ...bodies });
  const found = uses?.rows.flatMap(({ field }) => field ?? []) ?? [];
  return [...found, ...(uses?.unseen.map(({ field }) => `unseen ${field}`) ?? [])];
}

const m1 = '/api/management/v1/deployments';
const m2 = '/api/management/v2/deployments';
const artifact = { id: 'a', updates: [{ type_info: {}, meta_data: { a: 1 }, metadata: { a: 1 } }] };
const clean = { id: 'a', updates: [{ type_info: {}, metadata: { a: 1 } }] };

describe('the deprecated field meta_data', () => {
  it.each<[string, unknown]>([
    [`${m1}/artifacts`, [clean, artifact]],
    [`${m2}/artifacts`, [artifact]],
    [`${m1}/artifacts/list`, [artifact]],
    [`${m1}/artifacts/a`, artifact],
    [`${m2}/artifacts/a`, artifact],
    ['/api/devices/v1/deployments/artifacts', [artifact]],
    ['/api/devices/v1/deployments/artifacts/a', artifact],
    [`${m1}/deployments/releases`, [{ Name: 'r', Artifacts: [artifact] }]],
    [`${m2}/deployments/releases`, [{ name: 'r', artifacts: [artifact] }]],
    [`${m2}/deployments/releases/r`, { name: 'r', artifacts: [artifact] }],
  ])('is found in the response of GET %s', (path, response) => {
    expect(fieldsOf(path, { response })).toEqual(['updates[].meta_data']);
    expect(fieldsOf(path, { response: JSON.stringify(response) })).toEqual(['updates[].meta_data']);
  });

  it.each<[string, string, Sent]>([
    ['where only metadata is', `${m2}/artifacts`, { response: [clean] }],
    ['in an empty list', `${m2}/artifacts`, { response: [] }],
    ['above the updates', `${m2}/artifacts`, { response: [{ ...clean, meta_data: {} }] }],
    [
      'in updates that are not an array',
      `${m2}/artifacts/a`,
      { response: { updates: { meta_data: {} } } },
    ],
    ['in a refusal', `${m2}/artifacts/a`, { status: 404, response: artifact }],
    ['in a response that never came', `${m2}/artifacts/a`, { status: 0 }],
    [
      'in what is sent',
      `${m1}/artifacts/a`,
      { method: 'PUT', request: artifact, response: artifact },
    ],
    ['in a link', `${m1}/artifacts/a/download`, { response: artifact }],
    [
      'under another name of it',
      `${m2}/artifacts/a`,
      { response: '{"updates":[{"__proto__":{"meta_data":1}}]}' },
    ],
    ['elsewhere', `${m1}/deployments/x`, { response: artifact }],
    ['at version 2 of devices', '/api/devices/v2/deployments/artifacts', { response: [artifact] }],
  ])('is not found %s', (_, path, sent) => {
    expect(fieldsOf(path, sent)).toEqual([]);
  });

  it.each([undefined, '', '[{"updates":[{"meta', 'plain', 7, null])(
    'is reported as unseen in the body %j',
    (response) => {
      expect(fieldsOf(`${m2}/artifacts`, { response })).toEqual(['unseen updates[].meta_data']);
    },
  );
});

describe('the deprecated fields from_release and to_release', () => {
  const job = `${m2}/deployments/releases/delta/jobs/5`;

  it('are found separately in the response of a delta job', () => {
    expect(fieldsOf(job, { response: { from_release: 'a', to_release: 'b' } })).toEqual([
      'from_release',
      'to_release',
    ]);
    expect(fieldsOf(job, { response: { to_release: 'b' } })).toEqual(['to_release']);
  });

  it.each<[string, string, unknown]>([
    ['their successors', job, { from_version: 'a', to_version: 'b' }],
    ['deeper down', job, { details: { from_release: 'a' } }],
    ['version 1', job.replace('v2', 'v1'), { from_release: 'a' }],
    ['the list of jobs', job.replace('/5', ''), [{ from_release: 'a' }]],
  ])('are not found in %s', (_, path, response) => {
    expect(fieldsOf(path, { response })).toEqual([]);
  });
});

describe('the deprecated field size', () => {
  const multipart = (...heads: readonly string[]) =>
    [...heads.map((head) => `--b0undary\r\n${head}\r\n\r\n12\r\n`), '--b0undary--\r\n'].join('');
  const sent = (request: unknown) => fieldsOf(`${m1}/artifacts`, { method: 'POST', request });

  it.each([
    ['an object of its parts', { description: '', size: '12' }],
    ['a string', multipart('Content-Disposition: form-data; name="size"')],
    ['a string without quotes', multipart('content-disposition: form-data; name=size')],
    [
      'the second part of a string',
      multipart(
        'Content-Disposition: form-data; name="description"',
        'X: y\r\nContent-Disposition: form-data; name="size"',
      ),
    ],
    [
      'a string that ends within the file',
      '--b\r\nContent-Disposition: form-data; name="size"\r\n\r\n9\r\n--b\r\nContent-Disposition: form-data; name="artifact"; filename="a"\r\n\r\n\0\0',
    ],
  ])('is found in an upload recorded as %s', (_, request) => {
    expect(sent(request)).toEqual(['size']);
  });

  it.each([
    ['no such part', multipart('Content-Disposition: form-data; name="artifact"; filename="size"')],
    ['a longer name', multipart('Content-Disposition: form-data; name="size2"')],
    [
      'it in the content of a part',
      multipart('Content-Disposition: form-data; name="artifact"\r\n\r\nname="size"'),
    ],
    ['an object without it', { description: 'size' }],
  ])('is not found in an upload with %s', (_, request) => {
    expect(sent(request)).toEqual([]);
  });

  it.each([undefined, '', 'PK\x03\x04', 'size=12'])('is unseen in the upload %j', (request) => {
    expect(sent(request)).toEqual(['unseen size']);
  });

  it('is not deprecated in a request that generates an artifact', () => {
    const path = `${m1}/artifacts/generate`;
    expect(fieldsOf(path, { method: 'POST', request: { size: '1' } })).toEqual([]);
  });
});

describe('the deprecated field propagate', () => {
  const path = '/api/internal/v1/useradm/tenants/t/users';

  it.each([{ propagate: false }, '{"email":"a@b.c","propagate":true}'])(
    'is found in an internal call with %j',
    (request) => {
      expect(fieldsOf(path, { method: 'POST', request })).toEqual(['propagate']);
    },
  );

  it('is not found in other operations, nor in a request without it', () => {
    const request = { propagate: true };
    const otherPaths = [
      '/api/management/v1/useradm/users',
      '/api/internal/v2/useradm/tenants/t/users',
    ];
    for (const otherPath of otherPaths) {
      expect(fieldsOf(otherPath, { method: 'POST', request })).not.toContain('propagate');
    }
    expect(fieldsOf(path, { method: 'POST', request: { email: 'a@b.c' } })).toEqual([]);
  });
});

describe('the body of a recorded exchange', () => {
  it('is not read when the call can contain no deprecated field', () => {
    const never = () => {
      throw new Error('it was read');
    };
    const bodies = { requestBody: never, responseBody: never };
    const call = { atMs: 0, method: 'GET', status: 200, ...bodies };
    const uses = finder.usesOf({ ...call, pathname: '/api/management/v1/useradm/roles' });
    expect(uses?.rows).toHaveLength(1);
    const [row] = schedule.rows.filter(({ field }) => field === 'from_release');
    const refused = { ...call, pathname: '', status: 404 };
    expect(row && fieldIn(row, refused)).toBe('absent');
  });
});
