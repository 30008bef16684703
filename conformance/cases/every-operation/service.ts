/** Cases: HTTP methods, browsers, internal APIs and data formats. Spec: What the service does */
import * as v from 'valibot';
import { valueText } from '../../../fixtures/base/value-text.ts';
import { type OperationId, operations } from '../../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { requireRefusal } from '../../context/granted.ts';
import {
  acceptedDevice,
  deviceAndArtifact,
  factoryProvides,
  requireResponse,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  anySuccess,
  describeValue,
  expectEach,
  expectShape,
  expectStatus,
  expectThat,
  NotObservable,
  observationOf,
  responseSummary,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';

/** Paths of internal APIs, which components of such servers call among themselves. */
const internalPaths = {
  'device configuration': '/api/internal/v1/deviceconfig/configuration',
  'device authentication': '/api/internal/v1/devauth/tokens/verify',
  deployments: '/api/internal/v1/deployments/tenants',
  inventory: '/api/internal/v1/inventory/devices',
  'device connect': '/api/internal/v1/deviceconnect/health',
  users: '/api/internal/v1/useradm/tenants',
};

/** Date-times of ISO 8601 with an offset. */
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)$/i;

/** Times in formats that not every server reads. */
const timestampFormats = {
  'with an offset': '2026-01-31T13:00:00+01:00',
  'with a fraction': '2026-01-31T12:00:00.123456Z',
  'a leap second': '2016-12-31T23:59:60Z',
  'small letters': '2026-01-31t12:00:00z',
  'no offset': '2026-01-31T12:00:00',
  'a date without a time': '2026-01-31',
};

/** Returns a path of the operation, with placeholder values for its parameters. */
function pathOf(id: OperationId): string {
  return operations[id].path.replace(/\{\w+\}/g, '11111111-2222-4333-8444-555555555555');
}

const paths: Readonly<Partial<Record<OperationId, string>>> = Object.fromEntries(
  (Object.keys(operations) as OperationId[]).map((id) => [id, pathOf(id)]),
);

const preflight = (id: OperationId) => ({
  origin: 'https://example.com',
  'access-control-request-method': operations[id].method,
});

/** Returns the refusal of a body that is not JSON. */
async function sendMalformed(context: TestContext): Promise<HttpResponse> {
  const operation = 'post-auth-request';
  const response = await context.caller().call(operation, { raw: '{' });
  return requireRefusal({ operation, requirement: 'auth.malformed-is-400' }, response);
}

const anonymous = defineScenario<TestContext>({
  area: 'service',
  name: 'A caller without a token',
  start: 'a caller without any token',
  effect: 'read',
  arrange: (context) => context,
  cases: [
    {
      id: 'options-is-success',
      title: 'OPTIONS of a browser, without a token, is answered with success on every path.',
      requirements: ['service.options-for-browsers'],
      run: (context) =>
        expectEach(anySuccess, context.offered(paths), (url, id) =>
          context.client.send({ method: 'OPTIONS', url, headers: preflight(id as OperationId) }),
        ),
    },
    {
      id: 'preflight-allows-the-method',
      title: 'OPTIONS of a path with PUT, PATCH or DELETE names the method, if it names any.',
      requirements: ['service.preflight-allows-the-method'],
      run: async (context) => {
        for (const [id, url] of Object.entries(context.offered(paths))) {
          const { method } = operations[id as OperationId];
          // Browsers send these without asking, whatever the response names.
          if (method === 'GET' || method === 'POST') continue;
          const headers = preflight(id as OperationId);
          const response = await context.client.send({ method: 'OPTIONS', url, headers });
          const allowedMethods = response.headers['access-control-allow-methods'] ?? '*';
          const names = allowedMethods.split(',').map((name) => name.trim());
          const isAllowed = names.includes(method) || names.includes('*');
          expectThat(
            isAllowed,
            `${method} among the methods of ${url}`,
            describeValue(allowedMethods),
          );
        }
      },
    },
    {
      id: 'cors-headers',
      title: 'Which origins, methods and headers OPTIONS allows.',
      requirements: ['service.cors-headers'],
      observe: async (context) => {
        const id = 'put-configuration';
        const headers = preflight(id);
        const url = pathOf(id);
        const response = await context.client.send({ method: 'OPTIONS', url, headers });
        const versionHeaders = Object.entries(response.headers).filter(([name]) =>
          /^(access|allow)/.test(name),
        );
        return observationOf(
          versionHeaders.map(([name, value]) => `${name}: ${value}`).join('; ') || 'nothing',
        );
      },
    },
    {
      id: 'json-is-labelled',
      title: 'An Error body is labelled application/json.',
      requirements: ['service.json-is-labelled'],
      run: async (context) => {
        const response = await sendMalformed(context);
        const mediaType = response.headers['content-type'] ?? '';
        // Types and their parameters are case-insensitive (RFC 9110, section 8.3.1).
        const isJson = /^application\/json\s*(;|$)/i.test(mediaType);
        expectThat(isJson, 'application/json', describeValue(mediaType));
      },
    },
    {
      id: 'responses-are-json',
      title: 'The body of a refusal is JSON.',
      requirements: ['service.bodies-are-json', 'errors.body-is-error', 'auth.refusals-are-errors'],
      run: async (context) => {
        const response = await sendMalformed(context);
        expectShape(response, v.unknown());
      },
    },
    {
      id: 'other-bodies-are-refused',
      title: 'A form, XML or YAML body that is labelled JSON is answered with 400.',
      requirements: ['service.request-bodies-are-json', 'auth.malformed-is-400'],
      run: async (context) => {
        const device = await context.newDevice();
        const bodies = {
          'a form': 'id_data=%7B%7D&pubkey=key',
          XML: '<request><id_data>{}</id_data></request>',
          YAML: 'id_data: "{}"\npubkey: key\n',
        };
        await expectEach(400, bodies, (text) => device.authenticate({ text }));
      },
    },
    {
      id: 'internal-apis-are-hidden',
      title: 'A path of the internal APIs is refused or not found.',
      requirements: ['service.internal-apis-are-hidden'],
      run: (context) =>
        expectEach([401, 403, 404], internalPaths, (url) =>
          context.client.send({ method: 'GET', url }),
        ),
    },
  ],
});

