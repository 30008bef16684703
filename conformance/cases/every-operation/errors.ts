/** Cases: errors and request IDs. Spec: Error; Errors */
import * as v from 'valibot';
import { errorBody } from '../../context/error-body.ts';
import { requireRefusal } from '../../context/granted.ts';
import { acceptedDevice, factoryProvides } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import type { Headers } from '../../target/exchange.ts';
import {
  describeValue,
  expectEqual,
  expectShape,
  expectThat,
  NotObservable,
  observationOf,
  observedResponse,
  responseSummary,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';
import { TransportFailure } from '../../target/transport-failure.ts';

const TWO_MEBIBYTES = 2 * 1_048_576;
/** Longer than the request IDs that servers accept, but within their limits on headers. */
const LONG_ID_CHARACTERS = 2000;
/** Refusals after which a server is assumed to omit the request ID from all of them. */
const REFUSALS_MAX = 12;

const withText = v.looseObject({ error: v.optional(v.string()) });
const withRequestId = v.looseObject({ request_id: v.optional(v.string()) });

/** Sends a request that every server refuses: neither JSON nor signed. */
async function refusal(context: TestContext, headers: Headers = {}): Promise<HttpResponse> {
  const operation = 'post-auth-request';
  const response = await context.caller().call(operation, { raw: '{', headers });
  return requireRefusal({ operation, requirement: 'auth.malformed-is-400' }, response);
}

/** Returns the request ID in the body of a refusal, where it is optional. */
function requestIdIn({ text }: HttpResponse): string | undefined {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), withRequestId), text);
  return parsed.success ? parsed.output.request_id : undefined;
}

function requestIdOf(response: HttpResponse): string {
  const id = requestIdIn(response);
  if (id === undefined) throw new NotObservable('the refusal carries no request_id');
  return id;
}

/** Repeats a refused request until a response has a request_id, which is optional. */
async function refusalWithId(context: TestContext, headers: Headers = {}): Promise<HttpResponse> {
  let response = await refusal(context, headers);
  for (
    let requestCount = 1;
    requestCount < REFUSALS_MAX && requestIdIn(response) === undefined;
    requestCount++
  ) {
    response = await refusal(context, headers);
  }
  return response;
}

function headerOf({ headers }: HttpResponse, { names }: TestContext): string | undefined {
  return headers[names.requestId.toLowerCase()];
}

const requestIds: readonly JudgingCase<TestContext>[] = [
  {
    id: 'request-id-is-string',
    title: 'The request_id of a refusal is a string.',
    requirements: ['errors.request-id-is-string'],
    run: async (context) => {
      expectShape(await refusal(context), withRequestId);
    },
  },
  {
    id: 'request-id-of-the-caller',
    title: 'The request_id of an error is the request ID that the caller sent.',
    requirements: ['errors.request-id-of-the-caller'],
    run: async (context) => {
      const requestId = context.newName();
      const headers = { [context.names.requestId.toLowerCase()]: requestId };
      expectEqual('request_id', requestIdOf(await refusalWithId(context, headers)), requestId);
    },
  },
  {
    id: 'long-request-id-is-one',
    title: 'For a request ID of 100 or 200 characters, body and header of a refusal have the same.',
    requirements: ['errors.request-id-equals-header'],
    run: async (context) => {
      const name = context.names.requestId.toLowerCase();
      for (const characters of [100, 200]) {
        const requestId = context.newName().padEnd(characters, '0123456789');
        const response = await refusalWithId(context, { [name]: requestId });
        const inHeader = headerOf(response, context);
        if (inHeader === undefined) throw new NotObservable('no header carries the request ID');
        expectEqual('request_id', requestIdOf(response), inHeader);
      }
    },
  },
  {
    id: 'request-id-of-the-server',
    title:
      'If the caller sends no request ID, the server generates a different one for each request.',
    requirements: ['errors.request-id-of-the-server'],
    run: async (context) => {
      const one = requestIdOf(await refusalWithId(context));
      const other = requestIdOf(await refusalWithId(context));
      expectThat(one !== '' && one !== other, 'two request IDs', describeValue([one, other]));
    },
  },
  {
    id: 'request-id-equals-the-header',
    title: 'The request_id of a refusal equals the request ID header of the response.',
    requirements: ['errors.request-id-equals-header'],
    run: async (context) => {
      const response = await refusalWithId(context);
      const inHeader = headerOf(response, context);
      if (inHeader === undefined) throw new NotObservable('no header carries the request ID');
      expectEqual('request_id', requestIdOf(response), inHeader);
    },
  },
];

