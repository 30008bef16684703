/** Passive checks of the audit log: filters, order, total and page links match the request. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { readCsv } from '../../target/csv.ts';
import { describeValue } from '../../target/expectations.ts';
import { relationsOf } from '../../target/link-header.ts';
import type { PassiveCheck, Violation } from '../check.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import { memberAt, timeOf } from '../response-parts.ts';
import { auditFilters } from './audit-filters.ts';

/** Largest requested page size that every server is assumed to support. */
const ORDINARY_PAGE_MAX = 20;
const MS_PER_SECOND = 1000;

function entriesOf({ responseJson }: JudgedExchange): readonly unknown[] {
  return Array.isArray(responseJson) ? responseJson : [];
}

function filterViolation(exchange: JudgedExchange): Violation | undefined {
  for (const { name, requirement, path, keeps } of auditFilters) {
    const requestedValue = exchange.parameter(name);
    if (requestedValue === undefined) continue;
    for (const [index, entry] of entriesOf(exchange).entries()) {
      const value = memberAt(entry, path);
      if (keeps(requestedValue, value) !== false) continue;
      const part = `200 body: /${index}/${path.join('/')}`;
      return {
        part,
        expected: `fit ${name}=${requestedValue}`,
        actual: describeValue(value ?? 'none'),
        requirement,
      };
    }
  }
  return undefined;
}

/** Returns a violation for the first time that breaks the requested order; skips other values. */
function orderViolation(
  exchange: JudgedExchange,
  times: readonly unknown[],
  order: OrderRequirements,
) {
  const sortParameter = exchange.parameter('sort');
  const sort = sortParameter ?? 'desc';
  if (sort !== 'asc' && sort !== 'desc') return undefined;
  for (const [index, time] of times.entries()) {
    const [currentTime, previousTime] = [timeOf(time), timeOf(times[index - 1])];
    if (currentTime === undefined || previousTime === undefined) continue;
    if (sort === 'asc' ? currentTime >= previousTime : currentTime <= previousTime) continue;
    return {
      part: order.partAt(index),
      expected: `be no ${sort === 'asc' ? 'earlier' : 'later'} than the previous one, with sort=${sort}`,
      actual: describeValue(time),
      requirement: sortParameter === undefined ? order.unrequested : order[sort],
    };
  }
  return undefined;
}

/** The requirements on the order of entries, and `of`, which names the place of a time. */
interface OrderRequirements
  extends Readonly<Record<'asc' | 'desc' | 'unrequested', RequirementId>> {
  readonly partAt: (index: number) => string;
}

function unsortedPage(exchange: JudgedExchange): Violation | undefined {
  const times = entriesOf(exchange).map((entry) => memberAt(entry, ['time']));
  return orderViolation(exchange, times, {
    partAt: (index) => `200 body: /${index}/time`,
    unrequested: 'audit.newest-first',
    asc: 'audit.sort-asc',
    desc: 'audit.sort-desc',
  });
}

function unsortedExport(exchange: JudgedExchange): Violation | undefined {
  const [names = [], ...records] = readCsv(exchange.response.text);
  const column = names.indexOf('time');
  const times = records.map((record) => record[column]);
  return orderViolation(exchange, times, {
    partAt: (index) => `200 body: time of entry ${index + 1}`,
    unrequested: 'audit.export-newest-first',
    asc: 'audit.export-sort-asc',
    desc: 'audit.export-sort-desc',
  });
}

const memberTypes = ['tenant', 'user', 'deployment', 'device'];

function filledOtherMember(exchange: JudgedExchange): Violation | undefined {
  for (const [index, entry] of entriesOf(exchange).entries()) {
    const type = memberAt(entry, ['object', 'type']);
    const filled = memberTypes.filter((each) => memberAt(entry, ['object', each]) !== undefined);
    const otherMember = filled.find((each) => each !== type);
    if (otherMember === undefined) continue;
    const expected = `fill only the member of its type, ${describeValue(type)}`;
    return { part: `200 body: /${index}/object`, expected, actual: describeValue(filled) };
  }
  return undefined;
}

/**
 * Returns true if the request selects entries that do not grow while the server reads them: those
 * of one object, or those before a time in the past.
 */
function isClosed(exchange: JudgedExchange): boolean {
  const serverTime = Date.parse(exchange.response.headers.date ?? '') / MS_PER_SECOND;
  const end = exchange.parameter('created_before') ?? '';
  return (
    exchange.parameter('object_id') !== undefined ||
    (/^\d{1,11}$/.test(end) && Number(end) < serverTime - 1)
  );
}

