/** Cases: the audit log followed page by page by its own links. Spec: Audit logs, "GET /logs" */
import { operations } from '../../../fixtures/contract/operations.ts';
import {
  acceptedDevice,
  type DeviceInDeployment,
  StartStateNotReached,
  withdrawnDeployment,
} from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEqual,
  expectStatus,
  expectThat,
} from '../../target/expectations.ts';
import { relationsOf } from '../../target/link-header.ts';
import type { HttpResponse } from '../../target/response.ts';
import { auditFilters } from './audit-filters.ts';
import {
  type AuditQuery,
  ENTRY_WAIT_MAX_MS,
  entries,
  entriesIn,
  entriesOn,
  list,
  type ReceivedEntry,
  textAt,
} from './audit-reading.ts';

/** Maximum number of pages to follow, so that a walk ends even if links form a circle. */
const PAGES_MAX = 20;
const REJECTIONS = 4;

type LinkRelation = 'first' | 'next' | 'prev';

/** Returns the target of a link of a page; undefined if the page has no such link. */
export function linkOf(
  context: TestContext,
  page: HttpResponse,
  relation: LinkRelation,
): URL | undefined {
  const link = relationsOf(page.headers.link)[relation];
  const listUrl = context.client.urlOf(operations['list-audit-logs'].path);
  if (link === undefined || !URL.canParse(link, listUrl)) return undefined;
  return new URL(link, listUrl);
}

/** Follows a link by its query only, since proxies in front of the target may change the host. */
export function follow(context: TestContext, { searchParams }: URL): Promise<HttpResponse> {
  const names = [...new Set(searchParams.keys())];
  return list(context, Object.fromEntries(names.map((name) => [name, searchParams.getAll(name)])));
}

/** Returns a page and all pages after it, each reached by the link of the previous one. */
async function pagesFrom(
  context: TestContext,
  page: HttpResponse,
  relation: 'next' | 'prev',
): Promise<readonly HttpResponse[]> {
  const pages = [page];
  for (let lastPage = page; pages.length <= PAGES_MAX; ) {
    const link = linkOf(context, lastPage, relation);
    if (link === undefined) return pages;
    lastPage = await follow(context, link);
    expectStatus(lastPage, 200);
    pages.push(lastPage);
  }
  const actual = `${pages.length} pages or more`;
  throw new ExpectationFailure(`an end of the links \`${relation}\``, actual);
}

/** Returns a text for each entry that identifies it, in the order of the entries. */
export function entryKeys(listedEntries: readonly ReceivedEntry[]): readonly string[] {
  return listedEntries.map((entry) => `${timeAt(entry)} ${textAt(entry, 'action')}`);
}

/** Returns the time of an entry in UTC, since a server may use several time zones. */
function timeAt(entry: ReceivedEntry): string {
  const time = String(textAt(entry, 'time'));
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? time : new Date(ms).toISOString();
}

function marksOf(pages: readonly HttpResponse[]): readonly string[] {
  return pages.flatMap((page) => entryKeys(entriesIn(page)));
}

/** Returns a query with every parameter of the list that matches the deployment's entries. */
async function everyFilter(
  context: TestContext,
  arranged: DeviceInDeployment,
): Promise<AuditQuery> {
  const createAndAbortEntries = await entriesOn(context, arranged.deploymentId, 2);
  const matchingQueries = Object.values(auditFilters).map((filter) =>
    filter.matchingQuery(arranged, createAndAbortEntries),
  );
  const baseQuery = { object_id: arranged.deploymentId, sort: 'asc', per_page: 1 };
  return Object.assign({}, ...matchingQueries, baseQuery);
}

/** Asserts that a link contains each parameter of the query with its value. */
function expectKept(relation: LinkRelation, { searchParams }: URL, query: AuditQuery): void {
  for (const [name, value] of Object.entries(query)) {
    const linkValues = searchParams.getAll(name);
    expectThat(
      linkValues.length === 1 && linkValues[0] === String(value),
      `${name}=${value} in the link \`${relation}\``,
      describeValue(linkValues),
    );
  }
}

const filteredListCases = defineScenario<DeviceInDeployment>({
  area: 'audit-log',
  name: 'Links of a filtered list',
  start: 'a user who has created a deployment and aborted it',
  effect: 'write',
  needs: ['user'],
  arrange: withdrawnDeployment,
  cases: [
    {
      id: 'links-keep-every-parameter',
      title: 'Each link of each page keeps every parameter that the first request had.',
      requirements: ['audit.links-work'],
      run: async (arranged, context) => {
        const query = await everyFilter(context, arranged);
        const pages = await pagesFrom(context, await list(context, query), 'next');
        for (const page of pages) {
          for (const relation of ['first', 'next', 'prev'] as const) {
            const link = linkOf(context, page, relation);
            // A link without any of the parameters encodes them in a form of its own.
            const isPlain = Object.keys(query).some((name) => link?.searchParams.has(name));
            if (link && isPlain) expectKept(relation, link, query);
          }
        }
      },
    },
  ],
});

