import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { noLedger } from '../context/cleanup-ledger.ts';
import { bearer, requestOf } from '../target/call.ts';
import { Target, type WireRequest } from '../target/target.ts';
import { serve } from '../testing/stub-server.ts';
import { Rights } from './rights.ts';

const acting = [
  { needs: ['user', 'audit-log', 'configuration', 'monitor'], effect: 'write' },
] as const;
const device = { kind: 'device', identity: { serial: '1' } } as const;

/** Probes the rights of a user at a server that answers with the status that `statusOf` returns. */
async function probed(statusOf: (line: string) => number, isAdmin = true) {
  const lines: string[] = [];
  const baseUrl = await serve(({ method, url }, response) => {
    lines.push(`${method} ${url}`);
    response.writeHead(statusOf(`${method} ${url}`)).end();
  });
  const target = new Target({ baseUrl, clock: systemClock, requestTimeLimitMs: 5000 });
  onTestFinished(() => target.close());
  const rights = new Rights({ token: 'a-token' });
  await rights.probe(target.newClient(), acting, isAdmin);
  return { rights, lines };
}

function seen(request: WireRequest, status: number, token = 'a-token') {
  const response = { status, headers: {}, bytes: Buffer.alloc(0), text: '' };
  const sent = { ...request, headers: { ...request.headers, ...bearer(token) } };
  const line = `${request.method} http://host${request.url}`;
  const record = { startMs: 0, elapsedMs: 1, request: { line, headers: {} } };
  return { request: sent, url: `http://host${request.url}`, outcome: response, record };
}

const list = requestOf(operations['list-audit-logs'], { query: { page: 2 } });
const accept = requestOf(managementOperations['set-auth-set-status'], {
  path: { id: 'one', aid: 'two' },
  body: { status: 'accepted' },
});

describe('the probes of the rights of a user', () => {
  it.each([200, 400, 401, 404, 409, 429, 500])(
    'report no missing right after the status %i',
    async (status) => {
      const { rights, lines } = await probed(() => status);
      expect(lines.length).toBeGreaterThan(10);
      expect(() => rights.require()).not.toThrow();
    },
  );

  it('name each missing right once, with every request that was answered with 403', async () => {
    const { rights } = await probed((line) => (/^(?:DELETE|PUT) .*devauth/.test(line) ? 403 : 404));
    expect(() => rights.require()).toThrow(
      /^the user lacks the right ManageDevices \([^)]+\): 403 for PUT \S+\/status, DELETE \S+; give /,
    );
  });

  it('cannot act: they name an unknown ID, are refused for their body, or only read', async () => {
    const { lines } = await probed(() => 404);
    const harmless =
      /^GET |00000000-0000-4000-8000-000000000000|^POST \S+\/(?:devices|artifacts|deployments)$/;
    expect(lines.filter((line) => !harmless.test(line))).toEqual([]);
  });

  it('are only those of the audit log when hooks accept and deploy', async () => {
    const { lines } = await probed(() => 403, false);
    expect(lines).toEqual([expect.stringMatching(/^GET \S+auditlogs\/logs\?per_page=1$/)]);
  });

  it('keep a resource from being created that the user could not remove', async () => {
    const { rights } = await probed((line) => (line.startsWith('DELETE') ? 403 : 404));
    const made = rights.guard(noLedger).announce(device, 'all');
    await expect(made).rejects.toMatchObject({ capability: 'unauthorized' });
    const deployment = { kind: 'deployment', name: 'x' } as const;
    await expect(rights.guard().announce(deployment, 'all')).resolves.toBeDefined();
  });
});

describe('an exchange of a run', () => {
  it('shows the lack of a right by status 403, with the name of the right', () => {
    const rights = new Rights({ token: 'a-token' });
    expect(rights.missingRightIn(seen(accept, 403))).toMatch(
      /right ManageDevices .*403 for PUT \S+\{aid\}/,
    );
  });

  it.each([
    ['another status', accept, 401, 'a-token'],
    ['another user', accept, 403, 'another-token'],
    ['an operation of devices', requestOf(operations['list-artifacts']), 403, 'a-token'],
    ['an unknown path', { method: 'GET', url: '/metrics' }, 403, 'a-token'],
  ])('shows no lack when it is of %s', (_, request, status, token) => {
    expect(
      new Rights({ token: 'a-token' }).missingRightIn(seen(request, status, token)),
    ).toBeUndefined();
  });

  it('shows no lack after a success has proved the right', () => {
    const rights = new Rights({ token: 'a-token' });
    expect(rights.missingRightIn(seen(list, 200))).toBeUndefined();
    expect(rights.missingRightIn(seen(list, 403))).toBeUndefined();
  });
});
