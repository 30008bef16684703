/** Records what duties need to know about the earlier requests of one device, within bounds. */
import { excerptOf } from '../../fixtures/base/excerpt.ts';
import { jsonInOrder } from '../../fixtures/base/json.ts';
import { isPollOperation } from '../../fixtures/contract/operation-ids.ts';
import type {
  ClientExchange,
  ClientSocketEvent,
  ServerEvent,
} from '../../fixtures/control/client-event.ts';
import type { JudgedExchange } from '../passive/judged-exchange.ts';
import { entriesOf, membersOf } from '../target/json-members.ts';
import { AuthenticationHistory } from './authentication-history.ts';
import { BoundedMap } from './bounded-map.ts';
import { DeploymentHistory } from './deployment-history.ts';
import {
  alertKeys,
  areaOf,
  digestOf,
  downloadOperations,
  hostOf,
  isBusy,
  isSoonAfter,
  isTooSoon,
  otherPollData,
  pauseMs,
  pausesIn,
  pollData,
  type Times,
  timesOf,
  typeOf,
} from './exchange-facts.ts';
import { hasReceivedResponse, interruptsClient, SHORT_PAUSES_MAX } from './exemptions.ts';
import { type DueReaction, ITEMS_MAX, type LastMapFetch, type LastPoll } from './history-items.ts';
import { RetryHistory } from './retry-history.ts';
import { messageIn } from './socket-message.ts';

/** Data of a poll beyond this length is not recorded. */
const POLL_TEXT_MAX_CHARACTERS = 1024;
const HOST_MAX_CHARACTERS = 255;
/** Limits on what is recorded of polls, sessions, duties and attributes. */
const INTERVALS_MAX = 16;
const INTERVALS_MIN = 3;
const SESSIONS_MAX = 32;
/** There are fewer duties. */
const DUTIES_MAX = 200;
const ATTRIBUTES_MAX = 100;
const NAME_MAX_CHARACTERS = 200;

/**
 * The state of one device as seen so far. `record` is called after the duties judged an exchange.
 */
export class ClientHistory {
  /**
   * The poll interval as it was measured before the device was watched; undefined if it was not.
   */
  readonly #measuredMs: number | undefined;
  readonly authentication = new AuthenticationHistory();
  readonly deployments = new DeploymentHistory();
  readonly retries = new RetryHistory();
  /** When the device last sent each alert. */
  readonly alerts = new BoundedMap<number>(ITEMS_MAX);
  /** Names and JSON types of the attributes that the server has. */
  readonly attributes = new BoundedMap<string>(ATTRIBUTES_MAX);
  /** Keys of the last handshakes. */
  readonly handshakeKeys = new BoundedMap<true>(ITEMS_MAX);
  /** The open WebSockets, with the time of their opening. */
  readonly sockets = new BoundedMap<number>(ITEMS_MAX);
  /** IDs of the sessions that the server opened on WebSockets. */
  readonly sessions = new BoundedMap<true>(SESSIONS_MAX);
  /** Connections on which the device sent requests. */
  readonly connections = new BoundedMap<number>(ITEMS_MAX);
  /** Due reactions by the ID of their duty. */
  readonly due = new BoundedMap<DueReaction>(DUTIES_MAX);
  /** Pauses between polls that brought nothing, the newest last. */
  readonly intervals: number[] = [];
  /** Areas of the API that the device has used. */
  readonly areas = new Set<string>();
  /** Host of the last poll, which is the host of the API. */
  apiHost: string | undefined;
  /** Pause before the last poll. */
  lastPollPauseMs = 0;
  lastPoll: LastPoll | undefined;
  /** Number of polls in a row, each hastily after the former one. */
  tooFrequentPolls = 0;
  /** Number of responses 404 to version 2 in a row. */
  v2Absences = 0;
  /** True if the last poll announced update control maps. */
  announcesMaps = false;
  /** True once a poll had more than the type and the artifact of the device. */
  sendsFurtherPairs = false;
  /** Name of the scene that is run; undefined if none is. */
  scene: string | undefined;
  lastSentMs: number | undefined;
  /** Pause between the last two inventories, and when the last one was sent. */
  inventoryIntervalMs: number | undefined;
  inventoryMs: number | undefined;
  /** The last fetch of a control map. */
  lastMap: LastMapFetch | undefined;
  /** Payload of the last ping of the server, and the number of pings of the device. */
  pingPayload: Buffer | undefined;
  pings = 0;
  /** Number of requests with an ID of the device. */
  requestIds = 0;
  /** True once the clock of the server was moved. */
  isClockMoved = false;
  /** The server's time at the last response. */
  serverNowMs: number | undefined;

