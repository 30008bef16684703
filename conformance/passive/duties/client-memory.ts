/** Remembers what duties need to know about the earlier requests of one device, within bounds. */
import { createHash } from 'node:crypto';
import { beginningOf } from '../../../fixtures/beginning.ts';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import { jsonInOrder } from '../../../fixtures/json.ts';
import { entriesOf, membersOf } from '../../target/json-members.ts';
import type { JudgedExchange } from '../judged-exchange.ts';

/** Maximum number of remembered items of each kind; a new item replaces the oldest. */
const ITEMS_MAX = 8;
/** Data of a poll beyond this length is not remembered. */
const ASKED_MAX_CHARACTERS = 1024;
const HOST_MAX_CHARACTERS = 255;
const IDENTITY_MAX_CHARACTERS = 100;
/** Maximum number of keys of which the identity is remembered. */
const KEYS_MAX = 20_000;
/** A shorter pause than this is hasty. */
const HASTY_MS = 1000;

/** The ids of the operations that fetch a file by a signed link. */
export const downloads: readonly string[] = ['download-artifact', 'download-configuration'];

/** The ids of the operations by which a device asks for an update. */
export const polls: readonly string[] = [
  'get-next-deployment',
  'post-next-deployment',
  'post-next-deployment-v2',
];

/** The final statuses that a device may report. */
export const finals: readonly unknown[] = ['success', 'failure', 'already-installed'];

/** A deployment that was offered to the device. */
export interface Offer {
  /** The operation and the data of the request to which it was offered; undefined if it is long. */
  readonly operation: string;
  readonly asked: string | undefined;
  /** The link to the file, as `linkOf` returns it; undefined if the instructions had none. */
  readonly link: string | undefined;
  /** The final status that was reported and accepted. */
  final: unknown;
  /** Number of reports that were answered 409. */
  conflicts: number;
  /** True once an answer has said that the deployment is over: 404, 409, or no update. */
  isOver: boolean;
}

/** The times of a request and of its answer. */
type Times = Pick<JudgedExchange['request'], 'sentMs' | 'endedMs'>;

/** A request that the server asked to repeat later. */
interface Wait extends Times {
  readonly seconds: number;
}

/** The state of one device as seen so far. `learn` is called after the duties judged an exchange. */
export class ClientMemory {
  readonly offers = new Map<string, Offer>();
  /** Links of the files that the device has begun to fetch. */
  readonly fetched = new Map<string, true>();
  /** Number of refusals of each link in a row. */
  readonly refusedLinks = new Map<string, number>();
  /** Number of 401 of each operation since the last authentication request. */
  readonly unauthorized = new Map<string, number>();
  /** The last refused request of each operation, and how often it was sent in a row. */
  readonly malformed = new Map<string, { readonly content: string; readonly times: number }>();
  /** The waits that the server asked for, by operation. */
  readonly waits = new Map<string, Wait>();
  /** When the device last sent each alert. */
  readonly alerts = new Map<string, number>();
  /** Host of the last poll, which is the host of the API. */
  apiHost: string | undefined;
  lastAuthentication: (Times & { readonly status: number }) | undefined;
  /** Number of authentication requests in a row that followed a refusal hastily. */
  hastyAuthentications = 0;
  lastPoll: (Times & Pick<Offer, 'asked'>) | undefined;
  /** Number of polls in a row, each hastily after the former one. */
  hastyPolls = 0;

  /** Records the facts in an exchange that duties need for later ones. */
  learn(exchange: JudgedExchange): void {
    const { row, status, request } = exchange;
    const { id } = row;
    if (id === 'post-auth-request') this.#authenticated(exchange);
    else if (status === 401) keep(this.unauthorized, id, (this.unauthorized.get(id) ?? 0) + 1);
    else this.unauthorized.delete(id);
    if (polls.includes(id)) this.#polled(exchange);
    if (downloads.includes(id)) this.#fetched(exchange);
    if (id === 'put-deployment-status') this.#reported(exchange);
    if (id === 'post-alerts') {
      for (const key of alertKeys(exchange)) keep(this.alerts, key, request.sentMs);
    }
    this.#waits(exchange);
    this.#malformed(exchange);
  }

  /** Returns true if this authentication request hastily follows a refusal. */
  isHastyAuthentication(exchange: JudgedExchange): boolean {
    const { lastAuthentication: last } = this;
    const isRefused = last?.status === 401 || last?.status === 403;
    const pause = pauseMs(last, exchange);
    return isRefused && pause !== undefined && pause < HASTY_MS;
  }

  /** Returns true if this poll hastily follows another one, and neither was busy. */
  isHastyPoll(exchange: JudgedExchange): boolean {
    const pause = pauseMs(this.lastPoll, exchange);
    return pause !== undefined && pause < HASTY_MS && !isBusy(exchange);
  }

