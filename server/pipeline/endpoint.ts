/**
 * What an endpoint is: one operation of the contract together with the function that answers it.
 * Input arrives checked; the types of input and answer are inferred from the operation's row.
 */
import type { IncomingMessage } from 'node:http';
import type * as v from 'valibot';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type {
  Authorization,
  Operation,
  PathParameter,
  SuccessAnswer,
} from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { ExchangeRecord } from '../control/journal/record.ts';
import type { Refusal } from '../http/refusal.ts';
import type { Handover } from '../http/upgrade-request.ts';
import type { Store } from '../store/store.ts';
import type { Tenant } from '../tenants/tenants.ts';
import type { Services } from './services.ts';

const rows = { ...operations, ...managementOperations, ...storageOperations };
type Rows = typeof rows;
export type EndpointId = keyof Rows;

/** The device that a request's token was issued to. */
export interface CallingDevice {
  readonly id: string;
  readonly authSetId: string;
}

/** The user that a request's token was issued to. */
export interface CallingUser {
  readonly id: string;
  readonly email: string;
  /** Of the token that the request came with. */
  readonly tokenId: string;
  /** Inventory groups whose devices this operation may touch; absent when all devices. */
  readonly groups?: readonly string[];
}

type CallerOf<Kind extends Authorization> = Kind extends 'device' | 'socket'
  ? { readonly device: CallingDevice }
  : Kind extends 'user'
    ? { readonly user: CallingUser }
    : object;

/** What every handler knows beside its input. */
export interface RequestContext extends Omit<Services, 'storageFaults'> {
  /** The caller's tenant; the first one where the caller has no token. */
  readonly tenant: Tenant;
  /** The tenant's store. */
  readonly store: Store;
  readonly requestId: string;
  /** The same request, acting in another tenant than the caller's token names. */
  within(tenant: Tenant): RequestContext;
  /** The moment of the request, milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** Scheme and authority under which the caller reached us; links are built from it. */
  readonly origin: string;
  /** The same for links to artifact files, which may be served elsewhere. */
  readonly storageOrigin: string;
  readonly request: IncomingMessage;
  /** The body exactly as sent; empty when there was none. */
  readonly rawBody: Buffer;
}

/** A file of the store, served with ranges and preconditions. */
export interface FileBody {
  readonly folder: string;
  /** Name within the folder; the content's digest, so it serves as a strong validator too. */
  readonly name: string;
  readonly mediaType: string;
  readonly downloadName: string;
  readonly modifiedMs: number;
  readonly sizeBytes: number;
}

type BodyOf<Success extends SuccessAnswer> = Success extends { shape: infer Shape }
  ? Shape extends v.GenericSchema
    ? { readonly body: v.InferInput<Shape> }
    : never
  : Success extends { mediaType: string }
    ? { readonly body: Buffer | Iterable<string> | AsyncIterable<Uint8Array> }
    : object;

/** What becomes of the connection once its upgrade is granted. */
interface Upgrading {
  readonly upgrade: (handover: Handover) => void;
}

type SuccessOf<Row extends Operation> = {
  [Status in keyof Row['success']]: Row['success'][Status] extends SuccessAnswer
    ? {
        readonly status: Status;
        readonly headers?: Readonly<Record<string, string | readonly string[]>>;
      } & (Status extends 101 ? Upgrading : BodyOf<Row['success'][Status]>)
    : never;
}[keyof Row['success']];

type QueryOf<Row extends Operation> = Row extends { query: infer Entries extends v.ObjectEntries }
  ? v.InferOutput<v.ObjectSchema<Entries, undefined>>
  : object;

type GivenBody<Row extends Operation> = Row extends { body: infer Shape extends v.GenericSchema }
  ? Row extends { bodyOptional: true }
    ? v.InferOutput<Shape> | undefined
    : v.InferOutput<Shape>
  : undefined;

/** Checked input of an operation. */
export interface InputOf<Row extends Operation> {
  readonly parameters: Readonly<Record<PathParameter<Row['path']>, string>>;
  readonly query: QueryOf<Row>;
  readonly body: GivenBody<Row>;
}

/** Any successful answer, as the pipeline sees it. */
export interface Success {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
  readonly fileBody?: FileBody;
  readonly upgrade?: Upgrading['upgrade'];
  /** Why a device that asked gets no update; for the journal, not for the wire. */
  readonly noUpdate?: ExchangeRecord['noUpdate'];
}

type AnswerOf<Row extends Operation> =
  | (SuccessOf<Row> & Pick<Success, 'noUpdate'>)
  | { status: 200; fileBody: FileBody }
  | Refusal;

/** An operation and its handler, as the pipeline sees them. */
export interface Endpoint {
  readonly operation: Operation;
  readonly handle: (
    input: { parameters: Record<string, string>; query: object; body: unknown },
    context: RequestContext & { device: CallingDevice; user: CallingUser },
  ) => Success | Refusal | Promise<Success | Refusal>;
}

/**
 * Joins an operation's row with its handler. A refusal that is returned keeps what the handler
 * wrote; an exception undoes it and becomes a 500.
 */
export function defineEndpoint<Id extends EndpointId>(
  id: Id,
  handle: (
    input: InputOf<Rows[Id]>,
    context: RequestContext & CallerOf<Rows[Id]['authorization']>,
  ) => AnswerOf<Rows[Id]> | Promise<AnswerOf<Rows[Id]>>,
): Endpoint {
  return { operation: rows[id], handle: handle as unknown as Endpoint['handle'] };
}

/** Every operation that must be mounted, by id. */
export const mountedOperations: Readonly<Record<string, Operation>> = rows;
