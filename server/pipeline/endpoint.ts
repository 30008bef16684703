/**
 * Defines endpoints: an operation of the contract together with its handler. The input is already
 * validated; the types of input and response are inferred from the operation's row.
 */
import type { IncomingMessage } from 'node:http';
import type * as v from 'valibot';
import type { LongTaskCaller } from '../../fixtures/base/clock.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type {
  Authorization,
  Operation,
  PathParameter,
  SuccessResponse,
} from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { JsonList } from '../http/json-list.ts';
import type { Refusal } from '../http/refusal.ts';
import type { FileBody, ProtocolUpgrade, Success } from '../http/success.ts';
import type { Store } from '../store/store.ts';
import type { Tenant } from '../tenants/tenants.ts';
import type { Services } from './services.ts';

/** A named type: without it, the package's declarations would repeat every row of the contract. */
type EndpointRows = typeof operations & typeof managementOperations & typeof storageOperations;
const rows: EndpointRows = { ...operations, ...managementOperations, ...storageOperations };
export type EndpointId = keyof EndpointRows;

/** The device that a request's token was issued to. */
export interface CallingDevice {
  readonly id: string;
  readonly authSetId: string;
}

/** The user that a request's token was issued to. */
export interface CallingUser {
  readonly id: string;
  readonly email: string;
  /** ID of the token that the request carries. */
  readonly tokenId: string;
  /**
   * Inventory groups whose devices this operation may access; absent when it may access all
   * devices.
   */
  readonly groups?: readonly string[];
}

type CallerOf<Kind extends Authorization> = Kind extends 'device' | 'socket'
  ? { readonly device: CallingDevice }
  : Kind extends 'user'
    ? { readonly user: CallingUser }
    : object;

/** The context that every handler receives in addition to its input. */
export interface HandlerContext
  extends Omit<Services, 'storageErrors' | 'unreadBytes'>,
    LongTaskCaller {
  /** The caller's tenant; the first tenant where the caller has no token. */
  readonly tenant: Tenant;
  readonly store: Store;
  readonly requestId: string;
  /** Switches the request to another tenant; returns the same context. */
  switchTo(tenant: Tenant): HandlerContext;
  /** Time of the request in milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** Scheme and authority that the caller used; links start with it. */
  readonly origin: string;
  /** Scheme and authority for links to artifact files, which may have their own listener. */
  readonly storageOrigin: string;
  readonly request: IncomingMessage;
  /** The body exactly as sent; empty when there was none. */
  readonly rawBody: Buffer;
}

/** The context of every handler of the device API that needs a token. */
export type DeviceContext = HandlerContext & { readonly device: CallingDevice };

/** The context of every handler of the management API. */
export type UserContext = HandlerContext & { readonly user: CallingUser };

type ListOf<Body> = Body extends readonly (infer Item)[] ? JsonList<Item> : never;

type SuccessBody<Success extends SuccessResponse> = Success extends { shape: infer Shape }
  ? Shape extends v.GenericSchema
    ? { readonly body: v.InferInput<Shape> | ListOf<v.InferInput<Shape>> }
    : never
  : Success extends { mediaType: string }
    ? { readonly body: Buffer | Iterable<string> | AsyncIterable<Uint8Array> }
    : object;

type SuccessOf<Row extends Operation> = {
  [Status in keyof Row['success']]: Row['success'][Status] extends SuccessResponse
    ? {
        readonly status: Status;
        readonly headers?: Readonly<Record<string, string | readonly string[]>>;
      } & (Status extends 101 ? ProtocolUpgrade : SuccessBody<Row['success'][Status]>)
    : never;
}[keyof Row['success']];

type EndpointQuery<Row extends Operation> = Row extends {
  query: infer Entries extends v.ObjectEntries;
}
  ? v.InferOutput<v.ObjectSchema<Entries, undefined>>
  : object;

type EndpointBody<Row extends Operation> = Row extends { body: infer Shape extends v.GenericSchema }
  ? Row extends { bodyOptional: true }
    ? v.InferOutput<Shape> | undefined
    : v.InferOutput<Shape>
  : undefined;

/** Validated input of an operation. */
export interface InputOf<Row extends Operation> {
  readonly parameters: Readonly<Record<PathParameter<Row['path']>, string>>;
  readonly query: EndpointQuery<Row>;
  readonly body: EndpointBody<Row>;
}

type EndpointResponse<Row extends Operation> =
  | (SuccessOf<Row> & Pick<Success, 'noUpdate'>)
  | { status: 200; fileBody: FileBody }
  | Refusal;

/** An operation with its handler, as the pipeline calls it. */
export interface Endpoint {
  readonly operation: Operation;
  readonly handle: (
    input: { parameters: Record<string, string>; query: object; body: unknown },
    context: HandlerContext & { device: CallingDevice; user: CallingUser },
  ) => Success | Refusal | Promise<Success | Refusal>;
  /** True when the handler opens its transactions itself. */
  readonly ownTransactions?: boolean;
}

/** A handler of a GET only reads and needs no transaction, so it may return a promise. */
type MaybePromise<Row extends Operation, HttpResponse> = Row['method'] extends 'GET' | 'HEAD'
  ? HttpResponse | Promise<HttpResponse>
  : HttpResponse;

/**
 * Combines an operation with its handler. The handler runs in one transaction of the caller's
 * tenant: a returned refusal keeps what the handler wrote; an exception rolls it back and becomes a
 * 500.
 */
export function defineEndpoint<Id extends EndpointId>(
  id: Id,
  handle: (
    input: InputOf<EndpointRows[Id]>,
    context: HandlerContext & CallerOf<EndpointRows[Id]['authorization']>,
  ) => MaybePromise<EndpointRows[Id], EndpointResponse<EndpointRows[Id]>>,
): Endpoint {
  return { operation: rows[id], handle: handle as unknown as Endpoint['handle'] };
}

/**
 * Defines an endpoint whose handler is asynchronous, or determines the tenant itself. The handler
 * opens its own transactions, none of which may span an `await`.
 */
export function defineEndpointWithOwnTransactions<Id extends EndpointId>(
  id: Id,
  handle: (
    input: InputOf<EndpointRows[Id]>,
    context: HandlerContext & CallerOf<EndpointRows[Id]['authorization']>,
  ) => EndpointResponse<EndpointRows[Id]> | Promise<EndpointResponse<EndpointRows[Id]>>,
): Endpoint {
  const endpoint = { operation: rows[id], handle: handle as unknown as Endpoint['handle'] };
  return { ...endpoint, ownTransactions: true };
}

/** Every operation that must have an endpoint, by ID. */
export const mountedOperations: Readonly<Record<string, Operation>> = rows;