  #authenticated(exchange: JudgedExchange): void {
    const isHasty = this.isHastyAuthentication(exchange);
    this.hastyAuthentications = isHasty ? this.hastyAuthentications + 1 : 0;
    this.lastAuthentication = { ...timesOf(exchange), status: exchange.status };
    this.unauthorized.clear();
  }

  #polled(exchange: JudgedExchange): void {
    const { row, status, json, request } = exchange;
    this.apiHost = beginningOf(hostOf(request.url), HOST_MAX_CHARACTERS);
    this.hastyPolls = this.isHastyPoll(exchange) ? this.hastyPolls + 1 : 0;
    const text = jsonInOrder(askedWith(exchange));
    const asked = text.length > ASKED_MAX_CHARACTERS ? undefined : text;
    this.lastPoll = { ...timesOf(exchange), asked };
    // No update and a conflict both tell the device that its deployment is over.
    if (status === 204 || status === 409) {
      for (const offer of this.offers.values()) offer.isOver = true;
    }
    const { id, artifact } = membersOf(json);
    if (status !== 200 || typeof id !== 'string') return;
    const { uri } = membersOf(membersOf(artifact).source);
    const link = typeof uri === 'string' && URL.canParse(uri) ? linkOf(uri) : undefined;
    if (link !== undefined) this.refusedLinks.delete(link);
    const known = this.offers.get(id);
    const offer = { operation: row.id, asked, link, final: undefined, conflicts: 0, isOver: false };
    keep(this.offers, id, known ? { ...known, link, isOver: false } : offer);
  }

  #fetched({ request, status }: JudgedExchange): void {
    const link = linkOf(request.url);
    if (status === 400 || status === 403) {
      keep(this.refusedLinks, link, (this.refusedLinks.get(link) ?? 0) + 1);
    } else keep(this.fetched, link, true);
  }

  #reported({ deploymentId, sent, status: answered, isSuccess }: JudgedExchange): void {
    const offer = this.offers.get(deploymentId);
    if (offer === undefined) return;
    const { status } = membersOf(sent);
    if (isSuccess && finals.includes(status)) offer.final = status;
    if (answered === 409) offer.conflicts += 1;
    if (answered === 404 || answered === 409) offer.isOver = true;
  }

  #waits(exchange: JudgedExchange): void {
    const { row, status, answer, serverNowMs } = exchange;
    const seconds = waitSeconds(answer.headers['retry-after'] ?? '', serverNowMs);
    const isAsked = (status === 429 || status === 503) && seconds !== undefined;
    if (isAsked) keep(this.waits, row.id, { ...timesOf(exchange), seconds });
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
    keep(this.malformed, row.id, { content, times });
  }
}

/** What is known about all devices together. */
export class FleetMemory {
  readonly #identityOfKey = new Map<string, { readonly digest: string; readonly text: string }>();

  /** Records the identity of a key. Returns another one under which it was used, if any. */
  otherIdentity(key: string, identity: string): string | undefined {
    const name = digestOf(key);
    const digest = digestOf(identity);
    const known = this.#identityOfKey.get(name);
    if (known) return known.digest === digest ? undefined : known.text;
    const text = beginningOf(identity, IDENTITY_MAX_CHARACTERS);
    keep(this.#identityOfKey, name, { digest, text }, KEYS_MAX);
    return undefined;
  }
}

/** Returns true if devices call the operation: with their token, a signature or a link. */
export function isOfDevice({ authorization }: Operation): boolean {
  return ['device', 'socket', 'signature', 'link'].includes(authorization);
}

/**
 * Returns the milliseconds from the end of one exchange to the start of the next; undefined if the
 * clock of the recorder was frozen, or was set back, so that they cannot be known.
 */
export function pauseMs(
  earlier: Times | undefined,
  { request }: JudgedExchange,
): number | undefined {
  if (earlier === undefined || request.endedMs <= earlier.endedMs) return undefined;
  return request.sentMs - earlier.endedMs;
}

/** Returns the data of a poll: the type and the artifact of the device, and further pairs. */
export function askedWith({
  request,
  row,
  sent,
}: JudgedExchange): Readonly<Record<string, unknown>> {
  if (row.id === 'get-next-deployment') {
    return Object.fromEntries(new URL(request.url).searchParams);
  }
  const { device_provides: provides = sent } = membersOf(sent);
  return membersOf(provides);
}

/** Returns a key for each alert in a body: alerts with the same key are equal. */
export function alertKeys({ sent }: JudgedExchange): readonly string[] {
  return entriesOf(sent).map((alert) => {
    const { name, level, subject } = membersOf(alert);
    return digestOf(JSON.stringify([name, level, membersOf(subject).name]));
  });
}

/** Returns a digest of the URL and the body of a request. */
export function contentOf({ request: { url, body } }: JudgedExchange): string {
  return digestOf(`${url}\n${String(body ?? '')}`);
}

/** Returns what identifies a link, whose query differs each time that it is offered. */
export function linkOf(url: string): string {
  return digestOf(new URL(url).pathname);
}

/** Returns the host and port of a URL. */
export function hostOf(url: string): string {
  return new URL(url).host;
}

/** An update in progress, a conflict and a rate limit explain a second poll. */
function isBusy({ status }: JudgedExchange): boolean {
  return status === 200 || status === 429;
}

function timesOf({ request: { sentMs, endedMs } }: JudgedExchange): Times {
  return { sentMs, endedMs };
}

/** Returns the seconds that a Retry-After asks to wait; undefined if it is invalid. */
function waitSeconds(value: string, nowMs: number): number | undefined {
  if (/^\d{1,9}$/.test(value.trim())) return Number(value);
  const atMs = Date.parse(value);
  return value === '' || Number.isNaN(atMs) ? undefined : Math.max(0, (atMs - nowMs) / 1000);
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

function keep<Value>(
  map: Map<string, Value>,
  key: string,
  value: Value,
  most: number = ITEMS_MAX,
): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