  constructor(measuredMs?: number) {
    this.#measuredMs = measuredMs;
  }

  /**
   * Returns what may still be relied on after events were lost: which parts of the API the device
   * uses, but nothing that the lost events may have changed.
   */
  afterGap(): ClientHistory {
    const nextHistory = new ClientHistory(this.#measuredMs);
    for (const area of this.areas) nextHistory.areas.add(area);
    nextHistory.announcesMaps = this.announcesMaps;
    nextHistory.scene = this.scene;
    nextHistory.isClockMoved = this.isClockMoved;
    return nextHistory;
  }

  /** Records the facts in an exchange that duties need for later ones. */
  record(exchange: JudgedExchange, event: ClientExchange): void {
    const { operation, request } = exchange;
    const { id } = operation;
    this.connections.keep(event.connection, request.sentMs);
    this.areas.add(areaOf(operation));
    this.lastSentMs = request.sentMs;
    this.serverNowMs = event.serverNowMs;
    if (exchange.requestId !== undefined) this.requestIds += 1;
    if (id === 'post-auth-request') {
      this.authentication.recordRequest(exchange, event, this.lastPoll);
      this.deployments.isIdleKnown ||= exchange.status === 401;
    } else this.authentication.recordTokenUse(exchange, event);
    if (isPollOperation(operation)) this.#recordPoll(exchange, event);
    if (downloadOperations.includes(id)) this.deployments.recordDownload(exchange, event);
    if (id === 'put-deployment-status') this.deployments.recordReport(exchange, event);
    if (id === 'get-update-control-map') this.#fetchedMap(exchange, event);
    if (id === 'put-deployment-log') this.deployments.recordLog(exchange, event);
    if (id === 'post-alerts') {
      for (const key of alertKeys(exchange)) this.alerts.keep(key, request.sentMs);
    }
    if (id === 'put-attributes' || id === 'patch-attributes') this.#recordInventory(exchange);
    if (id === 'connect') {
      this.handshakeKeys.keep(digestOf(exchange.header('sec-websocket-key') ?? ''), true);
    }
    this.retries.record(exchange, event);
  }

  /** Records what the server or its user did. */
  recordServerEvent(happened: ServerEvent): void {
    if (happened.event === 'scene-began') this.scene = happened.about;
    if (happened.event === 'scene-ended') this.scene = undefined;
    if (happened.event === 'client-killed')
      for (const { progress } of this.deployments.offers.values) progress.cut();
    this.isClockMoved ||= happened.event === 'clock-moved';
    this.authentication.recordServerEvent(happened);
    if (!interruptsClient(happened)) return;
    this.tooFrequentPolls = 0;
    this.lastMap = undefined;
    this.retries.recordServerEvent();
    this.deployments.failedDownloadMs = undefined;
    this.sockets.clear();
  }

  /** Records an event of a WebSocket. */
  recordSocketEvent({ event, from, socket, atMs, payload }: ClientSocketEvent): void {
    this.areas.add('connect');
    if (event === 'opened') this.sockets.keep(socket, atMs);
    if (event === 'closed') this.sockets.delete(socket);
    if (event === 'ping' && from === 'device') this.pings += 1;
    if (event === 'ping' && from === 'server') this.pingPayload = payload;
    if (event === 'message' && from === 'server' && payload) {
      const { sid } = messageIn(payload) ?? {};
      if (sid !== undefined) this.sessions.keep(sid, true);
    }
  }

  /** Median of the pauses between idle polls in milliseconds; undefined if too few are known. */
  get intervalMs(): number | undefined {
    if (this.intervals.length < INTERVALS_MIN) return undefined;
    return this.intervals.toSorted((one, other) => one - other)[this.intervals.length >> 1];
  }

  /** The poll interval of the device, as far as it is known. */
  get paceMs(): number | undefined {
    return this.intervalMs ?? this.#measuredMs;
  }

  /**
   * The longest pause that the device has chosen lately: before a poll, after a refusal, or after a
   * failure.
   */
  get chosenPauseMs(): number {
    const { lastRefusalPauseMs = 0 } = this.authentication;
    return Math.max(this.lastPollPauseMs, lastRefusalPauseMs, this.retries.longestPauseMs);
  }

  /** Records a poll that repeats the last one and was answered in the same way. */
  recordRepeatedPoll(times: Times): void {
    const { lastPoll } = this;
    if (lastPoll === undefined) return;
    const { sentMs, endedMs } = times;
    this.tooFrequentPolls = isSoonAfter(lastPoll, times) ? this.tooFrequentPolls + 1 : 0;
    if (endedMs > lastPoll.endedMs) this.#recordIdlePause(sentMs - lastPoll.endedMs);
    // Changed in place, because nearly every poll of a fleet is a repeat.
    lastPoll.sentMs = sentMs;
    lastPoll.endedMs = endedMs;
    this.lastSentMs = sentMs;
  }

  /** Returns true for the poll by which a device has polled hastily too often in a row. */
  breaksPollLimit(times: Times): boolean {
    return this.tooFrequentPolls === SHORT_PAUSES_MAX && isSoonAfter(this.lastPoll, times);
  }

  /**
   * Returns true if this poll hastily follows another one that was answered, and neither was busy.
   */
  isTooFrequentPoll(exchange: JudgedExchange): boolean {
    // Retries after a failure have a duty of their own.
    const { status = 0 } = this.lastPoll ?? {};
    if (status === 0 || status >= 500) return false;
    return isTooSoon(this.lastPoll, exchange) && !isBusy(exchange);
  }

  /**
   * Returns the last fetch of the map of the same deployment. Deployments that follow one another
   * quickly are no pause.
   */
  mapFetchBefore({ deploymentId }: JudgedExchange): LastMapFetch | undefined {
    return this.lastMap?.deploymentId === deploymentId ? this.lastMap : undefined;
  }

  #recordIdlePause(pause: number): void {
    this.intervals.push(pause);
    if (this.intervals.length > INTERVALS_MAX) this.intervals.shift();
  }

