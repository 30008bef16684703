/** Duties of every request. Spec: How errors are answered; Errors; RFC 9110 */
import { contentOf, isOfDevice, pauseMs } from './client-memory.ts';
import type { Duty } from './duty.ts';

const REPEATS_MAX = 3;

export const httpDuties: readonly Duty[] = [
  {
    id: 'http.bearer',
    level: 'must',
    sentence: 'A device sends its token in a header, never in a query.',
    source: 'Authentication, rules 1 and 7; RFC 6750, 2.3',
    looksAt: 'the names of query parameters',
    wayOut: 'send "Authorization: Bearer TOKEN"; a URL is written into logs on its way',
    applies: ({ row }) => isOfDevice(row) && row.authorization !== 'link',
    violation: ({ request }) => {
      const names = [...new URL(request.url).searchParams.keys()];
      const name = names.find((each) => /^((access|id)?_?token|jwt|authorization)$/i.test(each));
      if (name === undefined) return undefined;
      return { where: 'the token', must: 'be in a header', seen: `in the parameter ${name}` };
    },
  },
  {
    id: 'http.retry-after',
    level: 'should',
    sentence: 'A device waits as long as Retry-After says.',
    source: 'Errors: 429; RFC 9110, 10.2.3',
    looksAt: 'the next request of an operation after a 429 or 503 with Retry-After',
    wayOut: 'read Retry-After, in seconds or as a date, and send nothing before that time',
    applies: (exchange, { client }) => {
      const wait = client.waits.get(exchange.row.id);
      // A request that was underway when the answer came is excused.
      const pause = pauseMs(wait, exchange);
      return isOfDevice(exchange.row) && pause !== undefined && pause >= 0;
    },
    violation: (exchange, { client }) => {
      const wait = client.waits.get(exchange.row.id);
      const seconds = (pauseMs(wait, exchange) ?? 0) / 1000;
      if (wait === undefined || seconds + ROUNDED_SECONDS >= wait.seconds) return undefined;
      const seen = `${seconds.toFixed(1)} s`;
      return { where: 'the pause', must: `last ${Math.ceil(wait.seconds)} s`, seen };
    },
  },
  {
    id: 'http.no-retry-on-400',
    level: 'should',
    sentence: 'A device repeats a request that was answered 400 unchanged at most twice.',
    source: 'Errors: 400, invalid request',
    looksAt: 'URL and body of requests of one operation that were answered 400 in a row',
    wayOut: 'take a 400 as final: the same bytes get the same answer; read its error member',
    applies: ({ row, status }) => isOfDevice(row) && row.authorization !== 'link' && status === 400,
    violation: (exchange, { client }) => {
      const before = client.malformed.get(exchange.row.id);
      const isRepeat = before?.content === contentOf(exchange) && before.times === REPEATS_MAX;
      if (!isRepeat) return undefined;
      return { where: 'a 400', must: 'not be repeated', seen: 'the same request a fourth time' };
    },
  },
];

/** Retry-After as a date has whole seconds, and times in a journal are rounded. */
const ROUNDED_SECONDS = 1;
