/** Remembers what duties need to know about the earlier requests of one device, within bounds. */
import { beginningOf } from '../../fixtures/base/beginning.ts';
import { jsonInOrder } from '../../fixtures/base/json.ts';
import type {
  ClientExchange,
  ClientSocketEvent,
  ServerAct,
} from '../../fixtures/control/client-event.ts';
import type { JudgedExchange } from '../passive/judged-exchange.ts';
import { entriesOf, membersOf } from '../target/json-members.ts';
import { BoundedMap } from './bounded-map.ts';
import { DownloadProgress } from './download-progress.ts';
import {
  alertKeys,
  areaOf,
  askedWith,
  contentOf,
  digestOf,
  downloads,
  finals,
  furtherPairs,
  hostOf,
  identityIn,
  isBusy,
  isHasty,
  isLogDone,
  isSoonAfter,
  linkOf,
  pauseMs,
  pausesIn,
  polls,
  type Times,
  targetOf,
  timesOf,
  typeOf,
  waitSeconds,
} from './exchange-facts.ts';
import { HASTY_MS, HASTY_POLLS_MAX, interrupts, isAnswered } from './excuses.ts';
import type {
  Authentication,
  Due,
  FailureRun,
  LastPoll,
  Offer,
  RefusedLog,
  Wait,
} from './remembered.ts';
import { MASK } from './secret-text.ts';
import { messageIn } from './socket-message.ts';

