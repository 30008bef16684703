/** Defects in errors and request IDs. Spec: Error; Errors */
import { changedAt, changedJson, objectOf, withHeaders } from '../alter.ts';
import { responseBecomes } from '../alterations.ts';
import type { Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';

const operations = ['post-auth-request'] as const;

/** Changes a member of the Error body of a malformed authentication request. */
function errorMemberBecomes(name: string, change: (value: unknown) => unknown) {
  return responseBecomes((response) =>
    response.status === 400
      ? changedJson(response, (body) => changedAt(body, name, change))
      : response,
  );
}

/** Returns the name of the header with the request ID; undefined when the response has none. */
function requestIdHeader({ headers }: ProxiedResponse): string | undefined {
  return Object.keys(headers).find((name) => name.endsWith('-requestid'));
}

function hasRequestId({ headers }: ProxiedRequest): boolean {
  return Object.keys(headers).some((name) => name.endsWith('-requestid'));
}

/** Returns the response with another request ID in body and header. */
function withRequestId(response: ProxiedResponse, id: string): ProxiedResponse {
  const name = requestIdHeader(response);
  const inBody = changedJson(response, (body) => changedAt(body, 'request_id', () => id));
  return name === undefined ? inBody : withHeaders(inBody, { [name]: id });
}

export const errorDefects: readonly Defect[] = [
  {
    id: 'error-is-an-object',
    title: 'The `error` of a refusal is an object with a code and a message, as gateways write it.',
    violates: ['errors.error-is-string'],
    operations,
    alter: errorMemberBecomes('error', (message) => ({ status_code: 400, message })),
  },
  {
    id: 'error-is-empty',
    title: 'The `error` of a refusal is an empty string.',
    violates: ['errors.says-why', 'auth.refusal-says-why'],
    operations,
    alter: errorMemberBecomes('error', () => ''),
  },
  {
    id: 'request-id-is-cut',
    title: 'The request_id of a refusal has the first 64 characters of the request ID.',
    violates: ['errors.request-id-equals-header', 'errors.request-id-of-the-caller'],
    operations,
    alter: errorMemberBecomes('request_id', (id) => String(id).slice(0, 64)),
  },
  {
    id: 'request-id-is-a-number',
    title: 'The request_id of a refusal is a number.',
    violates: ['errors.request-id-is-string'],
    operations,
    alter: errorMemberBecomes('request_id', () => 17),
  },
  {
    id: 'request-id-of-the-caller-is-replaced',
    title: 'The server generates a request ID although the caller sent one.',
    violates: ['errors.request-id-of-the-caller'],
    operations,
    alter: responseBecomes((response) => withRequestId(response, 'another'), hasRequestId),
  },
  {
    id: 'request-id-becomes-lower-case',
    title: 'The request ID of the caller is repeated in lower case.',
    violates: ['errors.request-id-of-the-caller'],
    operations,
    alter: responseBecomes((response) => {
      const id = objectOf(response).request_id;
      return typeof id === 'string' ? withRequestId(response, id.toLowerCase()) : response;
    }, hasRequestId),
  },
  {
    id: 'request-id-of-the-caller-is-replaced-in-a-404',
    title: 'The 404 has a request ID of the server although the caller sent one.',
    violates: ['errors.request-id-of-the-caller'],
    operations: ['put-deployment-log', 'get-artifact'],
    alter: responseBecomes(
      (response) => (response.status === 404 ? withRequestId(response, 'another') : response),
      hasRequestId,
    ),
  },
  {
    id: 'request-id-is-always-the-same',
    title: 'Every request without an ID gets the same one.',
    violates: ['errors.request-id-of-the-server'],
    operations,
    alter: responseBecomes(
      (response) => withRequestId(response, 'the-only-one'),
      (request) => !hasRequestId(request),
    ),
  },
  {
    id: 'request-ids-differ',
    title: 'The request ID in the body differs from the one in the header.',
    violates: ['errors.request-id-equals-header'],
    operations,
    alter: responseBecomes(
      (response) => {
        const name = requestIdHeader(response);
        return name === undefined
          ? response
          : withHeaders(response, { [name]: `${response.headers[name]}-other` });
      },
      (request) => !hasRequestId(request),
    ),
  },
  {
    id: 'refusals-are-pages',
    title: 'A malformed authentication request is answered with an HTML page.',
    violates: [
      'errors.body-is-error',
      'service.bodies-are-json',
      'auth.refusals-are-errors',
      'errors.error-is-string',
      'errors.says-why',
      'errors.request-id-is-string',
    ],
    operations,
    alter: responseBecomes((response) =>
      response.status === 400
        ? { ...response, body: Buffer.from('<!doctype html><title>400</title>') }
        : response,
    ),
  },
  {
    id: 'first-contact-is-answered-in-words',
    title: 'The refusal of a first contact is a sentence instead of an Error body.',
    violates: ['auth.refusals-are-errors', 'auth.refusal-says-why', 'errors.body-is-error'],
    operations,
    alter: responseBecomes((response) =>
      response.status === 401 ? { ...response, body: Buffer.from('not authorized') } : response,
    ),
  },
];
