import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request as open } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  type ConformanceOptions,
  type ConformanceResult,
  runConformance,
} from '../../conformance/conformance.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import type { PermissionSetName } from '../../fixtures/contract/management/access.ts';
import { type RunningServer, startServer } from '../../server/server.ts';

const SUITE_MAX_MS = 240_000;
const password = 'correct horse battery';
const v1 = '/api/management/v1';

let server: RunningServer;

beforeAll(async () => {
  server = await startServer({ port: 0, controlPort: 0, logLevel: 'silent' });
});

afterAll(() => server.close());

async function callAsAdmin(method: string, path: string, body?: object): Promise<unknown> {
  const headers = {
    authorization: `Bearer ${server.adminToken}`,
    'content-type': 'application/json',
  };
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(server.baseUrl + path, { method, headers, ...given });
  expect(response.ok, await response.clone().text()).toBe(true);
  return response.headers.get('content-type')?.includes('json') ? response.json() : undefined;
}

/** Creates a user with a role of its own, or with a predefined one. */
async function userWith(given: object | string) {
  const email = `${crypto.randomUUID()}@example.com`;
  const role = typeof given === 'string' ? given : `role of ${email.slice(0, 8)}`;
  if (typeof given !== 'string') {
    await callAsAdmin('POST', '/api/management/v2/useradm/roles', { ...given, name: role });
  }
  await callAsAdmin('POST', `${v1}/useradm/users`, { email, password, roles: [role] });
  return { email, password };
}

function roleOf(...names: readonly PermissionSetName[]): object {
  return { permission_sets_with_scope: names.map((name) => ({ name })) };
}

function judge(
  selection: readonly string[],
  options: Partial<ConformanceOptions>,
): Promise<ConformanceResult> {
  return runConformance({
    baseUrl: server.baseUrl,
    headerPrefix: server.headerPrefix,
    credentials: { token: server.adminToken },
    clock: systemClock,
    random: seededRandom(JSON.stringify([selection, server.baseUrl])),
    caseTimeLimitMs: 60_000,
    requestTimeLimitMs: 30_000,
    jobs: 1,
    selection,
    ...options,
  });
}

function troubles({ verdicts }: ConformanceResult): string[] {
  return verdicts
    .filter(({ verdict }) => !['pass', 'observed', 'skip'].includes(verdict))
    .map(({ id, verdict, actual, reason }) => `${verdict} ${id}: ${actual ?? reason?.text}`);
}

function countSkipped({ verdicts }: ConformanceResult): number {
  return verdicts.filter(({ reason }) => reason?.code === 'unauthorized').length;
}

async function devices(): Promise<number> {
  const listed = await callAsAdmin('GET', '/api/management/v2/devauth/devices?per_page=500');
  return (listed as unknown[]).length;
}

