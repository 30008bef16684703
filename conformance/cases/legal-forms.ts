/**
 * Cases: one request in the forms that HTTP holds equal, for every operation; each form must have
 * the same success and the same effect. Spec: What the service does
 */
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { boardType } from '../context/sample-artifacts.ts';
import {
  activeDeployment,
  factoryProvides,
  type OfferedDeployment,
} from '../context/start-states.ts';
import type { TestContext } from '../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../suite/case.ts';
import { ExpectationFailure, NotObservable, shownAnswer } from '../target/expectations.ts';
import type { WireRequest } from '../target/target.ts';
import { alert, service } from './monitor-samples.ts';

/** A request that is right in every way, and what shows that it had its effect. */
interface GoodRequest {
  /** The marker is part of what is written, so that each request has an effect of its own. */
  readonly request: (marker: string) => WireRequest;
  /** Reads the effect back; holds when the marker is there. */
  readonly holds?: (marker: string) => Promise<boolean>;
}

type GoodRequests = Readonly<Partial<Record<OperationId, GoodRequest>>>;

/** Good requests of a device that has been offered a deployment, and of a user. */
function goodRequests(arranged: OfferedDeployment, context: TestContext): GoodRequests {
  const { device, artifact, id, deploymentId } = arranged;
  const { admin } = context;
  const seen = (read: () => Promise<string>) => async (marker: string) =>
    (await context.settled(read, (text) => text.includes(marker))).includes(marker);
  const attributes = seen(async () => JSON.stringify(await admin.attributes(device.id)));
  const path = { id: artifact.id };
  return {
    'list-artifacts': {
      request: () =>
        device.request('list-artifacts', {
          query: { release_name: artifact.name, device_type: boardType },
        }),
    },
    'get-artifact': { request: () => device.request('get-artifact', { path }) },
    'get-artifact-link': { request: () => device.request('get-artifact-link', { path }) },
    'get-next-deployment': {
      request: () => device.request('get-next-deployment', { query: factoryProvides }),
    },
    'post-next-deployment': {
      request: () => device.request('post-next-deployment', { body: factoryProvides }),
    },
    'post-next-deployment-v2': {
      request: () =>
        device.request('post-next-deployment-v2', { body: { device_provides: factoryProvides } }),
    },
    'put-deployment-status': {
      request: () =>
        device.request('put-deployment-status', { path: { id }, body: { status: 'downloading' } }),
    },
    'put-deployment-log': {
      request: (message) =>
        device.request('put-deployment-log', {
          path: { id },
          body: { messages: [{ timestamp: '2026-01-31T12:00:00Z', level: 'info', message }] },
        }),
      holds: seen(async () => (await admin.deploymentLog(deploymentId, device.id)) ?? ''),
    },
    'put-configuration': {
      request: (marker) => device.request('put-configuration', { body: { marker } }),
      holds: seen(async () => (await device.call('get-configuration')).text),
    },
    'get-configuration': { request: () => device.request('get-configuration') },
    'post-alerts': {
      request: (name) => device.request('post-alerts', { body: [{ ...alert, name }] }),
    },
    'post-monitor-configuration': {
      request: (name) =>
        device.request('post-monitor-configuration', { body: [{ ...service, name }] }),
      holds: seen(async () => JSON.stringify(await admin.monitorConfiguration(device.id))),
    },
    'patch-attributes': {
      request: (value) => device.request('patch-attributes', { body: [{ name: 'marker', value }] }),
      holds: attributes,
    },
    'put-attributes': {
      request: (value) => device.request('put-attributes', { body: [{ name: 'marker', value }] }),
      holds: attributes,
    },
    'post-auth-request': { request: () => device.authenticationRequest() },
    'list-audit-logs': {
      request: () =>
        admin.caller.request('list-audit-logs', { query: { per_page: 2, sort: 'asc' } }),
    },
    'export-audit-logs': {
      request: () =>
        admin.caller.request('export-audit-logs', { query: { limit: 2, sort: 'asc' } }),
    },
  };
}

/** What a request lacked: a success of its operation, or the effect of that success. */
interface Fault {
  readonly expected: string;
  readonly actual: string;
}

