/**
 * Cases: filters of the audit log beside one another and with values of every form, and page links
 * that agree with the size of the page. Spec: Audit logs, "GET /logs"
 */
import { StartStateNotReached, withdrawnDeployment } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEqual,
  expectPresent,
  expectThat,
  NotObservable,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';
import {
  arrangeTwoEntries,
  type DeploymentWithEntries,
  deploymentWithEntries,
} from './audit-combinations.ts';
import { requestExport } from './audit-export-table.ts';
import { auditFilters, type FilterParameter } from './audit-filters.ts';
import { deviceWithManyEntries, entryKeys, follow, linkOf } from './audit-paging.ts';
import {
  type AuditQuery,
  ENTRY_WAIT_MAX_MS,
  entries,
  entriesIn,
  entriesOn,
  list,
  textAt,
} from './audit-reading.ts';

/** Returns a query with all filters that match the deployment's entries, except the named one. */
function allBut(name: string, arranged: DeploymentWithEntries): AuditQuery {
  const otherAuditFilters = Object.entries(auditFilters).filter(([each]) => each !== name);
  const matchingQueries = otherAuditFilters.map(([, filter]) =>
    filter.matchingQuery(arranged, arranged.createAndAbortEntries),
  );
  return Object.assign({ object_id: arranged.deploymentId, sort: 'asc' }, ...matchingQueries);
}

/** Returns a case in which one filter misses while all others match. */
function besideCase([name, filter]: [string, FilterParameter]): JudgingCase<DeploymentWithEntries> {
  return {
    id: `${name}-filters-beside-others`,
    title: `${filter.title} are listed, also beside all other filters.`,
    requirements: [filter.ofList, 'audit.filters-combine'],
    run: async (arranged, context) => {
      const otherFilters = allBut(name, arranged);
      const fullQuery = {
        ...otherFilters,
        ...filter.matchingQuery(arranged, arranged.createAndAbortEntries),
      };
      expectEqual('entries that match', (await entries(context, fullQuery)).length, 2);
      for (const nonMatchingQuery of filter
        .nonMatchingQueries(arranged.createAndAbortEntries, arranged)
        .slice(0, 2)) {
        const response = await list(context, { ...otherFilters, ...nonMatchingQuery });
        expectEqual(
          `entries with ${describeValue(nonMatchingQuery)}`,
          entriesIn(response).length,
          0,
        );
        expectEqual('X-Total-Count', response.headers['x-total-count'], '0');
      }
    },
  };
}

const beside = defineScenario<DeploymentWithEntries>({
  area: 'audit-log',
  name: 'Filters beside one another',
  start: 'a user who has created a deployment and aborted it',
  effect: 'write',
  needs: ['user'],
  arrange: arrangeTwoEntries,
  cases: Object.entries(auditFilters).map(besideCase),
});

/** Ends of names that a careless filter confuses, or does not find. */
const nameEnds = ['', '0', ' größer ☃', ' GRÖSSER ☃', ' 100%_*', ', also', ` a+b&c=d "e" 'f'`];

const nameCases = defineScenario<
  readonly Pick<DeploymentWithEntries, 'deploymentId' | 'deploymentName'>[]
>({
  area: 'audit-log',
  name: 'Names of deployments',
  start: 'deployments whose names begin alike, each created and aborted by a user',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const { device, artifact } = await withdrawnDeployment(context);
    const prefix = context.newName();
    const deployments = [];
    for (const end of nameEnds) {
      const name = `${prefix}${end}`;
      const newDeployment = { name, artifact_name: artifact.name, devices: [device.id] };
      const { id } = await context.deploy(newDeployment);
      await context.admin.abort(id);
      deployments.push({ deploymentId: id, deploymentName: name });
    }
    for (const { deploymentId } of deployments) await entriesOn(context, deploymentId, 2);
    return deployments;
  },
  cases: [
    {
      id: 'names-of-every-form-filter',
      title: 'With object_deployment_name, each of several similar names finds its own entries.',
      requirements: ['audit.object-deployment-name-filter'],
      run: async (deployments, context) => {
        for (const { deploymentId, deploymentName } of deployments) {
          const matchingEntries = await entries(context, {
            object_deployment_name: deploymentName,
          });
          const ids = matchingEntries.map((entry) => textAt(entry, 'object.id'));
          const expectedIds = [deploymentId, deploymentId];
          expectEqual(`objects with the name ${describeValue(deploymentName)}`, ids, expectedIds);
        }
      },
    },
  ],
});

