/** The history of the deployments of one device: offers, downloads, reports and logs. */
import type { ClientExchange } from '../../fixtures/control/client-event.ts';
import type { JudgedExchange } from '../passive/judged-exchange.ts';
import { membersOf } from '../target/json-members.ts';
import { BoundedMap } from './bounded-map.ts';
import { DownloadProgress } from './download-progress.ts';
import {
  contentOf,
  digestOf,
  isLogDone,
  isReportableFinal,
  linkOf,
  pausesIn,
  pollData,
  targetOf,
} from './exchange-facts.ts';
import { hasReceivedResponse } from './exemptions.ts';
import { ITEMS_MAX, type LastPoll, type Offer, type RefusedLog } from './history-items.ts';

const TARGETS_MAX = 4;
const REPORTS_MAX = 32;

/** The deployments of one device as seen so far. */
export class DeploymentHistory {
  readonly offers = new BoundedMap<Offer>(ITEMS_MAX);
  /** Links of the files that the device has begun to fetch. */
  readonly fetched = new BoundedMap<true>(ITEMS_MAX);
  /** Number of refusals of each link in a row. */
  readonly refusedLinks = new BoundedMap<number>(ITEMS_MAX);
  /** The last refused log of each deployment, and how often it was sent. */
  readonly refusedLogs = new BoundedMap<RefusedLog>(ITEMS_MAX);
  /** Digests of the targets to which a download was redirected. */
  readonly redirects = new BoundedMap<true>(ITEMS_MAX);
  /** Number of redirects of a download in a row. */
  redirected = 0;
  /** When the last download ended, if it did not complete a file; undefined if it did. */
  failedDownloadMs: number | undefined;
  /** Number of requests for a part of a file, and of those that state a validator. */
  readonly conditions = { resumed: 0, conditional: 0 };
  /** True once the device was seen without a deployment, so that a later offer is a new one. */
  isIdleKnown = false;

  /** The offer that the device should work on: the newest one that has not ended. */
  get active(): Offer | undefined {
    const latest = this.offers.values.at(-1);
    return latest?.final === undefined && latest?.isWithdrawn === false ? latest : undefined;
  }

  /** Returns the offer with this ID, or with another form of it if both are UUIDs. */
  ofId(deploymentId: string): Offer | undefined {
    const offer = this.offers.get(deploymentId);
    return offer ?? this.offers.values.findLast(({ id }) => plain(id) === plain(deploymentId));
  }

  /** Returns the offer whose file a request fetches. */
  ofLink(url: string): Offer | undefined {
    const link = linkOf(url);
    return this.offers.values.findLast((offer) => offer.link === link);
  }

  /**
   * Records the response to a poll. @param announcesMaps true if the poll requested control maps
   */
  recordPoll(
    exchange: JudgedExchange,
    event: ClientExchange,
    { pollText }: LastPoll,
    announcesMaps: boolean,
  ): void {
    const { operation, status, responseJson, request } = exchange;
    // No update and a conflict both tell the device that its deployment is finished.
    if ((status === 204 || status === 409) && hasReceivedResponse(event)) {
      for (const offer of this.offers.values) offer.isWithdrawn = true;
      this.isIdleKnown = true;
    }
    const { id, artifact } = membersOf(responseJson);
    if (status !== 200 || typeof id !== 'string') return;
    const { source, artifact_name: name, device_types_compatible: types } = membersOf(artifact);
    const { uri } = membersOf(source);
    const validUri = typeof uri === 'string' && URL.canParse(uri) ? uri : undefined;
    const link = validUri && linkOf(validUri);
    if (link !== undefined) this.refusedLinks.delete(link);
    const earlierOffer = this.offers.get(id);
    // The device may have worked on it before it was watched.
    if (!this.isIdleKnown && link !== undefined) this.fetched.keep(link, true);
    const linkDigests = [
      ...(earlierOffer?.linkDigests ?? []),
      ...(validUri ? [digestOf(targetOf(validUri))] : []),
    ];
    const { device_type: type, artifact_name: formerName } = pollData(exchange);
    this.offers.keep(id, {
      id,
      operation: earlierOffer?.operation ?? operation.id,
      pollText: earlierOffer?.pollText ?? pollText,
      formerName: earlierOffer?.formerName ?? formerName,
      name,
      isConfiguration: validUri?.includes('/download/configuration/') ?? false,
      isForType: !Array.isArray(types) || types.includes(type),
      pauses: announcesMaps ? pausesIn(artifact) : undefined,
      link,
      linkDigests: linkDigests.slice(-TARGETS_MAX),
      offeredMs: earlierOffer?.offeredMs ?? request.endedMs,
      progress: earlierOffer?.progress ?? new DownloadProgress(),
      reports: earlierOffer?.reports ?? [],
      reportsBeforeDownload: earlierOffer?.reportsBeforeDownload ?? [],
      mapFetches: earlierOffer?.mapFetches ?? 0,
      // A deployment that ended is offered again if its status was set back.
      final: undefined,
      isFinalKnown: false,
      endedMs: undefined,
      conflicts: earlierOffer?.conflicts ?? 0,
      conflictMs: undefined,
      isConflictOfFinal: false,
      isWithdrawn: false,
      hasLog: earlierOffer?.hasLog ?? false,
    });
  }