/** Sends the good request, changed by `change`; undefined when it succeeds and has its effect. */
async function faultOf(
  context: TestContext,
  { id, good }: { readonly id: OperationId; readonly good: GoodRequest },
  change: (request: WireRequest) => WireRequest = (request) => request,
): Promise<Fault | undefined> {
  const marker = context.newName();
  const answer = await context.session.send(change(good.request(marker)));
  if (!(String(answer.status) in operations[id].success)) {
    return { expected: 'a success of the operation', actual: shownAnswer(answer) };
  }
  if (good.holds === undefined || (await good.holds(marker))) return undefined;
  return { expected: 'the effect of the request', actual: 'none' };
}

function failureOf(id: OperationId, what: string, { expected, actual }: Fault): ExpectationFailure {
  const how = `${id}, ${what}: `;
  return new ExpectationFailure(how + expected, how + actual);
}

/** A request that does not succeed in its usual form is for other cases to judge. */
function notObservable(id: OperationId, { actual }: Fault): NotObservable {
  return new NotObservable(`${id} does not succeed in the usual form either: ${actual}`);
}

/** The good requests to the operations that the target has. */
function requestsTo(arranged: OfferedDeployment, context: TestContext) {
  const rows = Object.entries(context.offered(goodRequests(arranged, context)));
  return rows.map(([id, good]) => ({ id: id as OperationId, good }));
}

/** One form: requests that it does not fit are passed over. */
interface Form {
  readonly id: string;
  readonly title: string;
  readonly requirement: RequirementId;
  /** The request in each variant of the form, by what is special about it. */
  readonly variants: Readonly<Record<string, (request: WireRequest) => WireRequest | undefined>>;
}

function withHeaders(request: WireRequest, headers: Readonly<Record<string, string>>): WireRequest {
  return { ...request, headers: { ...request.headers, ...headers } };
}

function labelled(mediaType: string) {
  return (request: WireRequest) =>
    request.body === undefined ? undefined : withHeaders(request, { 'content-type': mediaType });
}

function accepting(accept: string) {
  return (request: WireRequest) => withHeaders(request, { accept });
}

function inPieces(request: WireRequest): WireRequest | undefined {
  const { body } = request;
  if (typeof body !== 'string') return undefined;
  const middle = Math.ceil(body.length / 2);
  return { ...request, body: [body.slice(0, middle), body.slice(middle)] };
}

function percentEncoded(text: string): string {
  return `%${text.charCodeAt(0).toString(16)}`;
}

function withEncodedPath(request: WireRequest): WireRequest {
  const [path = '', ...query] = request.url.split('?');
  const encoded = path.replace(/[a-z]$|[a-z](?=[^a-z]*$)/, percentEncoded);
  return { ...request, url: [encoded, ...query].join('?') };
}

function withQueryParts(change: (parts: string[]) => string[]) {
  return (request: WireRequest): WireRequest | undefined => {
    const [path, query] = request.url.split('?');
    if (query === undefined) return undefined;
    return { ...request, url: `${path}?${change(query.split('&')).join('&')}` };
  };
}

function encodedParts(parts: string[]): string[] {
  return parts.map((part) => part.replace(/(?<=^|=)[a-z]/gi, percentEncoded));
}

function withCapitalHeaders(request: WireRequest): WireRequest {
  const headers = Object.entries(request.headers ?? {});
  const capitals = headers.map(([name, value]) => [name.toUpperCase(), value]);
  return { ...request, headers: Object.fromEntries(capitals) };
}