/** Maximum number of remembered items of each kind; a new item replaces the oldest. */
const ITEMS_MAX = 8;
/** Data of a poll beyond this length is not remembered. */
const ASKED_MAX_CHARACTERS = 1024;
const HOST_MAX_CHARACTERS = 255;
/** Limits on what is remembered of polls, links, reports, sessions and attributes. */
const INTERVALS_MAX = 16;
const INTERVALS_MIN = 3;
const TARGETS_MAX = 4;
const REPORTS_MAX = 32;
const SESSIONS_MAX = 32;
/** There are fewer duties. */
const DUTIES_MAX = 200;
const ATTRIBUTES_MAX = 100;
const NAME_MAX_CHARACTERS = 200;
/** The state of one device as seen so far. `learn` is called after the duties judged an exchange. */
export class ClientMemory {
  /** The poll interval as it was measured before the device was watched; undefined if it was not. */
  readonly #measuredMs: number | undefined;
  readonly offers = new BoundedMap<Offer>(ITEMS_MAX);
  /** Links of the files that the device has begun to fetch. */
  readonly fetched = new BoundedMap<true>(ITEMS_MAX);
  /** Number of refusals of each link in a row. */
  readonly refusedLinks = new BoundedMap<number>(ITEMS_MAX);
  /** Number of 401 of each operation since the last authentication request. */
  readonly unauthorized = new BoundedMap<number>(ITEMS_MAX);
  /** The last refused request of each operation, and how often it was sent in a row. */
  readonly malformed = new BoundedMap<{ readonly content: string; readonly times: number }>(
    ITEMS_MAX,
  );
  /** The last refused log of each deployment, and how often it was sent. */
  readonly refusedLogs = new BoundedMap<RefusedLog>(ITEMS_MAX);
  /** The waits that the server asked for, by operation. */
  readonly waits = new BoundedMap<Wait>(ITEMS_MAX);
  readonly failures = new BoundedMap<FailureRun>(ITEMS_MAX);
  /** When the device last sent each alert. */
  readonly alerts = new BoundedMap<number>(ITEMS_MAX);
  /** Names and JSON types of the attributes that the server has. */
  readonly attributes = new BoundedMap<string>(ATTRIBUTES_MAX);
  /** Digests of the tokens that were issued, the newest last, with the end of the answer. */
  readonly tokens = new BoundedMap<number>(ITEMS_MAX);
  /** Number of requests with a token that a newer one had replaced. */
  readonly staleUses = new BoundedMap<number>(ITEMS_MAX);
  usesFormerToken = false;
  /** True once the device was seen without a deployment, so that a later offer is a new one. */
  isIdleKnown = false;
  /** Keys of the last handshakes. */
  readonly handshakeKeys = new BoundedMap<true>(ITEMS_MAX);
  /** The open websockets, with the time of their opening. */
  readonly sockets = new BoundedMap<number>(ITEMS_MAX);
  /** Digests of the targets to which a download was redirected. */
  readonly redirects = new BoundedMap<true>(ITEMS_MAX);
  /** Ids of the sessions that the server opened on websockets. */
  readonly sessions = new BoundedMap<true>(SESSIONS_MAX);
  /** Connections on which the device sent requests. */
  readonly connections = new BoundedMap<number>(ITEMS_MAX);
  /** What is due by the id of its duty. */
  readonly due = new BoundedMap<Due>(DUTIES_MAX);
  /** Pauses between polls that brought nothing, the newest last. */
  readonly intervals: number[] = [];
  /** Areas of the API that the device has used. */
  readonly areas = new Set<string>();
  /** Host of the last poll, which is the host of the API. */
  apiHost: string | undefined;
  /** Number of requests for a part of a file, and of those that state a validator. */
  readonly conditions = { resumed: 0, conditional: 0 };
  /** Number of redirects of a download in a row. */
  redirected = 0;
  lastAuthentication: Authentication | undefined;
  /** Number of authentication requests in a row that followed a refusal hastily. */
  hastyAuthentications = 0;
  /** Number of pauses in a row after a refusal that were less than half of the one before. */
  shrinkingPauses = 0;
  lastRefusalPauseMs: number | undefined;
  authentications = 0;
  keyTurns = 0;
  /** Pause before the last poll. */
  lastPollPauseMs = 0;
  lastPoll: LastPoll | undefined;
  /** Number of polls in a row, each hastily after the former one. */
  hastyPolls = 0;
  /** Number of answers 404 to version 2 in a row. */
  v2Absences = 0;
  /** Number of authentication requests in a row that followed a poll without an update at once. */
  needlessAuthentications = 0;
  /** True if the last poll announced update control maps. */
  announcesMaps = false;
  /** True once a poll had more than the type and the artifact of the device. */
  sendsFurtherPairs = false;
  /** True once the device was restarted, while its folder was kept. */
  isRestarted = false;
  /** Name of the scene that is played; undefined if none is. */
  scene: string | undefined;
  lastSentMs: number | undefined;
  /** Pause between the last two inventories, and when the last one was sent. */
  inventoryIntervalMs: number | undefined;
  inventoryMs: number | undefined;
  /** The last fetch of a control map, and the number of fetches in a row that followed one hastily. */
  lastMap: (Times & { readonly hasty: number }) | undefined;
  /** Payload of the last ping of the server, and the number of pings of the device. */
  pingPayload: Buffer | undefined;
  pings = 0;
  /** The longest time that the device waited for an answer that did not come. */
  slowestMs = 0;
  /** Number of requests with an id of the device. */
  requestIds = 0;
  /** True since a user has rejected the device, until it has a token again. */
  isRejected = false;
  /** True once the clock of the server was moved. */
  isClockMoved = false;
  /** The server's time at the last answer. */
  serverNowMs: number | undefined;

  constructor(measuredMs?: number) {
    this.#measuredMs = measuredMs;
  }

