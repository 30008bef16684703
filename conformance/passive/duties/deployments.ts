/** Duties of polling, downloading and reporting. Spec: Device deployments v1, v2 */
import { isDeepStrictEqual } from 'node:util';
import { jsonInOrder } from '../../../fixtures/json.ts';
import { shown } from '../../target/expectations.ts';
import { membersOf } from '../../target/json-members.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import {
  askedWith,
  downloads,
  finals,
  hostOf,
  linkOf,
  type Offer,
  polls,
} from './client-memory.ts';
import type { Duty, DutyMemory } from './duty.ts';

/** Ten polls in a row have nine pauses. */
const HASTY_POLLS_MAX = 8;
const REFUSED_LINKS_MAX = 2;
const REPORTS_AFTER_CONFLICT_MAX = 2;

const reporting = ['put-deployment-status'];

const pollDuties: readonly Duty[] = [
  {
    id: 'next.not-faster-than-a-second',
    level: 'should',
    sentence: 'A device never polls ten times in a row at less than a second.',
    source: 'Limits: 429 is returned when a client floods the server',
    looksAt: 'pauses between polls; polls that bring an update or a 429 are excused',
    wayOut: 'poll by an interval of minutes, and after a check-update message once',
    operations: polls,
    applies: (_, { client }) => client.lastPoll !== undefined,
    violation: (exchange, { client }) => {
      const isTenth = client.hastyPolls === HASTY_POLLS_MAX;
      if (!isTenth || !client.isHastyPoll(exchange)) return undefined;
      const seen = 'less, ten times in a row';
      return { where: 'the pause between polls', must: 'last 1 s or more', seen };
    },
  },
  {
    id: 'next.request-stable',
    level: 'should',
    sentence: 'A device polls with unchanged data while a deployment is active.',
    source: 'Device deployments v1: 409, conflicting request data',
    looksAt: 'the data of polls between an offer and its final status, within one operation',
    wayOut: 'report the final status before you poll with the new artifact_name or other data',
    operations: polls,
    applies: (exchange, memory) => activeOffer(exchange, memory)?.asked !== undefined,
    violation: (exchange, memory) => {
      const asked = askedWith(exchange);
      const { asked: before = '{}' } = activeOffer(exchange, memory) ?? {};
      if (jsonInOrder(asked) === before) return undefined;
      const former = membersOf(JSON.parse(before));
      const names = [...new Set([...Object.keys(former), ...Object.keys(asked)])];
      const changed = names.filter((name) => !isDeepStrictEqual(former[name], asked[name]));
      const seen = `changed: ${changed.map(shown).join(', ')}`;
      return { where: 'the data of a poll', must: 'stay until the final status', seen };
    },
  },
];

const downloadDuties: readonly Duty[] = [
  {
    id: 'get.no-token-to-other-hosts',
    level: 'must',
    sentence: 'A device sends neither Authorization nor cookie to a link of another origin.',
    source: 'Authentication, rules 1 and 8; RFC 9110, 11.6.2',
    looksAt: 'the headers of a download, and the host of the polls before it',
    wayOut: 'send the token only to the address of the API; a link carries its own permission',
    operations: downloads,
    applies: ({ request }, { client }) =>
      client.apiHost !== undefined && client.apiHost !== hostOf(request.url),
    violation: (exchange) => {
      const sent = ['authorization', 'cookie'].filter((name) => exchange.header(name));
      if (sent.length === 0) return undefined;
      const host = hostOf(exchange.request.url);
      const where = `a download from ${host}, another host,`;
      return { where, must: 'have no credentials', seen: sent.join(' and ') };
    },
  },
  {
    id: 'get.resumes',
    level: 'should',
    sentence: 'A device resumes a download by a Range that the server can serve.',
    source: 'RFC 9110, 14.1.1 and 14.2',
    looksAt: 'a Range that was answered 200 with the whole file, without If-Range',
    wayOut: 'send one range from the first missing byte, such as "Range: bytes=1024-"',
    operations: downloads,
    applies: (exchange) =>
      exchange.header('range') !== undefined &&
      exchange.header('if-range') === undefined &&
      (exchange.status === 200 || exchange.status === 206),
    violation: (exchange) => {
      const range = exchange.header('range') ?? '';
      if (exchange.status === 206 || /^bytes=(\d+-\d*|-\d+)$/.test(range)) return undefined;
      const must = 'have the form bytes=FIRST-, since others are ignored';
      return { where: 'Range', must, seen: shown(range) };
    },
  },
  {
    id: 'get.expired-link',
    level: 'should',
    sentence: 'A device gives up a link that was refused twice.',
    source: 'Errors: 403, link expired or signature invalid',
    looksAt: '400 and 403 of one link since it was offered',
    wayOut: 'poll again for a fresh link after a 403, or report failure',
    operations: downloads,
    applies: ({ status }) => status === 400 || status === 403,
    violation: ({ request, status }, { client }) => {
      const before = client.refusedLinks.get(linkOf(request.url)) ?? 0;
      if (before !== REFUSED_LINKS_MAX) return undefined;
      return { where: 'a refused link', must: 'not be used again', seen: `a third ${status}` };
    },
  },
];

