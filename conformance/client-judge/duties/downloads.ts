/** Duties of fetching a file. Spec: Device deployments v1; ArtifactLink */
import type { JudgedExchange } from '../../passive/judged-exchange.ts';
import { describeValue } from '../../target/expectations.ts';
import { membersOf } from '../../target/json-members.ts';
import { type DownloadFlaw, misfits } from '../download-progress.ts';
import type { Duty, DutyHistory } from '../duty.ts';
import {
  digestOf,
  downloadOperations,
  hostOf,
  isReportableFinal,
  linkOf,
  targetOf,
} from '../exchange-facts.ts';
import { hasReceivedResponse, isInFlight, TOO_FREQUENT_REPEATS_MAX } from '../exemptions.ts';
import { MASK } from '../secret-text.ts';
import { isFinalReport } from './reports.ts';

const REFUSED_LINKS_MAX = 2;
const REDIRECTS_MAX = 10;
const FAILURES_MAX = 50;
const LARGE_BYTES = 2 ** 31;
/**
 * The least part of a file that a device can be expected to have received before a cut; fewer bytes
 * may have been lost on their way.
 */
const RESUMED_MIN_BYTES = 65_536;
const reporting = ['put-deployment-status'];

const linkDuties: readonly Duty[] = [
  {
    id: 'get.uses-given-uri',
    level: 'must',
    sentence: 'A device fetches exactly the link that it was given.',
    source: 'DeploymentInstructions (v1): artifact.source.uri',
    evidence: 'path and query of a download, and of the links that were offered',
    remedy: 'take the string as it is: do not decode, sort, shorten or append anything',
    operations: downloadOperations,
    applies: ({ request }, { client }) => {
      const offer = client.deployments.ofLink(request.url);
      return offer !== undefined && offer.linkDigests.length > 0 && !isMasked(request.url);
    },
    violation: ({ request }, { client }) => {
      const target = digestOf(targetOf(request.url));
      const isGiven = client.deployments.ofLink(request.url)?.linkDigests.includes(target);
      if (isGiven || client.deployments.redirects.has(target)) return undefined;
      return { part: 'the link', expected: 'be used untouched', actual: 'another path or query' };
    },
  },
  {
    id: 'get.method-get',
    level: 'must',
    sentence: 'A device fetches a link by GET.',
    source: 'Device deployments v1: the URL is usable only with GET',
    evidence: 'the method of requests for a link',
    remedy: 'use GET, and read the length from its response instead of a HEAD before it',
    operations: downloadOperations,
    applies: () => true,
    violation: (_, { event: { method } }) =>
      method === 'GET' ? undefined : { part: 'the method', expected: 'be GET', actual: method },
  },
  {
    id: 'get.no-token-to-other-hosts',
    level: 'must',
    sentence: 'A device sends neither Authorization nor cookie to a link of another origin.',
    source: 'Authentication, rules 1 and 8; RFC 9110, 11.6.2',
    evidence: 'the headers of a download, and the host of the polls before it',
    remedy: 'send the token only to the address of the API; a link carries its own permission',
    scene: 'redirected-to-host',
    operations: downloadOperations,
    applies: ({ request }, { client }) =>
      client.apiHost !== undefined && client.apiHost !== hostOf(request.url),
    violation: (exchange) => {
      const credentialHeaders = ['authorization', 'cookie'].filter((name) => exchange.header(name));
      if (credentialHeaders.length === 0) return undefined;
      const host = hostOf(exchange.request.url);
      const part = `a download from ${host}, another host,`;
      return { part, expected: 'have no credentials', actual: credentialHeaders.join(' and ') };
    },
  },
  {
    id: 'get.resumes',
    level: 'should',
    sentence: 'A device resumes a download from the first byte that it lacks.',
    source: 'RFC 9110, 14.1.1 and 14.2',
    evidence: 'the Range of a download, and of the one after a cut',
    exemptions: 'a device that has received less than was written',
    remedy: 'send one range from the first missing byte, such as "Range: bytes=1024-"',
    scene: 'cut-download',
    operations: downloadOperations,
    applies: (exchange, history) =>
      (exchange.status === 200 || exchange.status === 206) &&
      (cutAt(exchange, history) !== undefined ||
        (exchange.header('range') !== undefined && exchange.header('if-range') === undefined)),
    violation: (exchange, history) => {
      const range = exchange.header('range');
      const writtenBytes = cutAt(exchange, history);
      if (writtenBytes !== undefined && writtenBytes > RESUMED_MIN_BYTES) {
        const expected = `go on from byte ${writtenBytes} or shortly before`;
        if (range === undefined) return { part: 'a cut download', expected, actual: 'from byte 0' };
        const from = Number(/^bytes=(\d+)-/.exec(range)?.[1] ?? 0);
        const isNear = from <= writtenBytes && from > 0;
        if (!isNear) return { part: 'a cut download', expected, actual: `from byte ${from}` };
      }
      if (range === undefined || exchange.status === 206) return undefined;
      if (/^bytes=(\d+-\d*|-\d+)$/.test(range)) return undefined;
      const expected = 'be bytes=FIRST-, since other formats are ignored';
      return { part: 'Range', expected, actual: describeValue(range) };
    },
  },
  {
    id: 'get.expired-link',
    level: 'should',
    sentence: 'A device gives up a link that was refused twice.',
    source: 'Errors: 403, link expired or signature invalid',
    evidence: '400 and 403 of one link since it was offered',
    remedy: 'poll again for a fresh link after a 403, or report failure',
    scene: 'expired-link',
    operations: downloadOperations,
    applies: ({ status }) => status === 400 || status === 403,
    violation: ({ request, status }, { client }) => {
      const refusalCount = client.deployments.refusedLinks.get(linkOf(request.url)) ?? 0;
      if (refusalCount !== REFUSED_LINKS_MAX) return undefined;
      return { part: 'a refused link', expected: 'not be used again', actual: `a third ${status}` };
    },
  },
  {
    id: 'get.follows-redirect',
    level: 'should',
    sentence: 'A device follows the redirects of a link, at most ten in a row.',
    source: 'RFC 9110, 15.4',
    evidence: 'the request after a 302, 303, 307 or 308',
    remedy: 'request the Location, without the Authorization of the API',
    scene: 'redirected-link',
    reaction: {
      dueAfter: {
        exchange: ({ operation, status, response }, { event }) =>
          downloadOperations.includes(operation.id) &&
          [301, 302, 303, 307, 308].includes(status) &&
          response.headers.location !== undefined &&
          hasReceivedResponse(event),
      },
      metBy: {
        exchange: ({ operation, request }, { client }) =>
          downloadOperations.includes(operation.id) &&
          client.deployments.redirects.has(digestOf(targetOf(request.url))),
      },
      brokenBy: ({ operation, requestJson }, { client }) => {
        if (
          client.deployments.redirected > REDIRECTS_MAX &&
          downloadOperations.includes(operation.id)
        ) {
          return { part: 'redirects', expected: 'end after ten', actual: 'one more request' };
        }
        if (!reporting.includes(operation.id) || membersOf(requestJson).status !== 'failure')
          return undefined;
        return { part: 'a redirect', expected: 'be followed', actual: 'a report of failure' };
      },
      cancelledBy: { serverEvents: ['client-killed', 'scene-ended'] },
      expected: 'follow the redirect',
    },
  },
  {
    id: 'get.fresh-link',
    level: 'should',
    sentence: 'A device uses the newest link that it was given.',
    source: 'DeploymentInstructions (v1): artifact.source.expire',
    evidence: 'the link of a download after a repeated offer',
    remedy: 'replace the stored link by that of each response',
    operations: downloadOperations,
    applies: ({ request }, { client }) => {
      const { linkDigests = [] } = client.deployments.ofLink(request.url) ?? {};
      return new Set(linkDigests).size > 1 && linkDigests.includes(digestOf(targetOf(request.url)));
    },
    violation: ({ request }, { client, event }) => {
      const { linkDigests = [] } = client.deployments.ofLink(request.url) ?? {};
      const isNewest = digestOf(targetOf(request.url)) === linkDigests.at(-1);
      if (isNewest || isInFlight(event, client.lastPoll?.endedMs ?? 0)) return undefined;
      return { part: 'the link', expected: 'be the newest one', actual: 'one of an earlier offer' };
    },
  },
];