  /** Records a request for a file. */
  recordDownload(exchange: JudgedExchange, event: ClientExchange): void {
    const { request, status, response } = exchange;
    const link = linkOf(request.url);
    const { location } = response.headers;
    this.redirected = status >= 300 && status < 400 && location ? this.redirected + 1 : 0;
    if (location && URL.canParse(location, request.url)) {
      this.redirects.keep(digestOf(targetOf(new URL(location, request.url).href)), true);
    }
    const offer = this.ofLink(request.url);
    const isNew = !this.fetched.has(link);
    if (offer && isNew) offer.reportsBeforeDownload = [...offer.reports];
    if (status === 400 || status === 403)
      this.refusedLinks.keep(link, (this.refusedLinks.get(link) ?? 0) + 1);
    // A redirect may lead to a server that is not seen; a 416 is about a file that the device has.
    if ((status >= 200 && status < 400) || status === 416) this.fetched.keep(link, true);
    offer?.progress.record(exchange, event, isNew);
    const isWhole = status < 400 && hasReceivedResponse(event) && (offer?.progress.isWhole ?? true);
    this.failedDownloadMs = isWhole ? undefined : event.endedMs;
    if (exchange.header('range') === undefined) return;
    this.conditions.resumed += 1;
    const isConditional = ['if-range', 'if-unmodified-since'].some((name) => exchange.header(name));
    if (isConditional) this.conditions.conditional += 1;
  }

  /** Records the report of a status. */
  recordReport(exchange: JudgedExchange, event: ClientExchange): void {
    const { deploymentId, requestJson, status: answered, isSuccess, request } = exchange;
    const offer = this.ofId(deploymentId);
    if (offer === undefined) return;
    const { status } = membersOf(requestJson);
    if (offer.reports.length < REPORTS_MAX) offer.reports.push(status);
    offer.mapFetches = 0;
    if (isSuccess && isReportableFinal(status)) {
      offer.final = status;
      offer.isFinalKnown = hasReceivedResponse(event);
      offer.endedMs = request.endedMs;
    }
    if (!hasReceivedResponse(event)) return;
    if (answered === 409) {
      offer.conflicts += 1;
      // What the device has reported after the first 409 is no exemption.
      if (offer.conflictMs === undefined) offer.isConflictOfFinal = isReportableFinal(status);
      offer.conflictMs ??= request.endedMs;
    }
    if (answered === 404 || answered === 409) offer.isWithdrawn = true;
  }

  /** Records the upload of a log. */
  recordLog(exchange: JudgedExchange, event: ClientExchange): void {
    const { deploymentId, status, request } = exchange;
    const offer = this.ofId(deploymentId);
    if (offer && isLogDone(exchange)) offer.hasLog = true;
    if ((status !== 413 && status !== 400) || !hasReceivedResponse(event)) return;
    const times = this.isRefusedLog(exchange)
      ? (this.refusedLogs.get(deploymentId)?.times ?? 0) + 1
      : 1;
    const { bodyBytes: bytes, endedMs } = request;
    const content = contentOf(exchange);
    this.refusedLogs.keep(deploymentId, { content, bytes, status, times, endedMs });
  }

  /**
   * Returns true for a log that was refused before as it is, or that is no shorter than one after a
   * 413.
   */
  isRefusedLog(exchange: JudgedExchange): boolean {
    const refusedLog = this.refusedLogs.get(exchange.deploymentId);
    if (refusedLog === undefined) return false;
    const isTooLong = refusedLog.status === 413 && exchange.request.bodyBytes >= refusedLog.bytes;
    return isTooLong || refusedLog.content === contentOf(exchange);
  }
}

/** Returns an ID without the dashes and the case that mean nothing in a UUID. */
function plain(id: string): string {
  return id.replaceAll('-', '').toLowerCase();
}