const forms: readonly Form[] = [
  {
    id: 'chunked-bodies',
    title: 'A body in chunks, without Content-Length, is read like any other by every operation.',
    requirement: 'service.chunked-bodies',
    variants: { 'a body in chunks': inPieces },
  },
  {
    id: 'labels-of-json',
    title: 'JSON may be labelled with a charset, and in capital letters.',
    requirement: 'service.equal-forms',
    variants: {
      'a charset': labelled('application/json; charset=utf-8'),
      'a charset in quotes': labelled('application/json;charset="UTF-8"'),
      'capital letters': labelled('Application/JSON'),
    },
  },
  {
    id: 'names-of-headers',
    title: 'The names of headers may be written in capital letters.',
    requirement: 'service.equal-forms',
    variants: { 'names in capital letters': withCapitalHeaders },
  },
  {
    id: 'content-type-without-a-body',
    title: 'A request without a body may carry a Content-Type.',
    requirement: 'service.equal-forms',
    variants: {
      'a Content-Type': (request) =>
        request.body === undefined
          ? withHeaders(request, { 'content-type': 'application/json' })
          : undefined,
    },
  },
  {
    id: 'encoded-paths',
    title: 'A letter of the path may be percent-encoded.',
    requirement: 'service.equal-forms',
    variants: { 'a percent-encoded letter in the path': withEncodedPath },
  },
  {
    id: 'encoded-queries',
    title: 'Letters in names and values of the query may be percent-encoded.',
    requirement: 'service.equal-forms',
    variants: { 'percent-encoded letters in the query': withQueryParts(encodedParts) },
  },
  {
    id: 'order-of-queries',
    title: 'The parameters of a query may come in any order.',
    requirement: 'service.equal-forms',
    variants: { 'parameters in reverse order': withQueryParts((parts) => parts.toReversed()) },
  },
  {
    id: 'accepted-types',
    title: 'A client may say in several ways that it accepts the media type of the answer.',
    requirement: 'service.equal-forms',
    variants: {
      'Accept: */*': accepting('*/*'),
      'Accept with several types': accepting('application/json, text/csv, text/plain, */*;q=0.1'),
      'Accept with weights': accepting('text/html;q=0.2, */*;q=0.5'),
    },
  },
  {
    id: 'closed-connections',
    title: 'A client may ask for the connection to be closed after the answer.',
    requirement: 'service.equal-forms',
    variants: { 'Connection: close': (request) => withHeaders(request, { connection: 'close' }) },
  },
  {
    id: 'other-headers',
    title: 'Headers that have no meaning for the operation change nothing.',
    requirement: 'service.equal-forms',
    variants: {
      cookies: (request) => withHeaders(request, { cookie: 'theme=dark; session=none' }),
      'headers of a proxy': (request) =>
        withHeaders(request, { 'x-forwarded-for': '192.0.2.7', via: '1.1 proxy' }),
      'headers of a browser': (request) =>
        withHeaders(request, {
          'user-agent': `updater/1.0 (${'x'.repeat(500)})`,
          'accept-language': 'nb, en;q=0.5',
          'cache-control': 'no-cache',
        }),
    },
  },
];

function formCase({ id, title, requirement, variants }: Form): JudgingCase<OfferedDeployment> {
  return {
    id,
    title,
    requirements: [requirement],
    run: async (arranged, context) => {
      for (const [what, change] of Object.entries(variants)) {
        for (const row of requestsTo(arranged, context)) {
          if (change(row.good.request('')) === undefined) continue;
          const sendChanged = () => faultOf(context, row, (request) => change(request) ?? request);
          const fault = await sendChanged();
          if (fault === undefined) continue;
          const plainFault = await faultOf(context, row);
          if (plainFault) throw notObservable(row.id, plainFault);
          // Once only: it was not for its form that the target refused the request.
          if ((await sendChanged()) === undefined) throw notObservable(row.id, fault);
          throw failureOf(row.id, what, fault);
        }
      }
    },
  };
}

/** Spec: What the service does */
export const legalFormCases = defineScenario({
  area: 'legal-forms',
  name: 'Requests in other forms',
  start: 'a device with settings that has been offered a deployment',
  risk: 'write',
  needs: ['operator'],
  arrange: async (context) => {
    const arranged = await activeDeployment(context);
    await arranged.device.call('put-configuration', { body: { timezone: 'UTC' } });
    return arranged;
  },
  cases: [
    ...forms.map(formCase),
    {
      id: 'three-times',
      title: 'What succeeds once succeeds a second and a third time, with its effect.',
      requirements: ['service.equal-forms'],
      run: async (arranged, context) => {
        const rows = requestsTo(arranged, context);
        for (const what of ['the first time', 'the second time', 'the third time']) {
          for (const row of rows) {
            const fault = await faultOf(context, row);
            if (fault === undefined) continue;
            const isFirst = what === 'the first time';
            throw isFirst ? notObservable(row.id, fault) : failureOf(row.id, what, fault);
          }
        }
      },
    },
  ],
});