const transferDuties: readonly Duty[] = [
  {
    id: 'get.if-range',
    level: 'observed',
    sentence: 'Whether a device states the validator of the file when it resumes.',
    source: 'RFC 9110, 13.1.5',
    evidence: 'If-Range and If-Unmodified-Since beside Range',
    remedy: 'send If-Range with the ETag of the first part',
    observation: ({
      deployments: {
        conditions: { resumed, conditional },
      },
    }) =>
      resumed > 0
        ? `${conditional} of ${resumed} parts were requested with a condition`
        : undefined,
  },
  {
    id: 'get.416',
    level: 'should',
    sentence: 'A device fetches the file from its first byte after a 416, or is done.',
    source: 'RFC 9110, 15.5.17',
    evidence: 'what follows a 416',
    remedy: 'drop what was stored and request the whole file, unless nothing is missing',
    scene: 'unsatisfiable-range',
    reaction: {
      dueAfter: {
        exchange: ({ operation, status }, { event }) =>
          downloadOperations.includes(operation.id) && status === 416 && hasReceivedResponse(event),
      },
      metBy: {
        exchange: ({ operation, requestJson, status }) =>
          (downloadOperations.includes(operation.id) && status !== 416) ||
          (reporting.includes(operation.id) && isReportableFinal(membersOf(requestJson).status)),
      },
      brokenBy: ({ operation, status }, _, { exchanges }) =>
        downloadOperations.includes(operation.id) &&
        status === 416 &&
        exchanges > TOO_FREQUENT_REPEATS_MAX
          ? { part: 'a 416', expected: 'lead to a fresh start', actual: 'the same Range again' }
          : undefined,
      cancelledBy: { serverEvents: ['client-killed'] },
      expected: 'fetch the file from its first byte after a 416',
    },
  },
  {
    id: 'get.bounded-retries',
    level: 'should',
    sentence: 'A device gives up a download after a limited number of attempts.',
    source: 'States and transitions, rule 1',
    evidence: 'downloads in a row that brought nothing',
    remedy: 'report failure after about ten attempts',
    scene: 'failing-download',
    operations: [...downloadOperations, ...reporting],
    applies: (exchange, history) => {
      const { failures = 0 } = offerOf(exchange, history)?.progress ?? {};
      const isReport = reporting.includes(exchange.operation.id);
      if (isReport)
        return (
          failures > TOO_FREQUENT_REPEATS_MAX &&
          membersOf(exchange.requestJson).status === 'failure'
        );
      return failures >= FAILURES_MAX;
    },
    violation: (exchange, history) => {
      const isLast = offerOf(exchange, history)?.progress.failures === FAILURES_MAX;
      if (reporting.includes(exchange.operation.id) || !isLast) return undefined;
      return {
        part: 'a failing download',
        expected: 'be given up',
        actual: `${FAILURES_MAX} tries`,
      };
    },
  },
  {
    id: 'get.gzip',
    level: 'should',
    sentence: 'A device decodes the encoding of a file that it has requested.',
    source: 'RFC 9110, 12.5.3',
    evidence: 'the report after a download with Content-Encoding',
    remedy: 'send Accept-Encoding: identity, or decode',
    scene: 'compressed-download',
    reaction: {
      dueAfter: {
        exchange: ({ operation, response, status }) =>
          downloadOperations.includes(operation.id) &&
          status === 200 &&
          response.headers['content-encoding'] === 'gzip',
      },
      metBy: { exchange: isFinal(['success', 'already-installed']) },
      brokenBy: (exchange) =>
        isFinal(['failure'])(exchange)
          ? { part: 'a file with gzip', expected: 'be decoded', actual: 'a report of failure' }
          : undefined,
      cancelledBy: { serverEvents: ['client-killed', 'deployment-aborted'] },
      expected: 'report the result',
    },
  },
  {
    id: 'get.once',
    level: 'should',
    sentence:
      'A device does not download the same bytes repeatedly unless a download was interrupted.',
    source: 'Limits: 429 is returned when a client floods the server',
    evidence: 'the bytes that were sent of a file since a cut or a failure, and its length',
    exemptions: 'what was sent before a download that was cut or failed',
    remedy: 'store what was fetched, and fetch a file again only after it was dropped',
    operations: downloadOperations,
    applies: (exchange, history) => (offerOf(exchange, history)?.progress.totalBytes ?? 0) > 0,
    violation: (exchange, history) => {
      const { sentBytes = 0, totalBytes = 0 } = offerOf(exchange, history)?.progress ?? {};
      const isFetch = exchange.isSuccess && history.event.method === 'GET';
      if (!isFetch || sentBytes < 2 * totalBytes) return undefined;
      return { part: 'a file', expected: 'be fetched once', actual: 'a third time' };
    },
  },
  {
    id: 'get.large',
    level: 'should',
    sentence: 'A device takes a file of more than 2 GiB, or refuses it.',
    source: 'Artifact: size',
    evidence: 'the final status after a file of more than 2 GiB',
    remedy: 'count bytes in 64 bits, and report failure where there is no room',
    scene: 'large-artifact',
    reaction: {
      dueAfter: {
        exchange: ({ operation, response, status }) =>
          downloadOperations.includes(operation.id) &&
          status === 200 &&
          Number(response.headers['content-length']) > LARGE_BYTES,
      },
      metBy: { exchange: isFinalReport },
      cancelledBy: { serverEvents: ['client-killed', 'deployment-aborted'] },
      expected: 'report the result',
    },
  },
];

