/** Defects in requirements on the whole API: areas, methods, browsers, internal APIs, times. */
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { isSuccess, objectOf, queryOf, withHeaders, withStatus } from '../alter.ts';
import { fieldBecomes, headersBecome, statusBecomes } from '../alterations.ts';
import type { Defect, ProxiedRequest } from '../defect.ts';
import { signatureText } from '../signed-requests.ts';

const inventory: readonly OperationId[] = ['patch-attributes', 'put-attributes'];
const monitor: readonly OperationId[] = ['post-alerts', 'post-monitor-configuration'];
const auditLogs: readonly OperationId[] = ['list-audit-logs', 'export-audit-logs'];
const configuration: readonly OperationId[] = ['get-configuration', 'put-configuration'];
const version2: readonly OperationId[] = ['post-next-deployment-v2', 'get-update-control-map'];
const artifacts: readonly OperationId[] = ['list-artifacts', 'get-artifact', 'get-artifact-link'];

/** The operations of each area; the defect answers 404 to callers without a token. */
const areas: readonly (readonly [RequirementId, readonly OperationId[]])[] = [
  ['service.deployments-v1', artifacts],
  ['service.deployments-v2', version2],
  ['service.configuration', configuration],
  ['service.connect', ['connect']],
  ['service.monitor', monitor],
  ['service.inventory', inventory],
  ['service.audit-logs', auditLogs],
  ['service.device-apis', [...version2, ...inventory]],
  ['service.management-apis', auditLogs],
];

function isAnonymous({ headers }: ProxiedRequest): boolean {
  return headers.authorization === undefined && headers.cookie === undefined;
}

/**
 * Requirements of some areas on callers without a token, besides the requirement for all
 * operations.
 */
const requirementsOfAreas: readonly RequirementId[] = [
  'artifacts.unauthenticated-is-401',
  'link.unauthenticated-is-401',
  'inventory.unauthenticated-is-401',
  'alerts.need-a-token',
  'monitor.needs-a-token',
];

const areaDefects = areas.map(([requirement, operations]): Defect => {
  const name = requirement.replace('service.', '');
  return {
    id: `${name}-are-elsewhere`,
    title: `A caller without a token gets 404 for the path of ${name}.`,
    violates: [requirement, 'tokens.missing-is-401', ...requirementsOfAreas],
    operations,
    alter: statusBecomes(401, 404, isAnonymous),
  };
});

/** Returns the device type by which the cases of methods and versions mark their requests. */
function typeOf(request: ProxiedRequest): unknown {
  const { device_type: type, device_provides: provides } = objectOf(request);
  return queryOf(request).get('device_type') ?? type ?? Object(provides).device_type;
}

function hasMark({ body }: ProxiedRequest): boolean {
  return body.toString().includes('conformance_verb');
}

const verbDefects: readonly Defect[] = [
  {
    id: 'get-is-not-known',
    title: 'The verb GET is answered with 405.',
    violates: ['service.verb-get'],
    operations: ['get-next-deployment'],
    alter: statusBecomes(204, 405, (request) => typeOf(request) === 'conformance-verbs'),
  },
  {
    id: 'post-is-not-known',
    title: 'The verb POST is answered with 405.',
    violates: ['service.verb-post'],
    operations: ['post-next-deployment'],
    alter: statusBecomes(204, 405, (request) => typeOf(request) === 'conformance-verbs'),
  },
  {
    id: 'put-is-not-known',
    title: 'The verb PUT is answered with 405.',
    violates: ['service.verb-put'],
    operations: ['put-attributes'],
    alter: statusBecomes(200, 405, hasMark),
  },
  {
    id: 'patch-is-not-known',
    title: 'The verb PATCH is answered with 501.',
    violates: ['service.verb-patch'],
    operations: ['patch-attributes'],
    alter: statusBecomes(200, 501, hasMark),
  },
];

function methodsWithout(verb: string): string {
  return ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((name) => name !== verb).join(', ');
}

/** Spec: What the service does */
export const serviceDefects: readonly Defect[] = [
  ...areaDefects,
  ...verbDefects,
  {
    id: 'authentication-is-elsewhere',
    title: 'A request without a signature gets 404 for the path of the authentication.',
    violates: ['service.authentication', 'auth.signature-header-is-required'],
    operations: ['post-auth-request'],
    alter: statusBecomes(400, 404, (request) => signatureText(request) === undefined),
  },
  {
    id: 'options-takes-a-token',
    title: 'OPTIONS is refused without a token, which browsers do not send with it.',
    violates: ['service.options-for-browsers'],
    operations: 'all',
    alter: () => ({
      response: (response, { method }) =>
        method === 'OPTIONS' && isSuccess(response) ? withStatus(response, 401) : response,
    }),
  },
  ...(['PUT', 'PATCH'] as const).map(
    (verb): Defect => ({
      id: `preflight-lacks-${verb.toLowerCase()}`,
      title: `The methods that OPTIONS names for browsers lack ${verb}.`,
      violates: ['service.preflight-allows-the-method'],
      operations: 'all',
      alter: () => ({
        response: (response, { method }) =>
          method === 'OPTIONS'
            ? withHeaders(response, { 'access-control-allow-methods': methodsWithout(verb) })
            : response,
      }),
    }),
  ),
  {
    id: 'form-is-taken-for-json',
    title: 'A form body is read as a request and answered with 401.',
    violates: ['service.request-bodies-are-json', 'auth.malformed-is-400'],
    operations: ['post-auth-request'],
    alter: statusBecomes(400, 401, ({ body }) => body.toString().startsWith('id_data=')),
  },
  {
    id: 'json-is-called-text',
    title: 'An Error body is labelled text/plain.',
    violates: ['service.json-is-labelled'],
    operations: ['post-auth-request'],
    alter: headersBecome({ 'content-type': 'text/plain' }),
  },
  {
    id: 'chunked-bodies-are-refused',
    title: 'A body without Content-Length is answered with 411.',
    violates: ['service.chunked-bodies'],
    operations: ['put-attributes'],
    alter: statusBecomes(200, 411, ({ headers }) => headers['content-length'] === undefined),
  },
  {
    id: 'link-expires-in-seconds',
    title: 'A link has its expiry time as a number of seconds.',
    violates: ['service.timestamps', 'link.expire', 'link.expire-is-later'],
    operations: ['get-artifact-link'],
    alter: fieldBecomes('expire', (time) => Math.floor(Date.parse(String(time)) / 1000)),
  },
  {
    id: 'internal-apis-are-open',
    title: 'A path of the internal APIs is answered with success.',
    violates: ['service.internal-apis-are-hidden'],
    operations: 'all',
    alter: () => ({
      response: (response, { path }) =>
        /\/internal\//.test(path) ? withHeaders(withStatus(response, 200), {}) : response,
    }),
  },
];
