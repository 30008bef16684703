/** Cases: errors, request ids and other habits of HTTP. Spec: Errors; What the service does */
import { Readable } from 'node:stream';
import { operations } from '../../fixtures/contract/operations.ts';
import { errorShape } from '../../fixtures/contract/resources.ts';
import { defineScenario } from '../case.ts';
import {
  expectEqual,
  expectPresent,
  expectShape,
  expectStatus,
  expectThat,
  observed,
  observedAnswer,
  shown,
  shownAnswer,
} from '../expectations.ts';
import { acceptedDevice, factoryProvides } from '../stage/start-states.ts';
import { TransportFailure } from '../target/transport-failure.ts';

const TWO_MEBIBYTES = 2 * 1_048_576;

const nobody = defineScenario({
  area: 'errors',
  name: 'A caller without a token',
  start: 'a caller without any token',
  risk: 'read',
  arrange: (stage) => stage,
  cases: [
    {
      id: 'unauthorized-is-an-error-body',
      title: 'The 401 of the next deployment carries an Error body.',
      requirements: ['errors.body-is-error'],
      run: async (stage) => {
        const answer = await stage.caller().call('get-next-deployment', { query: factoryProvides });
        expectStatus(answer, 401);
        expectShape(answer, errorShape);
      },
    },
    {
      id: 'malformed-is-an-error-body',
      title: 'The 400 of an authentication request carries an Error body.',
      requirements: ['errors.body-is-error', 'service.bodies-are-json'],
      run: async (stage) => {
        const answer = await stage.caller().call('post-auth-request', { raw: '{' });
        expectStatus(answer, 400);
        expectShape(answer, errorShape);
      },
    },
    {
      id: 'error-says-why',
      title: 'The Error body says in words what was wrong.',
      requirements: ['errors.says-why'],
      run: async (stage) => {
        const answer = await stage.caller().call('post-auth-request', { raw: '{' });
        const { error = '' } = expectShape(answer, errorShape);
        expectThat(error.length > 0, 'a text in `error`', shownAnswer(answer));
      },
    },
    {
      id: 'request-id-of-the-caller',
      title: 'A request id that the caller sends comes back as request_id of the error.',
      requirements: ['errors.request-id-of-the-caller'],
      run: async (stage) => {
        const sent = stage.newName();
        const headers = { [stage.names.requestId.toLowerCase()]: sent };
        const answer = await stage.caller().call('post-auth-request', { raw: '{', headers });
        const { request_id = sent } = expectShape(answer, errorShape);
        expectEqual('request_id', request_id, sent);
      },
    },
    {
      id: 'request-id-of-the-server',
      title: 'Without one the server makes it, the same in the body and in the header.',
      requirements: ['errors.request-id-of-the-server'],
      run: async (stage) => {
        const answer = await stage.caller().call('post-auth-request', { raw: '{' });
        const inBody = expectShape(answer, errorShape).request_id;
        const inHeader = answer.headers[stage.names.requestId.toLowerCase()];
        const made = expectPresent('a request id in body or header', inBody ?? inHeader);
        expectEqual('request ids', [inBody ?? made, inHeader ?? made], [made, made]);
      },
    },
    {
      id: 'json-is-labelled',
      title: 'An Error body is labelled application/json.',
      requirements: ['service.json-is-labelled'],
      run: async (stage) => {
        const { headers } = await stage.caller().call('post-auth-request', { raw: '{' });
        const mediaType = headers['content-type'] ?? '';
        // Types and their parameters come in any case (RFC 9110, section 8.3.1).
        const isJson = /^application\/json\s*(;|$)/i.test(mediaType);
        expectThat(isJson, 'application/json', shown(mediaType));
      },
    },
    {
      id: 'options-is-success',
      title: 'OPTIONS of a browser, without a token, is answered with success.',
      requirements: ['service.options-for-browsers'],
      run: async (stage) => {
        const { path } = operations['put-configuration'];
        const headers = { origin: 'https://example.com', 'access-control-request-method': 'PUT' };
        const answer = await stage.session.send({ method: 'OPTIONS', url: path, headers });
        expectStatus(answer, 200, 204);
      },
    },
    {
      id: 'internal-apis-are-hidden',
      title: 'A path of the internal APIs is no way in: it is refused or not found.',
      requirements: ['service.internal-apis-are-hidden'],
      run: async (stage) => {
        const url = operations['get-configuration'].path.replace('/devices/', '/internal/');
        expectStatus(await stage.session.send({ method: 'GET', url }), 401, 403, 404);
      },
    },
    {
      id: 'other-media-type',
      title: 'What an authentication request with a body of text/plain is answered.',
      requirements: ['errors.media-type'],
      observe: async (stage) => {
        const headers = { 'content-type': 'text/plain' };
        return observedAnswer(
          await stage.caller().call('post-auth-request', { raw: '{}', headers }),
        );
      },
    },
    {
      id: 'body-too-large',
      title: 'What an authentication request with a body of two mebibytes is answered.',
      requirements: ['errors.body-too-large'],
      observe: async (stage) => {
        const body = { id_data: 'x'.repeat(TWO_MEBIBYTES) };
        try {
          const { status } = await stage.caller().call('post-auth-request', { body });
          return observed(`answered ${status}`);
        } catch (error) {
          // A server may close the connection rather than read on.
          if (error instanceof TransportFailure) return observed(error.message);
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
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'not-found-is-an-error-body',
      title: 'The 404 of an artifact carries an Error body.',
      requirements: ['errors.body-is-error'],
      run: async (caller, stage) => {
        const answer = await caller.call('get-artifact', { path: { id: stage.random.uuid() } });
        expectStatus(answer, 404);
        expectShape(answer, errorShape);
      },
    },
    {
      id: 'request-id-on-success',
      title: 'Whether a successful answer carries the request id of the caller.',
      requirements: ['errors.request-id-on-success'],
      observe: async (caller, stage) => {
        const name = stage.names.requestId.toLowerCase();
        const headers = { [name]: stage.newName() };
        const answer = await caller.call('get-configuration', { headers });
        const given = answer.headers[name];
        return observed(given === headers[name] ? 'it does' : `it carries ${given ?? 'none'}`);
      },
    },
    {
      id: 'unknown-path',
      title: 'What a path that names no operation is answered.',
      requirements: ['errors.unknown-path'],
      observe: async (caller, stage) => {
        const { url, ...request } = caller.request('get-configuration');
        return observedAnswer(await stage.session.send({ ...request, url: `${url}/unknown` }));
      },
    },
    {
      id: 'wrong-method',
      title: 'What a method that the operation does not have is answered.',
      requirements: ['errors.wrong-method'],
      observe: async (caller, stage) => {
        const request = caller.request('get-configuration');
        return observedAnswer(await stage.session.send({ ...request, method: 'DELETE' }));
      },
    },
    {
      id: 'chunked-body-is-read',
      title: 'A body that comes in chunks, without Content-Length, is read like any other.',
      requirements: ['service.chunked-bodies'],
      run: async (caller) => {
        const raw = Readable.from(['[{"name":"a",', '"value":"b"}]']);
        expectStatus(await caller.call('put-attributes', { raw }), 200);
      },
    },
  ],
});

/** Spec: Errors; What the service does */
export const errorCases = [...nobody, ...device];