/** A device type that distinguishes the requests of these cases from all others. */
const deviceType = 'conformance-verbs';
const provides = { ...factoryProvides, device_type: deviceType };
const attributes = [{ name: 'conformance_verb', value: deviceType }];

/** A request for each HTTP method, with the requirement on the method. */
const verbs: Readonly<
  Record<string, readonly [RequirementId, (device: SuiteDevice) => Promise<HttpResponse>]>
> = {
  get: ['service.verb-get', (device) => device.call('get-next-deployment', { query: provides })],
  post: ['service.verb-post', (device) => device.call('post-next-deployment', { body: provides })],
  put: ['service.verb-put', (device) => device.call('put-attributes', { body: attributes })],
  patch: ['service.verb-patch', (device) => device.call('patch-attributes', { body: attributes })],
};

/** Statuses of a server that does not know a path, or does not support the method. */
const unknownStatuses = [404, 405, 501];

function verbCase([verb, [requirement, send]]: [string, (typeof verbs)[string]]) {
  const judgingCase: JudgingCase<SuiteDevice> = {
    id: `verb-${verb}-is-known`,
    title: `The server supports an operation with the verb ${verb.toUpperCase()}.`,
    requirements: [requirement],
    ...(verb.startsWith('p') && verb !== 'post'
      ? { covers: [`${verb as 'put'}-attributes 200`] }
      : {}),
    run: async (device) => {
      const response = await send(device);
      expectThat(
        !unknownStatuses.includes(response.status),
        'a known verb',
        responseSummary(response),
      );
    },
  };
  return judgingCase;
}

const device = defineScenario({
  area: 'service',
  name: 'A device',
  start: 'an accepted device with a token',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    ...Object.entries(verbs).map(verbCase),
    {
      id: 'chunked-body-is-read',
      title: 'A chunked body, without Content-Length, is read like any other.',
      requirements: ['service.chunked-bodies'],
      covers: ['put-attributes 200'],
      run: async (caller) => {
        const body = [{ name: 'a', value: 'b' }];
        const fullWrite = await caller.call('put-attributes', { body });
        requireResponse('put-attributes', fullWrite, 200);
        const raw = ['[{"name":"a",', '"value":"b"}]'];
        expectStatus(await caller.call('put-attributes', { raw }), 200);
      },
    },
    {
      id: 'internal-apis-are-hidden-from-devices',
      title: 'The token of a device gives no access to internal APIs.',
      requirements: ['service.internal-apis-are-hidden'],
      run: ({ token }, context) =>
        expectEach([401, 403, 404], internalPaths, (url) =>
          context.client.send({
            method: 'GET',
            url,
            headers: { authorization: `Bearer ${token}` },
          }),
        ),
    },
    {
      id: 'timestamp-forms',
      title: 'Which forms of ISO 8601 the timestamp of an alert may have.',
      requirements: ['service.timestamp-forms'],
      covers: ['post-alerts 204'],
      observe: async (caller) => {
        const subject = { name: 'service', type: 'service', status: 'running' };
        const observations: string[] = [];
        for (const [format, timestamp] of Object.entries(timestampFormats)) {
          const body = [{ name: 'an alert', level: 'OK', subject, timestamp }];
          observations.push(`${format}: ${(await caller.call('post-alerts', { body })).status}`);
        }
        return observationOf(observations.join('; '));
      },
    },
    {
      id: 'upgrade-header',
      title: 'How a request for the next deployment with an Upgrade header is answered.',
      requirements: ['service.upgrade-header'],
      observe: async (caller, context) => {
        const headers = { connection: 'Upgrade', upgrade: 'websocket' };
        const request = caller.request('get-next-deployment', { query: factoryProvides, headers });
        const { socket, status } = await context.client.upgrade(request);
        socket?.destroy();
        return observationOf(`answered with ${status}`);
      },
    },
  ],
});

/** Returns the field of a successful response, unparsed. */
function fieldOf(response: HttpResponse, name: string): unknown {
  if (response.status !== 200)
    throw new NotObservable(`no response to read: ${responseSummary(response)}`);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), v.looseObject({})), response.text);
  return parsed.success ? parsed.output[name] : undefined;
}

const times = defineScenario({
  area: 'service',
  name: 'Times',
  start: 'an accepted device, and an artifact on the target',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => deviceAndArtifact(context, 'plain'),
  cases: [
    {
      id: 'times-are-iso-8601',
      title: 'The times of an artifact and of its link are ISO 8601 date-times.',
      requirements: ['service.timestamps', 'artifacts.modified', 'link.expire'],
      covers: ['get-artifact 200', 'get-artifact-link 200'],
      run: async ({ device: caller, artifact }) => {
        const path = { id: artifact.id };
        const modified = fieldOf(await caller.call('get-artifact', { path }), 'modified');
        const expire = fieldOf(await caller.call('get-artifact-link', { path }), 'expire');
        const areTimes = [modified, expire].every((time) => dateTime.test(valueText(time)));
        expectThat(areTimes, 'date-times of ISO 8601', describeValue([modified, expire]));
      },
    },
  ],
});

/** Spec: What the service does */
export const serviceCases = [...anonymous, ...device, ...times];
