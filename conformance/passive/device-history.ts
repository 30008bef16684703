/** Records the tokens, deployments and file links in the exchanges of one device. */
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { ReportableStatus } from '../../fixtures/contract/vocabulary.ts';
import { membersOf } from '../target/json-members.ts';
import { type JudgedExchange, segmentOf } from './judged-exchange.ts';

/** Maximum number of recorded items for each device; a new item replaces the oldest. */
const DEPLOYMENTS_MAX = 16;
const SOURCES_MAX = 16;
const TOKENS_MAX = 4;

/** The operation that downloads the file of a deployment by the link in its instructions. */
export const SOURCE = storageOperations['download-artifact'].id;

/** A token that the server granted in an observed exchange. */
export interface TokenGrant {
  /** The public key in the authentication request. */
  readonly pubkey: unknown;
  /** Time of the grant by the server's clock, in milliseconds since the Unix epoch. */
  readonly serverMs: number;
  /** True if the device had been granted a token before. */
  readonly isRenewed: boolean;
  /** True once a request with the token passed authentication: a success, 400, 404 or 409. */
  hasOpened: boolean;
}

/** A request with a known token that was answered with 401. */
export interface TokenRefusal {
  readonly grant: TokenGrant;
  readonly exchange: JudgedExchange;
  /** Age of the token at the refusal by the server's clock, in milliseconds. */
  readonly ageMs: number;
}

/** A deployment that was offered to the device. */
export interface ObservedDeployment {
  readonly operation: string;
  /** Number of status reports that the device sent, acknowledged or not. */
  reports: number;
  /** The last accepted report; undefined if the outcome of a later report is unknown. */
  lastReport: { readonly status: ReportableStatus; readonly atMs: number } | undefined;
  /** When a report was first answered with 409, in milliseconds by the recorder's clock. */
  abortedMs: number | undefined;
}

/**
 * The state of one device as seen so far. `record` is called after the checks judged an exchange.
 */
export class DeviceHistory {
  readonly #grants = new Map<string, TokenGrant>();
  readonly #sources = new Map<string, string | undefined>();
  readonly deployments = new Map<string, ObservedDeployment>();
  /** The operations that have succeeded, with the length in bytes of the longest accepted body. */
  readonly acceptedBytes = new Map<string, number>();
  /**
   * The last refusal of a token. The next authentication shows whether the refusal was wrong, and
   * clears it.
   */
  refusal: TokenRefusal | undefined;

  /** Returns the grant of a token; undefined if the grant was not observed. */
  grantOf(token: string | undefined): TokenGrant | undefined {
    return token === undefined ? undefined : this.#grants.get(token);
  }

  /**
   * Returns the stated expiry of a deployment's link; undefined if the link was never offered. The
   * member `expire` is undefined if the instructions stated none.
   */
  sourceOf(url: string): { readonly expire: string | undefined } | undefined {
    return this.#sources.has(url) ? { expire: this.#sources.get(url) } : undefined;
  }

  /** Records the facts in an exchange that checks need for later ones. */
  record(exchange: JudgedExchange): void {
    const { id } = exchange.operation;
    const { bodyBytes } = exchange.request;
    if (exchange.isSuccess)
      this.acceptedBytes.set(id, Math.max(this.acceptedBytes.get(id) ?? 0, bodyBytes));
    if (id === 'post-auth-request') this.#recordAuthentication(exchange);
    else this.#recordUse(exchange);
    if (id === 'put-deployment-status') this.#recordReport(exchange);
    if (exchange.status === 200 && id.includes('next-deployment')) this.#recordOffer(exchange);
  }

  /** Records a request without a response: the effect of a status report is then unknown. */
  recordNoResponse(operation: string, url: string): void {
    const deployment = this.deployments.get(segmentOf(url, 1));
    if (operation !== 'put-deployment-status' || deployment === undefined) return;
    deployment.reports++;
    deployment.lastReport = undefined;
  }

  #recordAuthentication({
    status,
    requestJson,
    response,
    serverNowMs,
    hasBody,
  }: JudgedExchange): void {
    this.refusal = undefined;
    if (status !== 200 || !hasBody) return;
    const { pubkey } = membersOf(requestJson);
    const isRenewed = this.#grants.size > 0;
    const grant = { pubkey, serverMs: serverNowMs, isRenewed, hasOpened: false };
    keep(this.#grants, response.text, grant, TOKENS_MAX);
  }

  #recordUse(exchange: JudgedExchange): void {
    const grant = this.grantOf(exchange.token);
    if (grant === undefined) return;
    if (acceptsToken(exchange)) grant.hasOpened = true;
    if (exchange.status !== 401) return;
    this.refusal = { grant, exchange, ageMs: exchange.serverNowMs - grant.serverMs };
  }

  #recordOffer({ responseJson, operation }: JudgedExchange): void {
    const { id, artifact } = membersOf(responseJson);
    const { source } = membersOf(artifact);
    const { uri, expire } = membersOf(source);
    if (typeof id === 'string' && !this.deployments.has(id)) {
      const deployment = {
        operation: operation.id,
        reports: 0,
        lastReport: undefined,
        abortedMs: undefined,
      };
      keep(this.deployments, id, deployment, DEPLOYMENTS_MAX);
    }
    if (typeof uri !== 'string' || !URL.canParse(uri)) return;
    const end = typeof expire === 'string' ? expire : undefined;
    keep(this.#sources, new URL(uri).href, end, SOURCES_MAX);
  }

  #recordReport({
    deploymentId,
    request,
    requestJson,
    isSuccess,
    status: responseStatus,
  }: JudgedExchange): void {
    const deployment = this.deployments.get(deploymentId);
    if (deployment === undefined) return;
    deployment.reports++;
    const atMs = request.endedMs;
    const { status } = membersOf(requestJson);
    if (isSuccess) deployment.lastReport = { status: status as ReportableStatus, atMs };
    else if (responseStatus === 409) deployment.abortedMs ??= atMs;
    // A server error may have occurred before or after the server stored the report.
    else if (responseStatus >= 500) deployment.lastReport = undefined;
  }
}

/** Returns true if the response shows that the token is valid, even if the request was refused. */
export function acceptsToken({ status, isSuccess }: JudgedExchange): boolean {
  return isSuccess || status === 400 || status === 404 || status === 409;
}

function keep<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}