/** Arranges a device with some audit entries, whose number no longer grows; returns its ID. */
export async function deviceWithManyEntries(context: TestContext): Promise<string> {
  const { id, key } = await acceptedDevice(context);
  for (let rejections = 1; ; rejections += 1) {
    await context.admin.decide(id, key, 'rejected');
    if (rejections === REJECTIONS) break;
    await context.admin.decide(id, key, 'accepted');
  }
  const listedEntries = await context.eventually(
    () => entries(context, { object_id: id, per_page: 100 }),
    (read) => rejectionsIn(read) >= REJECTIONS,
    ENTRY_WAIT_MAX_MS,
  );
  if (rejectionsIn(listedEntries) === REJECTIONS) return id;
  throw new StartStateNotReached(
    `${REJECTIONS} entries \`reject\``,
    describeValue(entryKeys(listedEntries)),
  );
}

function rejectionsIn(listedEntries: readonly ReceivedEntry[]): number {
  return listedEntries.filter((entry) => textAt(entry, 'action') === 'reject').length;
}

/** Returns a case that passes the list, and the walk through its pages of two, to `judge`. */
function walkCase(
  facts: Pick<JudgingCase<string>, 'id' | 'title' | 'requirements'>,
  judge: (walk: PageWalk, context: TestContext) => Promise<void>,
): JudgingCase<string> {
  return {
    ...facts,
    run: async (objectId, context) => {
      for (const sort of ['asc', 'desc']) {
        const query = { object_id: objectId, sort };
        const fullList = marksOf([await list(context, { ...query, per_page: 100 })]);
        const firstPage = await list(context, { ...query, per_page: 2 });
        const forwardPages = await pagesFrom(context, firstPage, 'next');
        const repeatedList = marksOf([await list(context, { ...query, per_page: 100 })]);
        // A late entry shifts the pages, which is not a mistake of the links.
        if (fullList.join() !== repeatedList.join())
          throw new StartStateNotReached('a list that does not grow', 'it grew');
        await judge({ whole: fullList, there: forwardPages }, context);
      }
    },
  };
}

interface PageWalk {
  /** The identifying texts of all entries, read in one request. */
  readonly whole: readonly string[];
  /** The pages from the first to the last. */
  readonly there: readonly HttpResponse[];
}

const walks = defineScenario<string>({
  area: 'audit-log',
  name: 'A list of several pages',
  start: `a device that a user has rejected ${REJECTIONS} times`,
  effect: 'write',
  needs: ['user'],
  arrange: deviceWithManyEntries,
  cases: [
    walkCase(
      {
        id: 'links-lead-to-the-end',
        title: 'The links `next` lead through the whole list, each entry once and in order.',
        requirements: ['audit.links-work', 'audit.link-next', 'audit.pages', 'audit.per-page'],
      },
      async ({ whole, there }) => expectEqual('entries', marksOf(there), whole),
    ),
    walkCase(
      {
        id: 'links-lead-back',
        title: 'From the last page the links `prev` lead back through the same pages.',
        requirements: ['audit.links-work', 'audit.link-prev', 'audit.pages', 'audit.per-page'],
      },
      async ({ there }, context) => {
        const lastPage = there.at(-1);
        const back = lastPage ? await pagesFrom(context, lastPage, 'prev') : [];
        expectEqual('entries', marksOf(back.toReversed()), marksOf(there));
      },
    ),
    walkCase(
      {
        id: 'first-leads-to-the-first-page',
        title: 'On every page, the link `first` leads to the first page of the list.',
        requirements: ['audit.links-work', 'audit.links', 'audit.pages', 'audit.per-page'],
      },
      async ({ there }, context) => {
        for (const page of there) {
          const link = linkOf(context, page, 'first');
          if (link === undefined) continue;
          expectEqual(
            'entries',
            marksOf([await follow(context, link)]),
            marksOf(there.slice(0, 1)),
          );
        }
      },
    ),
    {
      id: 'every-page-tells-the-total',
      title:
        'X-Total-Count gives the number of entries in the whole list on every page, and past the last.',
      requirements: ['audit.total'],
      run: async (objectId, context) => {
        const fullList = await entries(context, { object_id: objectId, per_page: 100 });
        for (let page = 1; page <= Math.ceil(fullList.length / 2) + 1; page += 1) {
          const { headers } = await list(context, { object_id: objectId, per_page: 2, page });
          const total = headers['x-total-count'];
          expectEqual(`X-Total-Count on page ${page}`, total, String(fullList.length));
        }
      },
    },
  ],
});

/** Spec: Audit logs, "GET /logs" */
export const auditPagingCases = [...filteredListCases, ...walks];
