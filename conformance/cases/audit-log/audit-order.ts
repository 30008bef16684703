/** Cases: the order of the whole audit log, without filters. Spec: Audit logs */
import { isTimestamp, timestampMs } from '../../../fixtures/contract/text.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import { describeValue, ExpectationFailure, NotObservable } from '../../target/expectations.ts';
import { arrangeTwoEntries, type DeploymentWithEntries } from './audit-combinations.ts';
import { exportedTable } from './audit-export-table.ts';
import { type AuditQuery, entries, textAt } from './audit-reading.ts';

/** Returns the times of the entries that a query finds, in order, as the list or export has them. */
type ReadTimes = (context: TestContext, query: AuditQuery) => Promise<readonly string[]>;

/** Returns the time of the first entry. Other cases check that there are entries with times. */
async function firstTime(
  read: ReadTimes,
  context: TestContext,
  query: AuditQuery,
): Promise<string> {
  const [time = ''] = await read(context, query);
  if (!isTimestamp(time)) throw new NotObservable('the target shows no entry with a time');
  return time;
}

/**
 * A case: sorted by `asc` the whole log begins with an entry no later than the older one of the
 * deployment, sorted by `desc` with one no earlier than the newer one.
 */
function beginningCase(
  id: string,
  title: string,
  [asc, desc]:
    | readonly ['audit.sort-asc', 'audit.sort-desc']
    | readonly ['audit.export-sort-asc', 'audit.export-sort-desc'],
  read: ReadTimes,
): JudgingCase<DeploymentWithEntries> {
  return {
    id,
    title,
    requirements: [asc, desc],
    run: async ({ deploymentId }, context) => {
      for (const [sort, requirement] of [
        ['asc', asc],
        ['desc', desc],
      ] as const) {
        const ownTime = await firstTime(read, context, { sort, object_id: deploymentId });
        const time = await firstTime(read, context, { sort });
        const laterMs = timestampMs(time) - timestampMs(ownTime);
        if (sort === 'asc' ? laterMs <= 0 : laterMs >= 0) continue;
        const expected = `with sort=${sort} first an entry of ${ownTime} or ${sort === 'asc' ? 'before' : 'after'}`;
        throw new ExpectationFailure(expected, describeValue(time), [requirement]);
      }
    },
  };
}

export const auditOrderCases = defineScenario({
  area: 'audit-log',
  name: 'Order without filters',
  start: 'a user who has created a deployment and aborted it, in a log with other entries',
  effect: 'write',
  needs: ['user'],
  arrange: arrangeTwoEntries,
  cases: [
    beginningCase(
      'unfiltered-list-begins-at-its-end',
      'Without a filter, the first page begins with the oldest or newest entry of the log.',
      ['audit.sort-asc', 'audit.sort-desc'],
      async (context, query) =>
        (await entries(context, { ...query, per_page: 1 })).map(
          (entry) => textAt(entry, 'time') ?? '',
        ),
    ),
    beginningCase(
      'unfiltered-export-begins-at-its-end',
      'Without a filter, an export with a limit begins with the oldest or newest entry.',
      ['audit.export-sort-asc', 'audit.export-sort-desc'],
      async (context, query) => {
        const { names, records } = await exportedTable(context, { ...query, limit: 1 });
        return records.map((record) => record[names.indexOf('time')] ?? '');
      },
    ),
  ],
});