/** Returns the page if its entries did not grow while it was read; otherwise undefined. */
function closedPageOf(exchange: JudgedExchange) {
  return isClosed(exchange) ? pageOf(exchange) : undefined;
}

/**
 * Returns the requested page number and size, and the answered length and total. Returns undefined
 * if the server chose the size of a page other than the first, or the size is not an ordinary one.
 */
function pageOf(exchange: JudgedExchange) {
  const [page = '1', size] = [exchange.parameter('page'), exchange.parameter('per_page')];
  const isPlain = /^[1-9]\d{0,6}$/.test(page) && (size === undefined || /^[1-9]\d?$/.test(size));
  const total = exchange.response.headers['x-total-count'] ?? '';
  if (!isPlain || !/^\d+$/.test(total) || !Array.isArray(exchange.responseJson)) return undefined;
  if (size === undefined ? page !== '1' : Number(size) > ORDINARY_PAGE_MAX) return undefined;
  const { length } = exchange.responseJson;
  const precedingCount = (Number(page) - 1) * Number(size ?? 0);
  return {
    page: Number(page),
    size: size && Number(size),
    length,
    precedingCount,
    total: Number(total),
  };
}

function wrongTotal(exchange: JudgedExchange): Violation | undefined {
  const page = closedPageOf(exchange);
  if (page === undefined) return undefined;
  const { length, precedingCount, size, total } = page;
  if (typeof size === 'number' && length > size) {
    const expected = `hold at most ${size} entries`;
    return { part: '200 body', expected, actual: String(length), requirement: 'audit.per-page' };
  }
  // The contract does not define the content of a page past the end.
  const min = precedingCount + length;
  const isEnd = typeof size === 'number' && length < size && total >= precedingCount;
  const isRight = isEnd ? total === min : length === 0 ? total <= min : total >= min;
  if (isRight) return undefined;
  const expected = `be ${isEnd ? '' : 'at least '}${min}, by the entries of the page`;
  return { part: '200 X-Total-Count', expected, actual: String(total) };
}

/** Tolerance for entries that other users add while the server counts and lists entries. */
const ADDED_MEANWHILE_MAX = 30;

function wrongLinks(exchange: JudgedExchange): Violation | undefined {
  const pageFields = pageOf(exchange);
  if (pageFields === undefined || pageFields.length === 0) return undefined;
  const { page, length, precedingCount, total } = pageFields;
  const relations = Object.keys(relationsOf(exchange.response.headers.link));
  const part = '200 Link';
  const actual = describeValue(relations);
  const follow = total - precedingCount - length;
  const isSettled = isClosed(exchange);
  if (!isSettled && follow <= ADDED_MEANWHILE_MAX) return undefined;
  if (relations.includes('next') !== follow > 0) {
    const expected = `have next only if a page follows, ${precedingCount + length} of ${total} entries in`;
    return { part, expected, actual, requirement: 'audit.link-next' };
  }
  if (relations.includes('prev') === page > 1) return undefined;
  const expected = `have prev only if there is a previous page, at page ${page}`;
  return { part, expected, actual, requirement: 'audit.link-prev' };
}

/** Returns true for a response with entries to a request whose parameters each have one value. */
function isListing({ status, isOrdinary, hasBody, repeatsParameter }: JudgedExchange): boolean {
  return status === 200 && hasBody && isOrdinary && !repeatsParameter;
}

function ofLog(
  id: string,
  violation: PassiveCheck['violation'],
  requirement?: RequirementId,
): PassiveCheck {
  return {
    id,
    ...(requirement && { requirement }),
    operations: ['list-audit-logs'],
    applies: isListing,
    violation,
  };
}

/** Spec: AuditLog entry; Audit logs */
export const auditChecks: readonly PassiveCheck[] = [
  ofLog('entries-are-filtered', filterViolation),
  ofLog('entries-are-sorted', unsortedPage),
  ofLog('entries-fill-by-type', filledOtherMember, 'audit.object-fields-by-type'),
  ofLog('total-fits-the-page', wrongTotal, 'audit.total'),
  ofLog('links-fit-the-page', wrongLinks),
  {
    id: 'exported-entries-are-sorted',
    operations: ['export-audit-logs'],
    applies: isListing,
    violation: unsortedExport,
  },
  {
    id: 'exports-are-streamed',
    requirement: 'audit.export-is-streamed',
    operations: ['export-audit-logs'],
    applies: isListing,
    violation: ({ response: { headers } }) => {
      const length = headers['content-length'];
      if (length === undefined) return undefined;
      return { part: '200 Content-Length', expected: 'be absent from a stream', actual: length };
    },
  },
];
