import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { ControlFailure, type ControlledTenant } from '../context/control.ts';
import { Target } from '../target/target.ts';
import { serve } from '../testing/stub-server.ts';
import { HttpControl } from './http-control.ts';
import { MissingCapability } from './missing-capability.ts';

/** The responses of the small control listener by path; it answers 404 for all other paths. */
type Responses = Readonly<Record<string, readonly [status: number, body: unknown]>>;

const tenant = {
  id: 't 1',
  tenantToken: 'tenant-token',
  adminEmail: 'a@b.example',
  adminPassword: 'password',
};
const login = { 'POST /api/management/v1/useradm/auth/login': [200, 'user-token'] } as const;
const working = { 'POST /tenants': [201, tenant], ...login } as const;

async function controlOn(responses: Responses) {
  const requests: string[] = [];
  const baseUrl = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const line = `${request.method} ${request.url}`;
      requests.push(`${line} ${Buffer.concat(chunks)}`.trim());
      const [status, body] = responses[line] ?? [404, { error: 'nothing here' }];
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  const target = new Target({ baseUrl, clock: systemClock, requestTimeLimitMs: 5000 });
  onTestFinished(() => target.close());
  const client = target.newClient();
  const secrets: string[] = [];
  const control = new HttpControl({ url: baseUrl, token: 'control-token' }, client);
  const newTenant = (): Promise<ControlledTenant> =>
    control.newTenant({
      client,
      name: 'one',
      maskSecret: (secret) => secrets.push(secret),
    });
  return { requests, control, newTenant, secrets, client };
}

describe('a tenant that a case creates', () => {
  it('has a logged-in user, and its secrets are added to the mask', async () => {
    const { newTenant, secrets, requests } = await controlOn(working);
    expect(await newTenant()).toMatchObject({ id: 't 1', tenantToken: 'tenant-token' });
    expect(secrets).toEqual(['password', 'tenant-token', 'user-token']);
    expect(requests[0]).toBe(
      'POST /tenants {"name":"one","adminEmail":"admin+one@conformance.example"}',
    );
  });

  it.each<[string, Responses, string]>([
    ['is refused', { 'POST /tenants': [422, { error: 'too many' }] }, '422'],
    ['is not described', { 'POST /tenants': [201, { id: 7 }] }, '201'],
    ['is made by no testbed', { 'POST /tenants': [201, '<html>'] }, 'html'],
    [
      'has a user who cannot log in',
      { ...working, 'POST /api/management/v1/useradm/auth/login': [401, ''] },
      'log a user in: it answered with 401',
    ],
  ])('cannot be created when it %s', async (_, responses, message) => {
    const { newTenant } = await controlOn(responses);
    await expect(newTenant()).rejects.toThrow(ControlFailure);
    await expect(newTenant()).rejects.toThrow(message);
  });

  it('is deleted through the control listener, even if it is gone already', async () => {
    const { newTenant, requests } = await controlOn(working);
    await (await newTenant()).remove();
    expect(requests.at(-1)).toBe('DELETE /tenants/t%201');
  });

  it('reports a removal that the control listener refuses', async () => {
    const { newTenant } = await controlOn({ ...working, 'DELETE /tenants/t%201': [409, {}] });
    await expect((await newTenant()).remove()).rejects.toThrow(
      'remove a tenant: it answered with 409',
    );
  });

  it('is named in every control request, so that only this tenant is controlled', async () => {
    const { newTenant, requests } = await controlOn({
      ...working,
      'POST /clock?tenant=t%201': [200, {}],
      'POST /faults?tenant=t%201': [201, {}],
      'POST /rate-limit?tenant=t%201': [200, {}],
      'DELETE /rate-limit?tenant=t%201': [200, {}],
      'PUT /tenants/t%201/status': [200, {}],
    });
    const { control } = await newTenant();
    await control.advance(60);
    await control.failNext(['post-alerts']);
    await control.limitRate({ requests: 1, windowSeconds: 2 });
    await control.limitRate(undefined);
    await control.suspend();
    expect(requests.slice(2).map((each) => each.split(' {')[0])).toEqual([
      'POST /clock?tenant=t%201',
      'POST /faults?tenant=t%201',
      'POST /rate-limit?tenant=t%201',
      'DELETE /rate-limit?tenant=t%201',
      'PUT /tenants/t%201/status',
    ]);
    expect(requests[2]).toContain('{"advanceSeconds":60}');
  });

  it.each<[string, (control: ControlledTenant['control']) => Promise<unknown>]>([
    ['move the clock', (control) => control.advance(60)],
    ['plan faults', (control) => control.failNext(['post-alerts'])],
    ['limit the rate', (control) => control.limitRate({ requests: 1, windowSeconds: 2 })],
    ['suspend a tenant', (control) => control.suspend()],
  ])('reports which control request was refused: %s', async (action, request) => {
    const { control } = await (await controlOn(working)).newTenant();
    await expect(request(control)).rejects.toThrow(`${action}: it answered with 404`);
  });
});

describe('the whole target', () => {
  it('is never controlled, because that would disturb other cases', async () => {
    const { control, requests } = await controlOn(working);
    await expect(control.advance(60)).rejects.toThrow(MissingCapability);
    await expect(control.suspend()).rejects.toThrow(MissingCapability);
    await expect(control.limitRate(undefined)).rejects.toThrow(MissingCapability);
    expect(requests).toEqual([]);
  });
});

describe('a user without permissions', () => {
  const invited = {
    ...working,
    'POST /api/management/v2/useradm/roles': [201, ''],
    'POST /api/management/v2/useradm/users': [201, ''],
    'POST /api/management/v1/useradm/auth/password-reset/complete': [202, ''],
  } as const;

  it('gets its password through the mail in the outbox of the target', async () => {
    const messages = [{ to: 'weak@conformance.example', secret: 'from the mail' }];
    const { newTenant, client, requests } = await controlOn({
      ...invited,
      'GET /outbox': [200, { messages }],
    });
    const { control } = await newTenant();
    const order = { client, name: 'weak', maskSecret: () => undefined };
    expect(await control.powerlessUser(order)).toBe('user-token');
    expect(requests.at(-2)).toContain('"secret_hash":"from the mail"');
  });

  it('cannot be created when the target does not show its outbox', async () => {
    const { newTenant, client } = await controlOn(invited);
    const { control } = await newTenant();
    const order = { client, name: 'weak', maskSecret: () => undefined };
    await expect(control.powerlessUser(order)).rejects.toThrow(
      'show the outbox: it answered with 404',
    );
  });
});