/** Listens in front of the server, and answers 403 to the requests that `isForbidden` selects. */
async function forbidding(isForbidden: (line: string) => boolean): Promise<string> {
  const gateway = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    if (isForbidden(`${method} ${url}`)) {
      request.resume();
      response.writeHead(403, { 'content-type': 'application/json' }).end('{"error":"RBAC"}');
      return;
    }
    const { hostname: host, port } = new URL(server.baseUrl);
    const inside = open({ host, port, method, path: url, headers }, (incoming: IncomingMessage) => {
      response.writeHead(incoming.statusCode ?? 502, incoming.rawHeaders);
      incoming.pipe(response);
    });
    inside.on('error', () => response.destroy());
    request.pipe(inside);
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    gateway.closeAllConnections();
    gateway.close();
  });
  return `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
}

describe('a run as a user who lacks a right', { timeout: SUITE_MAX_MS }, () => {
  const everything: readonly PermissionSetName[] = [
    ...(['ReadDevices', 'ManageDevices', 'DeployToDevices', 'ConfigureDevices'] as const),
    ...(['ReadReleases', 'ManageReleases', 'UploadArtifacts', 'ReadAuditLogs'] as const),
  ];

  it.each<[PermissionSetName, string]>([
    ['ManageDevices', 'authentication/'],
    ['DeployToDevices', 'deployment-log/'],
    ['UploadArtifacts', 'artifacts/'],
    ['ConfigureDevices', 'configuration/'],
    ['ReadAuditLogs', 'audit-log/'],
  ])('ends before its first case and creates nothing without %s', async (right, selection) => {
    const credentials = await userWith(roleOf(...everything.filter((each) => each !== right)));
    const devicesBefore = await devices();
    await expect(judge([selection], { credentials })).rejects.toMatchObject({
      code: 'unauthorized',
      message: expect.stringMatching(
        new RegExp(`^the user lacks the right ${right} .*403 for .*; give .* --skip-unauthorized`),
      ),
    });
    expect(await devices()).toBe(devicesBefore);
  });

  it('learns every right that the predefined role for pipelines lacks', async () => {
    const credentials = await userWith('RBAC_ROLE_CI');
    await expect(judge(['deployment-log/'], { credentials })).rejects.toThrow(
      /ReadDevices .*; and ManageDevices .*; and DeployToDevices /,
    );
  });

  it('is refused no right that the selected cases do not need', async () => {
    const credentials = await userWith(roleOf(...everything.slice(0, -1)));
    const result = await judge(['authentication/first-contact', 'errors/'], { credentials });
    expect(troubles(result)).toEqual([]);
    expect(countSkipped(result)).toBe(0);
  });

  it('skips what needs the right with --skip-unauthorized, and counts it as not tested', async () => {
    const credentials = await userWith(roleOf('ReadDevices', 'ManageDevices'));
    const selection = ['authentication/', 'deployment-log/', 'audit-log/'];
    const result = await judge(selection, { credentials, skipUnauthorized: true });
    expect(troubles(result)).toEqual([]);
    expect(result.totals.pass).toBeGreaterThan(10);
    expect(countSkipped(result)).toBeGreaterThan(10);
    expect(result.made.deployment ?? 0).toBe(0);
    expect(result.made.artifact ?? 0).toBe(0);
    expect(result.verdicts.flatMap(({ leftBehind }) => leftBehind ?? [])).toEqual([]);
  });

  it('creates no device that the user could not remove', async () => {
    const baseUrl = await forbidding((line) => line.startsWith('DELETE '));
    const devicesBefore = await devices();
    const result = await judge(['authentication/'], { baseUrl, skipUnauthorized: true });
    expect(troubles(result)).toEqual([]);
    expect(countSkipped(result)).toBeGreaterThan(5);
    expect(await devices()).toBe(devicesBefore);
    expect(result.made.device ?? 0).toBe(0);
  });
});

describe('a right that turns out to be missing in a run', { timeout: SUITE_MAX_MS }, () => {
  it('ends the run early after the cleanup, as inconclusive, with the name of the right', async () => {
    // As with rights for groups of devices: the probe of an unknown device is not proof.
    const isOfProbe = (line: string): boolean => line.includes('/00000000-');
    const baseUrl = await forbidding((line) => /^PUT .*\/status$/.test(line) && !isOfProbe(line));
    const devicesBefore = await devices();
    const result = await judge(['authentication/'], { baseUrl });
    const [lack] = result.verdicts.flatMap(({ reason }) =>
      reason?.code === 'unauthorized' ? [reason.text] : [],
    );
    expect(lack).toMatch(/^the user lacks the right ManageDevices .*: 403 for PUT \S+\/status$/);
    expect(result).toMatchObject({ outcome: 'inconclusive', unauthorized: lack });
    expect(result.headline).toBe(`inconclusive: the run ended early: ${lack}`);
    expect(await devices()).toBe(devicesBefore);
  });
});

describe('the role for a pipeline in the guide', { timeout: SUITE_MAX_MS }, () => {
  it('is enough for the cases of every area with user operations', async () => {
    const guide = readFileSync(new URL('../../conformance/guide.md', import.meta.url), 'utf8');
    const [, role = ''] = /```json\n([^`]*permission_sets_with_scope[^`]*)```/.exec(guide) ?? [];
    const credentials = await userWith(JSON.parse(role));
    const selection = [
      ...['authentication/accepted', 'deployment-log/', 'artifacts/', 'configuration-download/'],
      ...['inventory/', 'monitor/', 'connect/', 'audit-log/', 'authorization/'],
    ];
    const result = await judge(selection, { credentials, jobs: 4 });
    expect(troubles(result)).toEqual([]);
    expect(countSkipped(result)).toBe(0);
  });
});

describe('an observer', { timeout: SUITE_MAX_MS }, () => {
  it('fails no case with --read-only, and the audit log is not tested', async () => {
    const credentials = await userWith('RBAC_ROLE_OBSERVER');
    const options = { credentials, readOnly: true };
    await expect(judge([], options)).rejects.toThrow(/lacks the right ReadAuditLogs/);
    const result = await judge([], { ...options, skipUnauthorized: true });
    expect(troubles(result)).toEqual([]);
    expect(countSkipped(result)).toBeGreaterThan(0);
    expect(result.outcome).toBe('pass');
    expect(result.made).toEqual({});
  });
});
