/**
 * What is watched: exchanges between a device and a server, as a third party saw them, and what the
 * exchanges before them have shown of the device: its tokens, deployments and sources.
 */
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { ReportableStatus } from '../../fixtures/contract/vocabulary.ts';
import { jsonExcess } from '../../fixtures/json-bounds.ts';
import { JudgedExchange } from '../invariants/judged-exchange.ts';
import type { RunMemory } from '../invariants/run-memory.ts';
import type { Answer } from '../target/answer.ts';
import { membersOf } from '../target/json-members.ts';

/** Deployments, sources and tokens that are remembered of a device; the oldest make room. */
const DEPLOYMENTS_MAX = 16;
const SOURCES_MAX = 16;
const TOKENS_MAX = 4;

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
  /** What invariants remember of all devices. */
  readonly memory: RunMemory;
  /** The exchange as invariants see it; undefined for what is no operation of the contract. */
  readonly judged: JudgedExchange | undefined;
  #sent: { readonly json: unknown } | undefined;
  #received: { readonly json: unknown } | undefined;

  constructor(
    exchange: ObservedExchange & { readonly answer: ObservedAnswer },
    operation: WatchedOperation,
    {
      names,
      device,
      memory,
    }: {
      readonly names: VendorNames;
      readonly device: DeviceMemory;
      readonly memory: RunMemory;
    },
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
    this.memory = memory;
    this.judged = operation === SOURCE ? undefined : this.#judgedAs(operation);
  }

  #judgedAs(operation: OperationId): JudgedExchange {
    const { url, headers } = this.exchange;
    const request = { url, headers, bodyBytes: this.sentBytes, isChunked: false };
    const seen = { answer: this.answer, isWhole: this.hasWholeBody };
    return new JudgedExchange(operations[operation], request, {
      ...seen,
      requestIdHeader: this.names.requestId,
    });
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

/** A token that the device was seen to get. */
export interface Grant {
  /** The key that had signed for it. */
  readonly pubkey: unknown;
  /** By the server's clock. */
  readonly serverMs: number;
  /** Whether the device had been granted one before. */
  readonly isRenewed: boolean;
  /** It has opened something. */
  hasOpened: boolean;
}

/** A use of a token that was answered 401. */
export interface Refusal {
  readonly grant: Grant;
  readonly exchange: ObservedExchange;
  /** How old the token was, by the server's clock. */
  readonly ageMs: number;
}

/** A deployment that the device was offered. */
export interface OfferedDeployment {
  readonly operation: WatchedOperation;
  /** Reports that were sent, acknowledged or not. */
  reports: number;
  /** The last report that the server took, if no later one is in doubt. */
  recorded: { readonly status: ReportableStatus; readonly atMs: number } | undefined;
  /** When the server said that it was aborted. */
  abortedMs: number | undefined;
}

/** What is known of one device; it learns from each exchange after that was judged. */
export class DeviceMemory {
  readonly #grants = new Map<string, Grant>();
  readonly #sources = new Map<string, string | undefined>();
  readonly deployments = new Map<string, OfferedDeployment>();
  /** Operations that have succeeded, with the longest body that was taken. */
  readonly taken = new Map<WatchedOperation, number>();
  /** The last refusal of a token; what it means shows when the device signs in again. */
  refusal: Refusal | undefined;

  /** The token's grant, if it was seen. */
  grantOf(token: string | undefined): Grant | undefined {
    return token === undefined ? undefined : this.#grants.get(token);
  }

  /** When the source of a deployment ends, as the server said; undefined: it was never offered. */
  sourceOf(url: string): { readonly expire: string | undefined } | undefined {
    return this.#sources.has(url) ? { expire: this.#sources.get(url) } : undefined;
  }

  /** Takes in what the exchange tells beyond being right or wrong. */
  learn(seen: Seen): void {
    if (seen.isSuccess) {
      this.taken.set(seen.operation, Math.max(this.taken.get(seen.operation) ?? 0, seen.sentBytes));
    }
    if (seen.operation === 'post-auth-request') this.#signedIn(seen);
    else this.#used(seen);
    if (seen.operation === 'put-deployment-status') this.#reported(seen);
    if (seen.status === 200 && seen.operation.includes('next-deployment')) this.#offered(seen);
  }

  /** Takes in that no answer came: what a report did is not known. */
  learnSilence(operation: string, deploymentId: string): void {
    const deployment = this.deployments.get(deploymentId);
    if (operation !== 'put-deployment-status' || deployment === undefined) return;
    deployment.reports++;
    deployment.recorded = undefined;
  }

  #signedIn(seen: Seen): void {
    this.refusal = undefined;
    if (seen.status !== 200) return;
    const { pubkey } = membersOf(seen.sent);
    const grant = {
      pubkey,
      serverMs: seen.serverNowMs,
      isRenewed: this.#grants.size > 0,
      hasOpened: false,
    };
    keep(this.#grants, seen.answer.text, grant, TOKENS_MAX);
  }

  #used(seen: Seen): void {
    const grant = this.grantOf(seen.token);
    if (grant === undefined) return;
    if (isOpened(seen)) grant.hasOpened = true;
    if (seen.status !== 401) return;
    const ageMs = seen.serverNowMs - grant.serverMs;
    this.refusal = { grant, exchange: seen.exchange, ageMs };
  }

  #offered(seen: Seen): void {
    const { id, artifact } = membersOf(seen.received);
    const { source } = membersOf(artifact);
    const { uri, expire } = membersOf(source);
    if (typeof id === 'string' && !this.deployments.has(id)) {
      const { operation } = seen;
      const offered = { operation, reports: 0, recorded: undefined, abortedMs: undefined };
      keep(this.deployments, id, offered, DEPLOYMENTS_MAX);
    }
    if (typeof uri !== 'string' || !URL.canParse(uri)) return;
    keep(
      this.#sources,
      new URL(uri).href,
      typeof expire === 'string' ? expire : undefined,
      SOURCES_MAX,
    );
  }

  #reported(seen: Seen): void {
    const deployment = this.deployments.get(seen.deploymentId);
    if (deployment === undefined) return;
    deployment.reports++;
    const atMs = seen.exchange.endedMs;
    const { status } = membersOf(seen.sent);
    if (seen.isSuccess) deployment.recorded = { status: status as ReportableStatus, atMs };
    else if (seen.status === 409) deployment.abortedMs ??= atMs;
    // A fault inside the server may have come before or after the report was kept.
    else if (seen.status >= 500) deployment.recorded = undefined;
  }
}

/** Whether the answer shows that the token was good: what it refuses, it refuses for another reason. */
export function isOpened({ status, isSuccess }: Seen): boolean {
  return isSuccess || status === 400 || status === 404 || status === 409;
}

function keep<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