const anonymous = defineScenario<TestContext>({
  area: 'errors',
  name: 'A caller without a token',
  start: 'a caller without any token',
  effect: 'read',
  arrange: (context) => context,
  cases: [
    {
      id: 'unauthorized-is-an-error-body',
      title: 'The 401 of the next deployment carries an Error body.',
      requirements: ['errors.body-is-error'],
      run: async (context) => {
        const response = await context
          .caller()
          .call('get-next-deployment', { query: factoryProvides });
        const toMissing = {
          operation: 'get-next-deployment',
          requirement: 'tokens.missing-is-401',
        } as const;
        expectShape(requireRefusal(toMissing, response), errorBody);
      },
    },
    {
      id: 'malformed-is-an-error-body',
      title: 'The 400 of an authentication request carries an Error body.',
      requirements: ['errors.body-is-error', 'service.bodies-are-json', 'auth.refusals-are-errors'],
      run: async (context) => {
        expectShape(await refusal(context), errorBody);
      },
    },
    {
      id: 'error-is-string',
      title: 'The `error` of a refusal is a string.',
      requirements: ['errors.error-is-string'],
      run: async (context) => {
        expectShape(await refusal(context), withText);
      },
    },
    {
      id: 'error-says-why',
      title: 'The Error body says in words what was wrong.',
      requirements: ['errors.says-why'],
      run: async (context) => {
        const response = await refusal(context);
        const { error } = expectShape(response, v.looseObject({ error: v.optional(v.unknown()) }));
        expectThat(
          error !== undefined && error !== '',
          'a string in `error`',
          responseSummary(response),
        );
      },
    },
    ...requestIds,
    {
      id: 'odd-request-ids',
      title: 'What happens to a request ID of two thousand letters, or with a space in it.',
      requirements: ['errors.request-id-form'],
      observe: async (context) => {
        const name = context.names.requestId.toLowerCase();
        const outcome = async (requestId: string) =>
          requestIdOf(await refusal(context, { [name]: requestId })) === requestId
            ? 'kept'
            : 'replaced';
        const long = await outcome('x'.repeat(LONG_ID_CHARACTERS));
        return observationOf(`long: ${long}; with a space: ${await outcome('two words')}`);
      },
    },
    {
      id: 'texts-of-errors',
      title: 'Which messages a few refusals have.',
      requirements: ['errors.catalogue'],
      observe: async (context) => {
        const query = factoryProvides;
        const texts = [
          await refusal(context),
          await context.caller().call('get-next-deployment', { query }),
        ];
        return observationOf(texts.map(responseSummary).join('; '));
      },
    },
    {
      id: 'unknown-path-without-token',
      title: 'How an unknown path is answered to a caller without a token.',
      requirements: ['errors.unknown-path-without-token'],
      observe: async (context) => {
        const { url, method } = context.caller().request('get-configuration');
        return observedResponse(await context.client.send({ method, url: `${url}/unknown` }));
      },
    },
    {
      id: 'body-without-schema',
      title: 'What body the 401 of the inventory has, for which the contract shows none.',
      requirements: ['errors.bodies-without-schema'],
      observe: async (context) =>
        observedResponse(await context.caller().call('patch-attributes', { body: [] })),
    },
    {
      id: 'other-media-type',
      title: 'How an authentication request with a body of text/plain is answered.',
      requirements: ['errors.media-type'],
      observe: async (context) => {
        const headers = { 'content-type': 'text/plain' };
        return observedResponse(
          await context.caller().call('post-auth-request', { raw: '{}', headers }),
        );
      },
    },
    {
      id: 'body-too-large',
      title: 'How an authentication request with a body of 2 MiB is answered.',
      requirements: ['errors.body-too-large'],
      observe: async (context) => {
        const body = { id_data: 'x'.repeat(TWO_MEBIBYTES) };
        try {
          const { status } = await context.caller().call('post-auth-request', { body });
          return observationOf(`answered with ${status}`);
        } catch (error) {
          // A server may close the connection instead of reading on.
          if (error instanceof TransportFailure) return observationOf(error.message);
          throw error;
        }
      },
    },
  ],
});

