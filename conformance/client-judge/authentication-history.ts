/** The history of the authentication of one device: its requests, its key and its tokens. */
import type { ClientExchange, ServerEvent } from '../../fixtures/control/client-event.ts';
import type { JudgedExchange } from '../passive/judged-exchange.ts';
import { membersOf } from '../target/json-members.ts';
import { BoundedMap } from './bounded-map.ts';
import { digestOf, identityIn, isTooSoon, pauseMs, timesOf } from './exchange-facts.ts';
import { hasReceivedResponse, interruptsClient, MIN_PAUSE_MS } from './exemptions.ts';
import { type Authentication, ITEMS_MAX, type LastPoll } from './history-items.ts';
import { MASK } from './secret-text.ts';

/** The authentication of one device as seen so far. */
export class AuthenticationHistory {
  /** Number of 401 of each operation since the last authentication request. */
  readonly unauthorized = new BoundedMap<number>(ITEMS_MAX);
  /** Digests of the tokens that were issued, the newest last, with the end of the response. */
  readonly tokens = new BoundedMap<number>(ITEMS_MAX);
  /** Number of requests with a token that a newer one had replaced. */
  readonly staleUses = new BoundedMap<number>(ITEMS_MAX);
  usesFormerToken = false;
  lastRequest: Authentication | undefined;
  /** Number of authentication requests in a row that followed a refusal hastily. */
  tooFrequentRequests = 0;
  /** Number of pauses in a row after a refusal that were less than half of the one before. */
  shrinkingPauses = 0;
  lastRefusalPauseMs: number | undefined;
  /** Number of tokens that were issued. */
  issued = 0;
  keyTurns = 0;
  /** Number of authentication requests in a row that followed a poll without an update at once. */
  needless = 0;
  /** True once the device was restarted, while its folder was kept. */
  isRestarted = false;
  /** True since a user has rejected the device, until it has a token again. */
  isRejected = false;

  /** Returns true if this authentication request hastily follows a refusal. */
  isTooFrequent(exchange: JudgedExchange): boolean {
    const isRefused = this.lastRequest?.status === 401 || this.lastRequest?.status === 403;
    return isRefused && isTooSoon(this.lastRequest, exchange);
  }

  /** Records an authentication request. @param lastPoll the last poll before it */
  recordRequest(
    exchange: JudgedExchange,
    event: ClientExchange,
    lastPoll: LastPoll | undefined,
  ): void {
    this.tooFrequentRequests = this.isTooFrequent(exchange) ? this.tooFrequentRequests + 1 : 0;
    const pause = pauseMs(this.lastRequest, exchange);
    const isRefused = [401, 403].includes(this.lastRequest?.status ?? 0);
    if (isRefused && pause !== undefined) {
      const lastPauseMs = this.lastRefusalPauseMs ?? 0;
      this.shrinkingPauses = pause < lastPauseMs / 2 ? this.shrinkingPauses + 1 : 0;
      this.lastRefusalPauseMs = pause;
    }
    const idle = pauseMs(lastPoll, exchange);
    const isNeedless =
      lastPoll?.status === 204 && idle !== undefined && idle < MIN_PAUSE_MS && !this.isRestarted;
    this.needless = isNeedless && this.unauthorized.size === 0 ? this.needless + 1 : 0;
    this.isRestarted = false;
    const { identity, key } = identityIn(exchange.requestJson) ?? {};
    const former = this.lastRequest?.key;
    const keyName = key && digestOf(key);
    if (former !== undefined && keyName !== undefined && former !== keyName) this.keyTurns += 1;
    this.lastRequest = {
      ...timesOf(exchange),
      status: exchange.status,
      isAnswered: hasReceivedResponse(event),
      identity: identity && digestOf(identity),
      key: keyName,
      tenantToken: membersOf(exchange.requestJson).tenant_token,
    };
    this.unauthorized.clear();
    if (exchange.status !== 200 || !hasReceivedResponse(event)) return;
    this.issued += 1;
    this.shrinkingPauses = 0;
    this.lastRefusalPauseMs = undefined;
    this.isRejected = false;
    const token = exchange.response.text;
    if (token !== '' && token !== MASK) this.tokens.keep(digestOf(token), event.endedMs);
  }

  /** Records whether a request was refused for its token, and which token it had. */
  recordTokenUse({ token, operation, status }: JudgedExchange, event: ClientExchange): void {
    const { id, authorization } = operation;
    if (status === 401 && hasReceivedResponse(event))
      this.unauthorized.keep(id, (this.unauthorized.get(id) ?? 0) + 1);
    else this.unauthorized.delete(id);
    if (token === undefined || authorization !== 'device') return;
    const name = digestOf(token);
    const newest = this.tokens.newest?.[0];
    this.usesFormerToken = this.tokens.has(name) && name !== newest;
    if (this.usesFormerToken) this.staleUses.keep(name, (this.staleUses.get(name) ?? 0) + 1);
  }

  /** Records what the server or its user did. */
  recordServerEvent(happened: ServerEvent): void {
    this.isRestarted ||= happened.event === 'client-started';
    this.isRejected ||= happened.event === 'rejected';
    if (happened.event === 'folder-cleaned') {
      this.lastRequest = undefined;
      this.keyTurns = 0;
      this.tokens.clear();
    }
    if (!interruptsClient(happened)) return;
    this.tooFrequentRequests = 0;
    this.shrinkingPauses = 0;
    this.lastRefusalPauseMs = undefined;
    this.needless = 0;
    this.unauthorized.clear();
  }
}