const reportDuties: readonly Duty[] = [
  {
    id: 'report.final-once',
    level: 'should',
    sentence: 'A device reports one final status for a deployment; repeats are equal.',
    source: 'States and transitions, rule 1',
    looksAt: 'accepted final statuses of one deployment',
    wayOut: 'decide on success or failure once, store it, and repeat only that',
    operations: reporting,
    applies: (exchange, memory) => offerOf(exchange, memory)?.final !== undefined,
    violation: (exchange, memory) => {
      const { status } = membersOf(exchange.sent);
      const { final } = offerOf(exchange, memory) ?? {};
      if (status === final || !finals.includes(status)) return undefined;
      return { where: 'the final status', must: `stay ${shown(final)}`, seen: shown(status) };
    },
  },
  {
    id: 'report.success-only-if-installed',
    level: 'must',
    sentence: 'A device reports no success for an artifact that it has not fetched.',
    source: 'States and transitions, rule 1',
    looksAt: 'downloads between the offer and the report; a copy from a proxy is not seen',
    wayOut: 'report success after the file was fetched whole, checked and installed',
    operations: reporting,
    applies: (exchange, memory) =>
      membersOf(exchange.sent).status === 'success' &&
      exchange.isSuccess &&
      offerOf(exchange, memory)?.link !== undefined,
    violation: (exchange, memory) => {
      const { link = '' } = offerOf(exchange, memory) ?? {};
      if (memory.client.fetched.has(link)) return undefined;
      return { where: 'success', must: 'follow a download', seen: 'the link was never used' };
    },
  },
  {
    id: 'report.409-ends-reporting',
    level: 'should',
    sentence: 'A device sends at most one more report after a 409, and polls on.',
    source: 'States and transitions: aborted',
    looksAt: '409 to the reports of one deployment',
    wayOut: 'take a 409 as the end of the deployment: roll back, and poll by the interval',
    operations: reporting,
    applies: (exchange, memory) => (offerOf(exchange, memory)?.conflicts ?? 0) > 0,
    violation: (exchange, memory) => {
      const { conflicts } = offerOf(exchange, memory) ?? {};
      if (exchange.status !== 409 || conflicts !== REPORTS_AFTER_CONFLICT_MAX) return undefined;
      return { where: 'a 409', must: 'end the reports', seen: 'a second report after it' };
    },
  },
];

export const deploymentDuties: readonly Duty[] = [
  ...pollDuties,
  ...downloadDuties,
  ...reportDuties,
];

function offerOf({ deploymentId }: JudgedExchange, { client }: DutyMemory): Offer | undefined {
  return client.offers.get(deploymentId);
}

/** Returns the latest offer if it was to the same operation and has not ended. */
function activeOffer({ row }: JudgedExchange, { client }: DutyMemory): Offer | undefined {
  const latest = [...client.offers.values()].at(-1);
  const isActive = latest?.final === undefined && latest?.isOver === false;
  return isActive && latest.operation === row.id ? latest : undefined;
}