/** Sizes of pages, some larger than what a server may allow. */
const sizes = [1, 3, 20, 100, 500];

/** Returns the number of all matching entries. */
function totalOf({ headers }: HttpResponse): number {
  return Number(headers['x-total-count']);
}

/**
 * Asserts that the link to the next page leads to the entry after the last one of a page, and back
 * to the same page, whatever size the server gave the page.
 */
async function expectSteps(context: TestContext, query: AuditQuery, size: number): Promise<void> {
  const page = await list(context, { ...query, per_page: size });
  const { length } = entriesIn(page);
  if (length === 0 || totalOf(page) <= length) return;
  const subject = `per_page=${size}, a page of ${length}`;
  const nextLink = expectPresent(`${subject}: a link \`next\``, linkOf(context, page, 'next'));
  const nextPage = await follow(context, nextLink);
  const expected = entriesIn(await list(context, { ...query, per_page: 1, page: length + 1 }));
  expectEqual(
    `${subject}: first entry after it`,
    entryKeys(entriesIn(nextPage)).slice(0, 1),
    entryKeys(expected),
  );
  const prev = expectPresent(`${page}: a link \`prev\``, linkOf(context, nextPage, 'prev'));
  expectEqual(
    `${page}: the page before`,
    entryKeys(entriesIn(await follow(context, prev))),
    entryKeys(entriesIn(page)),
  );
}

const pages = defineScenario<string>({
  area: 'audit-log',
  name: 'Pages of every size',
  start: 'a device that a user has rejected several times',
  effect: 'write',
  needs: ['user'],
  arrange: deviceWithManyEntries,
  cases: [
    {
      id: 'next-agrees-with-the-size-of-the-page',
      title: 'The link `next` leads to the next entry for every page size, even one that is cut.',
      requirements: ['audit.links-work', 'audit.link-next', 'audit.link-prev', 'audit.pages'],
      run: async (objectId, context) => {
        const query = { object_id: objectId, sort: 'asc' };
        const firstResponse = await list(context, { ...query, per_page: 1 });
        for (const size of sizes) await expectSteps(context, query, size);
        // Of the whole log, only entries that no later one precedes.
        const until =
          Math.floor(context.serverNowMs(firstResponse) / 1000) - ENTRY_WAIT_MAX_MS / 1000;
        const fullQuery = { sort: 'asc', created_before: until };
        const first = await list(context, { ...fullQuery, per_page: 1 });
        const failure = await failureOf(async () => {
          for (const size of sizes) await expectSteps(context, fullQuery, size);
        });
        if (failure === undefined) return;
        const last = await list(context, { ...fullQuery, per_page: 1 });
        // A late entry shifts the pages, which is not a mistake of the links.
        if (totalOf(first) !== totalOf(last)) {
          throw new StartStateNotReached('a list that does not grow', 'it grew');
        }
        throw failure;
      },
    },
  ],
});

const addresses = defineScenario({
  area: 'audit-log',
  name: 'A user whose email address has a plus',
  start: 'a deployment of a new tenant, which its user has created and aborted',
  effect: 'write',
  needs: ['user', 'tenant-control', 'audit-log'],
  arrange: deploymentWithEntries,
  cases: [
    {
      id: 'actor-email-with-a-plus',
      title: 'An email address with a plus selects the entries of its user, in list and export.',
      requirements: ['audit.actor-email-filter', 'audit.export-actor-email'],
      run: async ({ createAndAbortEntries, deploymentId }, context) => {
        const email = textAt(createAndAbortEntries[0] ?? {}, 'actor.email');
        if (!email?.includes('+')) throw new NotObservable('the entries have no such address');
        const query = { object_id: deploymentId, actor_email: email };
        const listedEntries = await entries(context, query);
        expectEqual('entries of the list', listedEntries.length, createAndAbortEntries.length);
        // Other cases judge the records of an export, and the names above them.
        const lines = (await requestExport(context, query)).text.trim().split('\n');
        const isExported = lines.length >= createAndAbortEntries.length;
        expectThat(
          isExported,
          `an export of ${createAndAbortEntries.length} entries`,
          describeValue(lines),
        );
      },
    },
  ],
});

/** Returns the failure of an expectation; undefined when there is none. */
async function failureOf(check: () => Promise<void>): Promise<ExpectationFailure | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (error instanceof ExpectationFailure) return error;
    throw error;
  }
}

/** Spec: Audit logs, "GET /logs" */
export const auditValueCases = [...beside, ...nameCases, ...pages, ...addresses];
