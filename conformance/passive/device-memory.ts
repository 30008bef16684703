/**
 * What the exchanges of one device have shown: its tokens, deployments and the links to their files.
 */
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { ReportableStatus } from '../../fixtures/contract/vocabulary.ts';
import { membersOf } from '../target/json-members.ts';
import { type JudgedExchange, segmentOf } from './judged-exchange.ts';

/** Deployments, sources and tokens that are remembered of a device; the oldest make room. */
const DEPLOYMENTS_MAX = 16;
const SOURCES_MAX = 16;
const TOKENS_MAX = 4;

/** Fetching the file of a deployment, by the link in its instructions. */
export const SOURCE = storageOperations['download-artifact'].id;

/** A token that the device was seen to get. */
export interface Grant {
  /** The key that had signed for it. */
  readonly pubkey: unknown;
  /** When it was granted, in milliseconds since the Unix epoch by the server's clock. */
  readonly serverMs: number;
  /** Whether the device had been granted one before. */
  readonly isRenewed: boolean;
  /** True once a request with the token passed authentication: a success, 400, 404 or 409. */
  hasOpened: boolean;
}

/** A use of a token that was answered 401. */
export interface Refusal {
  readonly grant: Grant;
  readonly exchange: JudgedExchange;
  /** How old the token was, by the server's clock. */
  readonly ageMs: number;
}

/** A deployment that the device was offered. */
export interface OfferedDeployment {
  readonly operation: string;
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
  readonly taken = new Map<string, number>();
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

  /** Records what later exchanges are judged by. */
  learn(exchange: JudgedExchange): void {
    const { id } = exchange.row;
    const { bodyBytes } = exchange.request;
    if (exchange.isSuccess) this.taken.set(id, Math.max(this.taken.get(id) ?? 0, bodyBytes));
    if (id === 'post-auth-request') this.#signedIn(exchange);
    else this.#used(exchange);
    if (id === 'put-deployment-status') this.#reported(exchange);
    if (exchange.status === 200 && id.includes('next-deployment')) this.#offered(exchange);
  }

  /** Takes in that no answer came: what a report did is not known. */
  learnSilence(operation: string, url: string): void {
    const deployment = this.deployments.get(segmentOf(url, 1));
    if (operation !== 'put-deployment-status' || deployment === undefined) return;
    deployment.reports++;
    deployment.recorded = undefined;
  }

  #signedIn({ status, sent, answer, serverNowMs, hasBody }: JudgedExchange): void {
    this.refusal = undefined;
    if (status !== 200 || !hasBody) return;
    const { pubkey } = membersOf(sent);
    const isRenewed = this.#grants.size > 0;
    const grant = { pubkey, serverMs: serverNowMs, isRenewed, hasOpened: false };
    keep(this.#grants, answer.text, grant, TOKENS_MAX);
  }

  #used(exchange: JudgedExchange): void {
    const grant = this.grantOf(exchange.token);
    if (grant === undefined) return;
    if (isOpened(exchange)) grant.hasOpened = true;
    if (exchange.status !== 401) return;
    this.refusal = { grant, exchange, ageMs: exchange.serverNowMs - grant.serverMs };
  }

  #offered({ json, row }: JudgedExchange): void {
    const { id, artifact } = membersOf(json);
    const { source } = membersOf(artifact);
    const { uri, expire } = membersOf(source);
    if (typeof id === 'string' && !this.deployments.has(id)) {
      const offered = { operation: row.id, reports: 0, recorded: undefined, abortedMs: undefined };
      keep(this.deployments, id, offered, DEPLOYMENTS_MAX);
    }
    if (typeof uri !== 'string' || !URL.canParse(uri)) return;
    const end = typeof expire === 'string' ? expire : undefined;
    keep(this.#sources, new URL(uri).href, end, SOURCES_MAX);
  }

  #reported({ deploymentId, request, sent, isSuccess, status: answered }: JudgedExchange): void {
    const deployment = this.deployments.get(deploymentId);
    if (deployment === undefined) return;
    deployment.reports++;
    const atMs = request.endedMs;
    const { status } = membersOf(sent);
    if (isSuccess) deployment.recorded = { status: status as ReportableStatus, atMs };
    else if (answered === 409) deployment.abortedMs ??= atMs;
    // A fault inside the server may have come before or after the report was kept.
    else if (answered >= 500) deployment.recorded = undefined;
  }
}

/** Whether the answer shows that the token was good: what it refuses, it refuses for another reason. */
export function isOpened({ status, isSuccess }: JudgedExchange): boolean {
  return isSuccess || status === 400 || status === 404 || status === 409;
}

function keep<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