  /**
   * Returns what may still be relied on after events were lost: which parts of the API the device
   * uses, but nothing that the lost events may have changed.
   */
  afterGap(): ClientMemory {
    const fresh = new ClientMemory(this.#measuredMs);
    for (const area of this.areas) fresh.areas.add(area);
    fresh.announcesMaps = this.announcesMaps;
    fresh.scene = this.scene;
    fresh.isClockMoved = this.isClockMoved;
    return fresh;
  }

  /** Records the facts in an exchange that duties need for later ones. */
  learn(exchange: JudgedExchange, event: ClientExchange): void {
    const { row, status, request } = exchange;
    const { id } = row;
    this.connections.keep(event.connection, request.sentMs);
    this.areas.add(areaOf(row));
    this.lastSentMs = request.sentMs;
    this.serverNowMs = event.serverNowMs;
    if (exchange.requestId !== undefined) this.requestIds += 1;
    if (!isAnswered(event)) this.slowestMs = Math.max(this.slowestMs, event.endedMs - event.sentMs);
    if (id === 'post-auth-request') this.#authenticated(exchange, event);
    else if (status === 401 && isAnswered(event)) {
      this.unauthorized.keep(id, (this.unauthorized.get(id) ?? 0) + 1);
    } else this.unauthorized.delete(id);
    this.#usedToken(exchange);
    if (polls.includes(id)) this.#polled(exchange, event);
    if (downloads.includes(id)) this.#fetched(exchange, event);
    if (id === 'put-deployment-status') this.#reported(exchange, event);
    if (id === 'get-update-control-map') this.#fetchedMap(exchange, event);
    if (id === 'put-deployment-log') this.#logged(exchange, event);
    if (id === 'post-alerts') {
      for (const key of alertKeys(exchange)) this.alerts.keep(key, request.sentMs);
    }
    if (id === 'put-attributes' || id === 'patch-attributes') this.#inventoried(exchange);
    if (id === 'connect') {
      this.handshakeKeys.keep(digestOf(exchange.header('sec-websocket-key') ?? ''), true);
    }
    this.#failed(exchange, event);
    this.#waits(exchange);
    this.#malformed(exchange);
  }

  /** Records what the server or its user did. */
  interrupted(act: ServerAct): void {
    if (act.act === 'scene-began') this.scene = act.subject;
    if (act.act === 'scene-ended') this.scene = undefined;
    if (act.act === 'client-killed') for (const { progress } of this.offers.values) progress.cut();
    this.isRestarted ||= act.act === 'client-started';
    this.isClockMoved ||= act.act === 'clock-moved';
    this.isRejected ||= act.act === 'rejected';
    if (act.act === 'folder-cleaned') {
      this.lastAuthentication = undefined;
      this.keyTurns = 0;
      this.tokens.clear();
    }
    if (!interrupts(act)) return;
    this.hastyAuthentications = 0;
    this.hastyPolls = 0;
    this.lastMap = undefined;
    this.shrinkingPauses = 0;
    this.lastRefusalPauseMs = undefined;
    this.needlessAuthentications = 0;
    this.unauthorized.clear();
    this.failures.clear();
    this.waits.clear();
    this.sockets.clear();
  }

  /** Records an event of a websocket. */
  socket({ event, from, socket, atMs, payload }: ClientSocketEvent): void {
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

  /** The longest pause that the device has chosen lately: before a poll, after a refusal, or after a failure. */
  get chosenPauseMs(): number {
    const pauses = this.failures.values.flatMap((run) => [
      run.firstPauseMs ?? 0,
      run.longestPauseMs,
    ]);
    return Math.max(this.lastPollPauseMs, this.lastRefusalPauseMs ?? 0, ...pauses);
  }

  /** The offer that the device should work on: the newest one that has not ended. */
  get activeOffer(): Offer | undefined {
    const latest = this.offers.values.at(-1);
    return latest?.final === undefined && latest?.isOver === false ? latest : undefined;
  }

  /** Returns the offer whose file a request fetches. */
  offerOfLink(url: string): Offer | undefined {
    const link = linkOf(url);
    return this.offers.values.findLast((offer) => offer.link === link);
  }

  /** Records a poll that repeats the last one and was answered in the same way. */
  pollRepeated(times: Times): void {
    const { lastPoll } = this;
    if (lastPoll === undefined) return;
    const { sentMs, endedMs } = times;
    this.hastyPolls = isSoonAfter(lastPoll, times) ? this.hastyPolls + 1 : 0;
    if (endedMs > lastPoll.endedMs) this.#idled(sentMs - lastPoll.endedMs);
    // Changed in place, because nearly every poll of a fleet is a repeat.
    lastPoll.sentMs = sentMs;
    lastPoll.endedMs = endedMs;
    this.lastSentMs = sentMs;
  }

  /** Returns true for the poll by which a device has polled hastily too often in a row. */
  isOnceTooHasty(times: Times): boolean {
    return this.hastyPolls === HASTY_POLLS_MAX && isSoonAfter(this.lastPoll, times);
  }

  /** Returns true if this authentication request hastily follows a refusal. */
  isHastyAuthentication(exchange: JudgedExchange): boolean {
    const { lastAuthentication: last } = this;
    const isRefused = last?.status === 401 || last?.status === 403;
    return isRefused && isHasty(last, exchange);
  }

  /** Returns true if this poll hastily follows another one that was answered, and neither was busy. */
  isHastyPoll(exchange: JudgedExchange): boolean {
    // Retries after a failure have a duty of their own.
    const { status = 0 } = this.lastPoll ?? {};
    if (status === 0 || status >= 500) return false;
    return isHasty(this.lastPoll, exchange) && !isBusy(exchange);
  }

  #authenticated(exchange: JudgedExchange, event: ClientExchange): void {
    const isHasty = this.isHastyAuthentication(exchange);
    this.hastyAuthentications = isHasty ? this.hastyAuthentications + 1 : 0;
    const pause = pauseMs(this.lastAuthentication, exchange);
    const isRefused = [401, 403].includes(this.lastAuthentication?.status ?? 0);
    if (isRefused && pause !== undefined) {
      const before = this.lastRefusalPauseMs ?? 0;
      this.shrinkingPauses = pause < before / 2 ? this.shrinkingPauses + 1 : 0;
      this.lastRefusalPauseMs = pause;
    }
    const idle = pauseMs(this.lastPoll, exchange);
    const isNeedless =
      this.lastPoll?.status === 204 && idle !== undefined && idle < HASTY_MS && !this.isRestarted;
    this.needlessAuthentications =
      isNeedless && this.unauthorized.size === 0 ? this.needlessAuthentications + 1 : 0;
    this.isRestarted = false;
    const { identity, key } = identityIn(exchange.sent) ?? {};
    const former = this.lastAuthentication?.key;
    const keyName = key && digestOf(key);
    if (former !== undefined && keyName !== undefined && former !== keyName) this.keyTurns += 1;
    this.lastAuthentication = {
      ...timesOf(exchange),
      status: exchange.status,
      isAnswered: isAnswered(event),
      identity: identity && digestOf(identity),
      key: keyName,
      tenantToken: membersOf(exchange.sent).tenant_token,
    };
    this.unauthorized.clear();
    this.isIdleKnown ||= exchange.status === 401;
    if (exchange.status !== 200 || !isAnswered(event)) return;
    this.authentications += 1;
    this.shrinkingPauses = 0;
    this.lastRefusalPauseMs = undefined;
    this.isRejected = false;
    const token = exchange.answer.text;
    if (token !== '' && token !== MASK) this.tokens.keep(digestOf(token), event.endedMs);
  }

  #usedToken({ token, row }: JudgedExchange): void {
    if (token === undefined || row.authorization !== 'device') return;
    const name = digestOf(token);
    const newest = this.tokens.newest?.[0];
    this.usesFormerToken = this.tokens.has(name) && name !== newest;
    if (this.usesFormerToken) {
      this.staleUses.keep(name, (this.staleUses.get(name) ?? 0) + 1);
    }
  }