/** A duty that is broken by a success although what was sent of the file was flawed. */
interface DamagedDownloadDuty extends Pick<Duty, 'id' | 'sentence' | 'source' | 'remedy'> {
  readonly level: 'must' | 'should';
  readonly flaw: DownloadFlaw;
  readonly scene: NonNullable<Duty['scene']>;
  readonly seen: string;
}

const flawRows: readonly DamagedDownloadDuty[] = [
  {
    id: 'get.checks-206',
    level: 'must',
    flaw: 'wrong-start',
    sentence: 'A device joins only parts that begin where it requested.',
    source: 'RFC 9110, 14.4 and 15.3.7',
    remedy: 'compare the first byte in Content-Range, and start from the first byte after a 200',
    scene: 'wrong-range',
    seen: 'a file with a part that began elsewhere',
  },
  {
    id: 'get.validator-changed',
    level: 'must',
    flaw: 'changed',
    sentence: 'A device never mixes the parts of two files.',
    source: 'RFC 9110, 15.3.7.3',
    remedy: 'compare ETag and length of each part with the first, or send If-Range',
    scene: 'changed-file',
    seen: 'parts of two files',
  },
  {
    id: 'get.short-body',
    level: 'must',
    flaw: 'short',
    sentence: 'A device does not install a file that ended early.',
    source: 'RFC 9112, 8',
    remedy: 'compare the length with Content-Length, and require the last chunk',
    scene: 'short-body',
    seen: 'a file without its end',
  },
  {
    id: 'get.checksum',
    level: 'must',
    flaw: 'altered',
    sentence: 'A device does not install a file whose checksums do not match.',
    source: 'UpdateFile: checksum; States and transitions, rule 1',
    remedy: 'compute the SHA-256 of each file in the artifact before the commit',
    scene: 'wrong-checksum',
    seen: 'a file with altered bytes',
  },
  {
    id: 'get.size-limits',
    level: 'should',
    flaw: 'endless',
    sentence: 'A device gives up a file that goes on past its end.',
    source: 'Artifact: size',
    remedy: 'stop at the end of the archive, and refuse what is behind it',
    scene: 'endless-body',
    seen: 'one with a trailer behind its end',
  },
];