  #recordPoll(exchange: JudgedExchange, event: ClientExchange): void {
    const { operation, status, request } = exchange;
    this.apiHost = excerptOf(hostOf(request.url), HOST_MAX_CHARACTERS);
    this.tooFrequentPolls = this.isTooFrequentPoll(exchange) ? this.tooFrequentPolls + 1 : 0;
    const idle = pauseMs(this.lastPoll, exchange);
    this.lastPollPauseMs = idle ?? 0;
    if (this.lastPoll?.status === 204 && status === 204 && idle !== undefined)
      this.#recordIdlePause(idle);
    const text = jsonInOrder(pollData(exchange));
    const pollText = text.length > POLL_TEXT_MAX_CHARACTERS ? undefined : text;
    this.lastPoll = { ...timesOf(exchange), pollText, operation: operation.id, status };
    this.sendsFurtherPairs ||= Object.keys(otherPollData(exchange)).length > 0;
    this.announcesMaps = membersOf(exchange.requestJson).update_control_map === true;
    const isV2 = operation.id === 'post-next-deployment-v2';
    this.v2Absences = isV2 && status === 404 ? this.v2Absences + 1 : 0;
    this.deployments.recordPoll(exchange, event, this.lastPoll, this.announcesMaps);
  }

  #fetchedMap(exchange: JudgedExchange, event: ClientExchange): void {
    const { status, responseJson, deploymentId } = exchange;
    const earlierFetch = this.mapFetchBefore(exchange);
    const tooFrequentCount = isTooSoon(earlierFetch, exchange)
      ? (earlierFetch?.tooFrequentCount ?? 0) + 1
      : 0;
    const isRead = status === 200 && hasReceivedResponse(event);
    this.lastMap = { ...timesOf(exchange), deploymentId, tooFrequentCount, isRead };
    const offer = this.deployments.offers.get(deploymentId);
    if (offer === undefined) return;
    offer.mapFetches += 1;
    if (isRead) offer.pauses = pausesIn(responseJson);
  }

  #recordInventory({ operation, requestJson, isSuccess, request }: JudgedExchange): void {
    if (!isSuccess) return;
    const previousInventoryMs = this.inventoryMs;
    if (previousInventoryMs !== undefined)
      this.inventoryIntervalMs = request.sentMs - previousInventoryMs;
    this.inventoryMs = request.sentMs;
    if (operation.id === 'put-attributes') this.attributes.clear();
    for (const attribute of entriesOf(requestJson).slice(0, ATTRIBUTES_MAX)) {
      const { name, value } = membersOf(attribute);
      this.attributes.keep(excerptOf(String(name), NAME_MAX_CHARACTERS), typeOf(value));
    }
  }
}