  #idled(pause: number): void {
    this.intervals.push(pause);
    if (this.intervals.length > INTERVALS_MAX) this.intervals.shift();
  }

  #polled(exchange: JudgedExchange, event: ClientExchange): void {
    const { row, status, json, request } = exchange;
    this.apiHost = beginningOf(hostOf(request.url), HOST_MAX_CHARACTERS);
    this.hastyPolls = this.isHastyPoll(exchange) ? this.hastyPolls + 1 : 0;
    const idle = pauseMs(this.lastPoll, exchange);
    this.lastPollPauseMs = idle ?? 0;
    if (this.lastPoll?.status === 204 && status === 204 && idle !== undefined) this.#idled(idle);
    const provided = askedWith(exchange);
    const text = jsonInOrder(provided);
    const asked = text.length > ASKED_MAX_CHARACTERS ? undefined : text;
    this.lastPoll = { ...timesOf(exchange), asked, operation: row.id, status };
    this.sendsFurtherPairs ||= Object.keys(furtherPairs(exchange)).length > 0;
    this.announcesMaps = membersOf(exchange.sent).update_control_map === true;
    const isV2 = row.id === 'post-next-deployment-v2';
    this.v2Absences = isV2 && status === 404 ? this.v2Absences + 1 : 0;
    // No update and a conflict both tell the device that its deployment is over.
    if ((status === 204 || status === 409) && isAnswered(event)) {
      for (const offer of this.offers.values) offer.isOver = true;
      this.isIdleKnown = true;
    }
    const { id, artifact } = membersOf(json);
    if (status !== 200 || typeof id !== 'string') return;
    const { source, artifact_name: name, device_types_compatible: types } = membersOf(artifact);
    const { uri } = membersOf(source);
    const given = typeof uri === 'string' && URL.canParse(uri) ? uri : undefined;
    const link = given && linkOf(given);
    if (link !== undefined) this.refusedLinks.delete(link);
    const known = this.offers.get(id);
    // The device may have worked on it before it was watched.
    if (!this.isIdleKnown && link !== undefined) this.fetched.keep(link, true);
    const targets = [...(known?.targets ?? []), ...(given ? [digestOf(targetOf(given))] : [])];
    const { device_type: type } = provided;
    this.offers.keep(id, {
      id,
      operation: known?.operation ?? row.id,
      asked: known?.asked ?? asked,
      formerName: known?.formerName ?? provided.artifact_name,
      name,
      isConfiguration: given?.includes('/download/configuration/') ?? false,
      isForType: !Array.isArray(types) || types.includes(type),
      pauses: this.announcesMaps ? pausesIn(artifact) : undefined,
      link,
      targets: targets.slice(-TARGETS_MAX),
      offeredMs: known?.offeredMs ?? request.endedMs,
      progress: known?.progress ?? new DownloadProgress(),
      reports: known?.reports ?? [],
      reportsBeforeDownload: known?.reportsBeforeDownload ?? [],
      // A deployment that ended is offered again if its status was set back.
      final: undefined,
      isFinalKnown: false,
      endedMs: undefined,
      conflicts: known?.conflicts ?? 0,
      conflictMs: undefined,
      isConflictOfFinal: false,
      isOver: false,
      hasLog: known?.hasLog ?? false,
    });
  }

  #fetched(exchange: JudgedExchange, event: ClientExchange): void {
    const { request, status, answer } = exchange;
    const link = linkOf(request.url);
    const { location } = answer.headers;
    this.redirected = status >= 300 && status < 400 && location ? this.redirected + 1 : 0;
    if (location && URL.canParse(location, request.url)) {
      this.redirects.keep(digestOf(targetOf(new URL(location, request.url).href)), true);
    }
    const header = (name: string): string | undefined => exchange.header(name);
    const offer = this.offerOfLink(request.url);
    const isNew = !this.fetched.has(link);
    if (offer && isNew) offer.reportsBeforeDownload = [...offer.reports];
    if (status === 400 || status === 403)
      this.refusedLinks.keep(link, (this.refusedLinks.get(link) ?? 0) + 1);
    // A redirect may lead to a server that is not seen; a 416 is about a file that the device has.
    if ((status >= 200 && status < 400) || status === 416) this.fetched.keep(link, true);
    offer?.progress.learn({ status, answer, header }, event, isNew);
    if (exchange.header('range') === undefined) return;
    this.conditions.resumed += 1;
    const isConditional = ['if-range', 'if-unmodified-since'].some((name) => exchange.header(name));
    if (isConditional) this.conditions.conditional += 1;
  }

  #reported(exchange: JudgedExchange, event: ClientExchange): void {
    const { deploymentId, sent, status: answered, isSuccess, request } = exchange;
    const offer = this.offers.get(deploymentId);
    if (offer === undefined) return;
    const { status } = membersOf(sent);
    if (offer.reports.length < REPORTS_MAX) offer.reports.push(status);
    if (isSuccess && finals.includes(status)) {
      offer.final = status;
      offer.isFinalKnown = isAnswered(event);
      offer.endedMs = request.endedMs;
    }
    if (!isAnswered(event)) return;
    if (answered === 409) {
      offer.conflicts += 1;
      // What the device has reported after the first 409 is no excuse.
      if (offer.conflictMs === undefined) offer.isConflictOfFinal = finals.includes(status);
      offer.conflictMs ??= request.endedMs;
    }
    if (answered === 404 || answered === 409) offer.isOver = true;
  }

  #logged(exchange: JudgedExchange, event: ClientExchange): void {
    const { deploymentId, status, request } = exchange;
    const offer = this.offers.get(deploymentId);
    if (offer && isLogDone(exchange)) offer.hasLog = true;
    if ((status !== 413 && status !== 400) || !isAnswered(event)) return;
    const times = this.isRefusedLog(exchange)
      ? (this.refusedLogs.get(deploymentId)?.times ?? 0) + 1
      : 1;
    const { bodyBytes: bytes, endedMs } = request;
    const content = contentOf(exchange);
    this.refusedLogs.keep(deploymentId, { content, bytes, status, times, endedMs });
  }

  /** Returns true for a log that was refused before as it is, or that is no shorter than one after a 413. */
  isRefusedLog(exchange: JudgedExchange): boolean {
    const before = this.refusedLogs.get(exchange.deploymentId);
    if (before === undefined) return false;
    const isTooLong = before.status === 413 && exchange.request.bodyBytes >= before.bytes;
    return isTooLong || before.content === contentOf(exchange);
  }

  #fetchedMap(exchange: JudgedExchange, event: ClientExchange): void {
    const { status, json, deploymentId } = exchange;
    const hasty = isHasty(this.lastMap, exchange) ? (this.lastMap?.hasty ?? 0) + 1 : 0;
    this.lastMap = { ...timesOf(exchange), hasty };
    const offer = this.offers.get(deploymentId);
    if (offer && status === 200 && isAnswered(event)) offer.pauses = pausesIn(json);
  }

  #inventoried({ row, sent, isSuccess, request }: JudgedExchange): void {
    if (!isSuccess) return;
    const before = this.inventoryMs;
    if (before !== undefined) this.inventoryIntervalMs = request.sentMs - before;
    this.inventoryMs = request.sentMs;
    if (row.id === 'put-attributes') this.attributes.clear();
    for (const attribute of entriesOf(sent).slice(0, ATTRIBUTES_MAX)) {
      const { name, value } = membersOf(attribute);
      this.attributes.keep(beginningOf(String(name), NAME_MAX_CHARACTERS), typeOf(value));
    }
  }

  #failed(exchange: JudgedExchange, event: ClientExchange): void {
    const { row, status } = exchange;
    const isFailure = status >= 500 || status === 429 || !isAnswered(event);
    const before = this.failures.get(row.id);
    if (!isFailure) {
      this.failures.delete(row.id);
      return;
    }
    // A pause that Retry-After has asked for is none that the device has chosen.
    const isOwn = !this.waits.has(row.id);
    const pause = isOwn ? pauseMs(before, exchange) : undefined;
    const firstPauseMs = before?.firstPauseMs ?? pause;
    const longestPauseMs = Math.max(
      before?.longestPauseMs ?? 0,
      before?.firstPauseMs === undefined ? 0 : (pause ?? 0),
    );
    const hasty = pause !== undefined && pause < HASTY_MS ? (before?.hasty ?? 0) + 1 : 0;
    const count = (before?.count ?? 0) + (isOwn ? 1 : 0);
    const run = { ...timesOf(exchange), count, hasty, firstPauseMs, longestPauseMs };
    this.failures.keep(row.id, run);
  }

  #waits(exchange: JudgedExchange): void {
    const { row, status, answer, serverNowMs } = exchange;
    const seconds = waitSeconds(answer.headers['retry-after'] ?? '', serverNowMs);
    const isAsked = (status === 429 || status === 503) && seconds !== undefined;
    if (isAsked) this.waits.keep(row.id, { ...timesOf(exchange), seconds });
    else this.waits.delete(row.id);
  }

  #malformed(exchange: JudgedExchange): void {
    const { row, status } = exchange;
    if (status !== 400) {
      this.malformed.delete(row.id);
      return;
    }
    const content = contentOf(exchange);
    const before = this.malformed.get(row.id);
    const times = before?.content === content ? before.times + 1 : 1;
    this.malformed.keep(row.id, { content, times });
  }
}
