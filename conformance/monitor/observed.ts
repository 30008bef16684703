/**
 * What is watched: exchanges between a device and a server, as somebody saw them who took no part
 * in them, and what the exchanges before them told of the device.
 */
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import { jsonExcess } from '../../fixtures/json-bounds.ts';
import type { Answer } from '../target/target.ts';
import type { DeviceMemory } from './memory.ts';

/** One request of a device and what came of it. */
export interface ObservedExchange {
  /** Index of the device in its fleet. */
  readonly device: number;
  /** Id of the contract's operation, or `download-artifact` for the source of a deployment. */
  readonly operation: string;
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** As they were sent. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
  /** Milliseconds since the Unix epoch: the request begins, the answer is whole. */
  readonly sentMs: number;
  readonly endedMs: number;
  /** Absent when none came. */
  readonly answer?: ObservedAnswer | undefined;
}

/** An answer as it came. */
export interface ObservedAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Absent when nobody kept it: a file, or more than is looked at. */
  readonly body?: Buffer | undefined;
}

/** Fetching the file of a deployment, which is no operation of the contract by itself. */
export const SOURCE = 'download-artifact';

/** What a rule may be about. */
export type WatchedOperation = OperationId | typeof SOURCE;

/** An answered exchange with all that a rule may go by. */
export class Seen {
  readonly exchange: ObservedExchange;
  readonly operation: WatchedOperation;
  readonly answer: Answer;
  /** Whether the body of the answer is known. */
  readonly hasWholeBody: boolean;
  readonly names: VendorNames;
  /** As it was before this exchange. */
  readonly device: DeviceMemory;
  #sent: { readonly json: unknown } | undefined;
  #received: { readonly json: unknown } | undefined;

  constructor(
    exchange: ObservedExchange & { readonly answer: ObservedAnswer },
    operation: WatchedOperation,
    { names, device }: { readonly names: VendorNames; readonly device: DeviceMemory },
  ) {
    const { status, headers, body } = exchange.answer;
    const bytes = body ?? Buffer.alloc(0);
    const joined = Object.entries(headers).map(([name, value = '']) => [name, String(value)]);
    const text = bytes.toString('utf8');
    this.exchange = exchange;
    this.operation = operation;
    this.answer = { status, headers: Object.fromEntries(joined), bytes, text };
    this.hasWholeBody = body !== undefined;
    this.names = names;
    this.device = device;
  }

  get status(): number {
    return this.answer.status;
  }

  get isSuccess(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** The JSON of the request's body; undefined when it is none. */
  get sent(): unknown {
    this.#sent ??= { json: jsonOf(String(this.exchange.body ?? '')) };
    return this.#sent.json;
  }

  /** The JSON of the answer's body; undefined when it is none. */
  get received(): unknown {
    this.#received ??= { json: jsonOf(this.answer.text) };
    return this.#received.json;
  }

  get sentBytes(): number {
    return Buffer.byteLength(this.exchange.body ?? '');
  }

  /** By the server's own clock, which need not be ours. */
  get serverNowMs(): number {
    const told = Date.parse(this.answer.headers.date ?? '');
    return Number.isNaN(told) ? this.exchange.endedMs : told;
  }

  /** The token that the request carried. */
  get token(): string | undefined {
    return this.header('authorization')?.replace(/^Bearer /i, '');
  }

  /** The deployment that the request names in its path. */
  get deploymentId(): string {
    const segments = new URL(this.exchange.url).pathname.split('/');
    return decodeURIComponent(segments.at(-2) ?? '');
  }

  /** A header of the request. */
  header(name: string): string | undefined {
    const entries = Object.entries(this.exchange.headers);
    return entries.find(([sent]) => sent.toLowerCase() === name.toLowerCase())?.[1];
  }
}

/** The operation of that id, if it is one that is watched. */
export function watchedOperation(id: string): WatchedOperation | undefined {
  return id === SOURCE || Object.hasOwn(operations, id) ? (id as WatchedOperation) : undefined;
}

function jsonOf(text: string): unknown {
  if (jsonExcess(Buffer.from(text)) !== undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Whoever asks learns that it is none; where it must be one, a rule says so.
    return undefined;
  }
}
