import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DialectName } from '../../fixtures/contract/dialects.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { rawRequest, sendRaw } from '../testing/raw-http.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { explanationOf } from '../testing/test-explanations.ts';
import { startTestServer, type TestCall, type TestServer } from '../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'explained');
});

afterAll(() => server.close());

async function explanationAt(method: string, path: string, call: TestCall = {}) {
  return explanationOf(server, await server.request(method, path, call));
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

it('a device path below the prefix of users is explained with the right path', async () => {
  const { path } = operations['get-next-deployment'];
  const query = '?artifact_name=a&device_type=b';
  const wrongPath = path.replace('/devices/', '/management/') + query;
  const { problem } = await explanationAt('GET', wrongPath, { token: device.token });
  expect(problem.expected).toBe(`GET ${path}`);
});

it('values in the body of a GET are explained as misplaced', async () => {
  const { path } = operations['get-next-deployment'];
  const json = '{"artifact_name":"a","device_type":"b"}';
  const headers = [`Authorization: Bearer ${device.token}`, `Content-Length: ${json.length}`];
  const { headers: answered } = await sendRaw(server, rawRequest(`GET ${path}`, headers, json));
  const { before } = await explanationOf(server, { headers: new Headers(answered) });
  expect(before).toMatch(/^put it into the query: the body of a GET is not read/);
});

describe('the explanation of an unknown path', () => {
  const explainedOn = async (
    dialect: DialectName,
    path: string,
    call: TestCall,
    at?: 'storage',
  ) => {
    const otherServer = await startTestServer({ dialects: new Set([dialect]) });
    try {
      const base = at === 'storage' ? (otherServer.storageUrl ?? '') : otherServer.baseUrl;
      const response = await fetch(`${base}${path}`, {
        method: call.body === undefined ? 'GET' : 'POST',
        ...call,
      });
      return await explanationOf(otherServer, response);
    } finally {
      await otherServer.close();
    }
  };

  it('does not name a dialect that leaves the path unchanged', async () => {
    const { problem } = await explainedOn('open-source', '/api/devices/v1/nothing', {});
    expect(problem.expected).toMatch(/^a path of the API, such as/);
  });

  it('says what the port of artifact files serves', async () => {
    const { problem } = await explainedOn('storage-host', '/foo', {}, 'storage');
    expect(problem.expected).toMatch(/^an artifact link exactly/);
  });

  it('says that an authentication request needs no token, whatever the dialect checks first', async () => {
    const path = operations['post-auth-request'].path.replace('requests', 'request');
    const { before } = await explainedOn('token-before-routing', path, { body: '{}' });
    expect(before).toMatch(/^correct the path: an authentication request needs no token/);
  });
});

describe('the explanation of a request that belongs to another operation', () => {
  it("does not repeat a device's write in a user's name", async () => {
    const path = pathOf(managementOperations['abort-deployment'], { id: randomUUID() });
    const explained = await explanationAt('PUT', path, {
      token: device.token,
      headers: JSON_TYPE,
      body: '{"status":"aborted"}',
    });
    expect(explained.before).toContain('devices have their own operations below /api/devices/');
    expect(explained.command).toBeUndefined();
  });

  it('names the separate path to deploy to a group', async () => {
    const { path } = managementOperations['create-deployment'];
    const body = '{"name":"to-all-of-lab","artifact_name":"release-1","group":"lab"}';
    const call = { token: server.adminToken, headers: JSON_TYPE, body };
    expect((await explanationAt('POST', path, call)).before).toContain('deployments/group/{name}');
  });

  it('asks for no credentials in the body of a login', async () => {
    const { path } = managementOperations.login;
    const body = '{"email":"a@b.example","password":"a-long-password"}';
    const { variables, correctedRequest } = await explanationAt('POST', path, {
      headers: JSON_TYPE,
      body,
    });
    expect(Object.keys(variables).toSorted()).toEqual(['EMAIL', 'PASSWORD', 'URL']);
    expect(correctedRequest).not.toHaveProperty('body');
  });
});
