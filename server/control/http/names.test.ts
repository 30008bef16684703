import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control, secondTenant } from '../../testing/test-tenants.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await secondTenant(server);
});

afterAll(() => server.close());

/** Sends a request with a body of another media type than JSON, or where no body is expected. */
async function send(call: string, body: string, contentType: string) {
  const [method = '', path = ''] = call.split(' ');
  const headers = {
    Authorization: `Bearer ${server.controlToken}`,
    'Content-Type': contentType,
  };
  const response = await fetch(server.controlUrl + path, { method, headers, body });
  return {
    status: response.status,
    error: String(((await response.json()) as { error: string }).error),
  };
}

describe('a control call with a wrong name', () => {
  it.each([
    ['POST /reset', { devise: 'a' }, 'body: devise: is unknown; the field is device'],
    [
      'POST /clock',
      { advanceSecond: 1 },
      'body: advanceSecond: is unknown; the nearest fields are advanceSeconds, ',
    ],
    [
      'POST /rate-limit',
      { request: 1, windowSeconds: 1 },
      'body: request: is unknown; the fields are requests, windowSeconds',
    ],
    [
      'POST /tenants',
      { name: 'x', adminEmal: 'x@example.com' },
      'body: adminEmal: is unknown; the fields are adminEmail, ',
    ],
    [
      'POST /tenants',
      { name: 'x', adminEmail: 'x@example.com', adminPasword: 'y' },
      'body: adminPasword: is unknown; the fields are adminPassword, ',
    ],
    [
      'POST /fork',
      { nam: 'x', adminEmail: 'x@example.com' },
      'body: nam: is unknown; the fields are name, ',
    ],
    ['PUT /tenants/1/status', { state: 'active' }, 'body: state: is unknown; the field is status'],
    ['PUT /tenants/1/device-limit', { limits: 1 }, 'body: limits: is unknown; the field is limit'],
    [
      'POST /runs',
      { kind: 'simulation', device: 3 },
      'body: device: is unknown; the nearest fields are devices, ',
    ],
    [
      'POST /assert',
      { happend: [] },
      'body: happend: is unknown; the nearest fields are happened, ',
    ],
    [
      'POST /assert',
      { happened: [{ raport: 'success' }] },
      'body: happened.0.raport: is unknown; the nearest fields are report, ',
    ],
    [
      'POST /assert',
      { happened: [{ report: 'done' }], between: { form: 'x' } },
      'body: between.form: is unknown; the nearest fields are ',
    ],
    [
      'POST /doctor/signature',
      { body: 'YQ==', sign: 'YQ==' },
      'body: sign: is unknown; the nearest fields are ',
    ],
    [
      'POST /doctor/signature',
      { bodi: 'YQ==', signature: 'YQ==' },
      'body: bodi: is unknown; the nearest fields are body, ',
    ],
    [
      'GET /journal?stat=4xx',
      undefined,
      'query: stat: is unknown; the nearest parameters are status, ',
    ],
    ['GET /clock?tennant=x', undefined, 'query: tennant: is unknown; the parameter is tenant'],
    ['POST /reset?device=nobody', undefined, 'query: device: is unknown; the parameter is tenant'],
    [
      'GET /clock?tenant=Secnd',
      undefined,
      'no tenant has this ID or name; the tenants are Second, ',
    ],
    ['DELETE /tenants/1', undefined, 'no tenant has this ID; the tenants are '],
    [
      'GET /journals',
      undefined,
      'the path /journals does not exist; the nearest paths are /journal, ',
    ],
    ['POST /clock', [60], 'body: must be an object, not an array'],
    ['PUT /snapshots/a', { tenant: 'Second' }, 'body: this operation has none'],
    ['DELETE /faults', { id: 'a' }, 'body: this operation has none'],
    ['DELETE /journal', { after: 3 }, 'body: this operation has none'],
  ])('is refused and names the nearest: %s %j', async (call, json, sentence) => {
    const [method = '', path = ''] = call.split(' ');
    const { status, text } = await control(server, method, path, json);
    expect([400, 404]).toContain(status);
    expect(JSON.parse(text).error).toContain(sentence);
  });

  it.each([
    ['POST /reset', 'device=nobody', 'application/x-www-form-urlencoded'],
    ['POST /reset', '{"device": "nobody"}', 'text/plain'],
  ])('keeps the tenant when its body is not JSON: %s %s as %s', async (...sent) => {
    await control(server, 'PUT', '/snapshots/kept');
    await control(server, 'POST', '/clock', { advanceSeconds: 60 });
    const clockBefore = (await control(server, 'GET', '/clock')).text;
    const { status, error } = await send(...sent);
    expect([status, error]).toEqual([415, expect.stringContaining('"application/json"')]);
    const { offsetSeconds } = JSON.parse(clockBefore) as { offsetSeconds: number };
    expect(JSON.parse((await control(server, 'GET', '/clock')).text)).toMatchObject({
      offsetSeconds,
    });
  });
});
