/**
 * A client that is made from an OpenAPI document: it knows paths, parameters, bodies and secrets
 * only from the document, and checks every request and response against it.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { WebSocket } from 'ws';
import {
  type OpenApiDocument,
  operationsOf,
  type PlacedOperation,
  RESPONSES,
  type ResponseEntry,
  responsesOf,
} from '../../fixtures/reference/openapi-document.ts';

/** The contents of a call; all names are those of the document. */
export interface DocumentCall {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly form?: Readonly<Record<string, string | Blob>>;
  /** The secret of the security scheme, instead of the client's own. */
  readonly secret?: string;
}

/** A response that has been checked against the document. */
export interface CheckedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  json<Body = Record<string, unknown>>(): Body;
}

/** Calls operations by their IDs, and records which ones it has called. */
export class DocumentClient {
  /** IDs of the operations that were answered with a success. */
  readonly driven = new Set<string>();
  /** Differences between requests or responses and the document. */
  readonly problems: string[] = [];
  readonly #operations: ReadonlyMap<string, PlacedOperation>;
  readonly #document: OpenApiDocument;
  readonly #secrets: Readonly<Record<string, string>>;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, formats: fullFormats });

  /** @param secrets the secrets by security scheme */
  constructor(document: OpenApiDocument, secrets: Readonly<Record<string, string>>) {
    this.#document = document;
    this.#secrets = secrets;
    this.#operations = new Map(
      operationsOf(document).map((placed) => [placed.operation.operationId, placed]),
    );
    this.#ajv.addSchema(document, 'reference');
  }

  get operationIds(): readonly string[] {
    return [...this.#operations.keys()];
  }

  /** IDs of the operations that need a secret. */
  get protectedIds(): readonly string[] {
    return this.operationIds.filter((id) => this.#operationFor(id).operation.security.length > 0);
  }

  /** Calls an operation; the response must be a success. */
  async call(id: string, call: DocumentCall = {}): Promise<CheckedResponse> {
    const response = await this.send(id, call);
    const { status, text } = response;
    if (status >= 400) throw new Error(`${id} was answered with ${status}: ${text}`);
    return response;
  }

  /** Calls an operation; the response may be a refusal. */
  async send(id: string, call: DocumentCall = {}): Promise<CheckedResponse> {
    const operation = this.#operationFor(id);
    const { url, headers } = this.#requestOf(operation, call);
    const body = this.#bodyOf(operation, call, headers);
    const response = await fetch(url, {
      method: operation.method,
      headers,
      body,
      redirect: 'manual',
    });
    const text = await response.text();
    this.#check(operation, response, text);
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: <Body>() => JSON.parse(text) as Body,
    };
  }

  /** Calls an operation with its required parameters and a wrong secret. */
  sendUnauthorized(id: string): Promise<CheckedResponse> {
    const { parameters = [] } = this.#operationFor(id).operation;
    const requiredIn = (location: string) =>
      Object.fromEntries(
        parameters.flatMap(({ name, in: parameterIn, required: isRequired }) =>
          parameterIn === location && isRequired ? [[name, 'x']] : [],
        ),
      );
    const parameterNames = {
      path: requiredIn('path'),
      query: requiredIn('query'),
      headers: requiredIn('header'),
    };
    return this.send(id, { ...parameterNames, secret: 'eA==' });
  }

  /** Calls an operation by a link that another response contained. */
  followLink(id: string, uri: string, call: DocumentCall = {}): Promise<CheckedResponse> {
    const { pathname, searchParams } = new URL(uri);
    const steps = this.#operationFor(id).path.split('/');
    const segments = pathname.split('/').map(decodeURIComponent);
    const path = steps.flatMap((step, at) => {
      const [, name] = /^\{(\w+)\}$/.exec(step) ?? [];
      return name === undefined ? [] : [[name, segments[at] ?? ''] as const];
    });
    return this.call(id, {
      path: Object.fromEntries(path),
      query: Object.fromEntries(searchParams),
      ...call,
    });
  }

  /** Reads the first event of a stream. */
  async firstEvent(id: string, call: DocumentCall = {}): Promise<string> {
    const operation = this.#operationFor(id);
    const { url, headers } = this.#requestOf(operation, call);
    const response = await fetch(url, { headers });
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      if (/^data: .*\n\n/m.test(text)) break;
    }
    this.#check(operation, response, text);
    return text;
  }

  /** Opens a WebSocket at the path that the document gives for the operation. */
  async connect(id: string, call: DocumentCall = {}): Promise<WebSocket> {
    const operation = this.#operationFor(id);
    const { url, headers } = this.#requestOf(operation, call);
    const socket = new WebSocket(url.replace(/^http/, 'ws'), {
      headers: Object.fromEntries(headers),
    });
    const [[response]] = (await Promise.all([once(socket, 'upgrade'), once(socket, 'open')])) as [
      [IncomingMessage],
      unknown,
    ];
    const headerPairs = Object.entries(response.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    const responseParts = { status: response.statusCode ?? 0, headers: new Headers(headerPairs) };
    this.#check(operation, responseParts, '');
    return socket;
  }

  /** Checks a response that another client got; problems name the operation. */
  record(id: string, response: Pick<Response, 'status' | 'headers'>, text: string): void {
    this.#check(this.#operationFor(id), response, text);
  }

  #operationFor(id: string): PlacedOperation {
    const operation = this.#operations.get(id);
    if (!operation) throw new Error(`the document has no operation ${id}`);
    return operation;
  }

  #requestOf(placed: PlacedOperation, call: DocumentCall) {
    const { parameters = [], security, operationId } = placed.operation;
    const { path = {}, query = {}, headers = {}, secret } = call;
    const parametersByPlace = { path, query, header: headers };
    for (const { name, in: location, required } of parameters) {
      if (required && parametersByPlace[location][name] === undefined) {
        this.problems.push(`${operationId}: the call lacks the ${location} parameter ${name}`);
      }
    }
    for (const [location, names] of Object.entries(parametersByPlace)) {
      for (const name of Object.keys(names)) {
        const isKnown = parameters.some((each) => each.in === location && each.name === name);
        if (!isKnown) this.problems.push(`${operationId}: no ${location} parameter ${name}`);
      }
    }
    const target = placed.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(path[name] ?? ''),
    );
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      for (const each of [value].flat()) search.append(name, each);
    }
    const requestHeaders = new Headers(headers);
    const scheme = Object.keys(security[0] ?? {})[0];
    if (scheme !== undefined) {
      const kind = scheme === 'password' ? 'Basic' : 'Bearer';
      requestHeaders.set('Authorization', `${kind} ${secret ?? this.#secrets[scheme]}`);
    }
    const url = placed.url + target + (search.size === 0 ? '' : `?${search}`);
    return { url, headers: requestHeaders };
  }

  #bodyOf({ method, path, operation }: PlacedOperation, call: DocumentCall, headers: Headers) {
    const { body, form } = call;
    if (form) {
      const data = new FormData();
      for (const [name, value] of Object.entries(form)) data.append(name, value);
      return data;
    }
    if (body === undefined) return null;
    const types = Object.keys(operation.requestBody?.content ?? {});
    const type = types.find((each) => each.endsWith('/json')) ?? types[0] ?? '';
    const location = [
      'paths',
      path,
      method.toLowerCase(),
      'requestBody',
      'content',
      type,
      'schema',
    ];
    this.#validate(`${operation.operationId}: body`, location, body);
    headers.set('Content-Type', type);
    return JSON.stringify(body);
  }

  #check(
    placed: PlacedOperation,
    { status, headers }: Pick<Response, 'status' | 'headers'>,
    text: string,
  ): void {
    const { operation } = placed;
    const place = `${operation.operationId}: ${status}`;
    const [, response] =
      responsesOf(this.#document, operation).find(([each]) => each === String(status)) ?? [];
    if (!response) {
      this.problems.push(`${place} is not documented`);
      return;
    }
    if (status < 400) this.driven.add(operation.operationId);
    for (const [name, { required }] of Object.entries(response.headers ?? {})) {
      if (required && !headers.has(name)) this.problems.push(`${place} lacks the header ${name}`);
    }
    if (placed.method !== 'HEAD') this.#checkBody(placed, response, { status, headers, text });
  }

  #checkBody(
    { method, path, operation }: PlacedOperation,
    { content }: ResponseEntry,
    { status, headers, text }: { status: number; headers: Headers; text: string },
  ): void {
    const place = `${operation.operationId}: ${status}`;
    const [type = ''] = (headers.get('Content-Type') ?? '').split(';');
    if (!content) {
      if (text !== '') this.problems.push(`${place} has an undocumented body: ${text}`);
      return;
    }
    if (content['*/*']) return;
    if (!content[type]) {
      this.problems.push(`${place} has the media type ${type}`);
      return;
    }
    const entry = operation.responses[status];
    const home =
      entry && '$ref' in entry
        ? ['components', 'responses', entry.$ref.slice(RESPONSES.length)]
        : ['paths', path, method.toLowerCase(), 'responses', String(status)];
    const location = [...home, 'content', type, 'schema'];
    if (type === 'application/json') this.#validate(place, location, JSON.parse(text));
    for (const [, data = ''] of type === 'text/event-stream'
      ? text.matchAll(/^data: (.*)/gm)
      : []) {
      this.#validate(place, [...location, 'contentSchema'], JSON.parse(data));
    }
  }

  #validate(place: string, location: readonly string[], value: unknown): void {
    const pointer = location.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1'));
    const uri = `reference#/${pointer.map(encodeURIComponent).join('/')}`;
    const validate = this.#ajv.getSchema(uri);
    if (!validate) throw new Error(`the document has no schema at ${location.join(' ')}`);
    if (validate(value)) return;
    const errors = (validate.errors ?? []).map((each) => `${each.instancePath} ${each.message}`);
    this.problems.push(`${place}: ${errors.join('; ')}`);
  }
}