const flawDuties: readonly Duty[] = flawRows.map(({ flaw, seen: actual, ...row }) => ({
  ...row,
  evidence: 'the final status of a deployment, and what was sent of its file before',
  ...(misfits.has(flaw) && {
    inconclusiveReason:
      'a failure does not show whether the client has joined the parts or refused them',
  }),
  exemptions: 'a file that was fetched again whole',
  operations: reporting,
  applies: (exchange, history) => {
    const { progress } = offerOf(exchange, history) ?? {};
    const isFlawed = progress?.flaws.has(flaw) ?? false;
    // A checksum may have saved a device that joined what does not belong together.
    const isSaved = misfits.has(flaw) && progress?.isWhole === false && !progress.hasRefused;
    const isFailure = membersOf(exchange.requestJson).status === 'failure';
    return isFinalReport(exchange) && isFlawed && !(isSaved && isFailure);
  },
  violation: (exchange, history) => {
    const isFlawed = offerOf(exchange, history)?.progress.flaw === flaw;
    if (membersOf(exchange.requestJson).status !== 'success' || !isFlawed) return undefined;
    return { part: 'success', expected: 'follow a whole and true file', actual };
  },
}));

export const downloadDuties: readonly Duty[] = [...linkDuties, ...transferDuties, ...flawDuties];

function isMasked(url: string): boolean {
  return url.includes(MASK) || url.includes(encodeURIComponent(MASK));
}

function isFinal(statuses: readonly unknown[]) {
  return ({ operation, requestJson, isSuccess }: JudgedExchange): boolean =>
    reporting.includes(operation.id) &&
    isSuccess &&
    statuses.includes(membersOf(requestJson).status);
}

/** Returns the offer of a download or a report. */
function offerOf({ operation, request, deploymentId }: JudgedExchange, { client }: DutyHistory) {
  return downloadOperations.includes(operation.id)
    ? client.deployments.ofLink(request.url)
    : client.deployments.offers.get(deploymentId);
}

/**
 * Returns the bytes that were written before the last response was cut; undefined if it was not.
 */
function cutAt(exchange: JudgedExchange, history: DutyHistory): number | undefined {
  return offerOf(exchange, history)?.progress.cutAtBytes;
}