const device = defineScenario({
  area: 'errors',
  name: 'A device',
  start: 'an accepted device with a token',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    {
      id: 'not-found-is-an-error-body',
      title: 'The 404 of a status for an unknown deployment carries an Error body.',
      requirements: ['errors.body-is-error'],
      run: async (caller, context) => {
        const path = { id: context.random.uuid() };
        const body = { status: 'installing' };
        const operation = 'put-deployment-status';
        const toUnknown = { operation, requirement: 'status.unknown-deployment-is-404' } as const;
        expectShape(
          requireRefusal(toUnknown, await caller.call(operation, { path, body })),
          errorBody,
        );
      },
    },
    {
      id: 'request-id-on-success',
      title: 'Whether a successful response carries the request ID of the caller.',
      requirements: ['errors.request-id-on-success'],
      observe: async (caller, context) => {
        const name = context.names.requestId.toLowerCase();
        const headers = { [name]: context.newName() };
        const query = factoryProvides;
        const responseHeader = headerOf(
          await caller.call('get-next-deployment', { query, headers }),
          context,
        );
        return observationOf(
          responseHeader === headers[name] ? 'it does' : `it carries ${responseHeader ?? 'none'}`,
        );
      },
    },
    {
      id: 'unknown-path',
      title: 'How an unknown path is answered.',
      requirements: ['errors.unknown-path'],
      observe: async (caller, context) => {
        const { url, ...request } = caller.request('get-configuration');
        return observedResponse(await context.client.send({ ...request, url: `${url}/unknown` }));
      },
    },
    {
      id: 'undecodable-path',
      title: 'How a path with an escape that is not UTF-8 is answered.',
      requirements: ['errors.undecodable-path'],
      observe: async (caller, context) => {
        const { url, ...request } = caller.request('get-artifact', { path: { id: 'escape' } });
        const invalidUrl = url.replace('escape', '%E0%A4%A');
        return observedResponse(await context.client.send({ ...request, url: invalidUrl }));
      },
    },
    {
      id: 'wrong-method',
      title: 'How a method that the operation does not have is answered.',
      requirements: ['errors.wrong-method'],
      observe: async (caller, context) => {
        const request = caller.request('get-configuration');
        return observedResponse(await context.client.send({ ...request, method: 'DELETE' }));
      },
    },
    {
      id: 'several-faults',
      title: 'Which of several errors of one request decides the status.',
      requirements: ['errors.order-of-rules'],
      observe: async (caller, context) => {
        const path = { id: context.random.uuid() };
        const unsigned = await context
          .caller('nonsense')
          .call('put-deployment-status', { path, raw: '{' });
        const unknownDeployment = await caller.call('put-deployment-status', { path, raw: '{' });
        const observation = `bad token and malformed: ${unsigned.status}`;
        return observationOf(`${observation}; malformed and unknown: ${unknownDeployment.status}`);
      },
    },
    {
      id: 'algorithm-and-claims',
      title: 'How the token of a device is signed, and which claims it has.',
      requirements: ['tokens.algorithm-and-claims'],
      observe: async ({ token }) => {
        const [header = '', claims = ''] = token.split('.');
        const decodePart = (part: string) => Buffer.from(part, 'base64url').toString('utf8');
        const names = v.safeParse(v.pipe(v.string(), v.parseJson(), errorBody), decodePart(claims));
        const reportedNames = names.success
          ? Object.keys(names.output).toSorted().join(', ')
          : 'no claims';
        return observationOf(`${decodePart(header)} with ${reportedNames}`);
      },
    },
  ],
});

export const errorCases = [...anonymous, ...device];
