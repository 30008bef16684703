/** Cases: the order of the whole audit log, without filters. Spec: Audit logs */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { describeValue, ExpectationFailure, NotObservable } from '../../target/expectations.ts';
import { arrangeTwoEntries, type DeploymentWithEntries } from './audit-combinations.ts';
import { exportedTable } from './audit-export-table.ts';
import { entries, textAt } from './audit-reading.ts';

type Order = 'asc' | 'desc';

/**
 * Asserts that the list or the export begins at its end: sorted by `asc` with an entry no later
 * than the older one of the deployment, sorted by `desc` with one no earlier than the newer one.
 */
function expectBeginning(
  firstTime: string | undefined,
  { createAndAbortEntries }: DeploymentWithEntries,
  sort: Order,
  requirement: RequirementId,
): void {
  const ownEntry = createAndAbortEntries.at(sort === 'asc' ? -1 : 0) ?? {};
  const ownTime = textAt(ownEntry, 'time') ?? '';
  const [firstMs, ownMs] = [Date.parse(firstTime ?? ownTime), Date.parse(ownTime)];
  if (Number.isNaN(firstMs) || Number.isNaN(ownMs)) throw new NotObservable('entries have no time');
  const isFirst = sort === 'asc' ? firstMs <= ownMs : firstMs >= ownMs;
  if (firstTime !== undefined && isFirst) return;
  const expected = `with sort=${sort} an entry of ${ownTime} or ${sort === 'asc' ? 'before' : 'after'}`;
  throw new ExpectationFailure(expected, describeValue(firstTime ?? 'no entry'), [requirement]);
}

async function exportedTime(context: TestContext, sort: Order): Promise<string | undefined> {
  const { names, records } = await exportedTable(context, { sort, limit: 1 });
  return records[0] && (records[0][names.indexOf('time')] ?? '');
}

export const auditOrderCases = defineScenario({
  area: 'audit-log',
  name: 'Order without filters',
  start: 'a user who has created a deployment and aborted it, in a log with other entries',
  effect: 'write',
  needs: ['user'],
  arrange: arrangeTwoEntries,
  cases: [
    {
      id: 'unfiltered-list-begins-at-its-end',
      title: 'Without a filter, the first page begins with the oldest or newest entry of the log.',
      requirements: ['audit.sort-asc', 'audit.sort-desc'],
      run: async (arranged, context) => {
        for (const sort of ['asc', 'desc'] as const) {
          const [first] = await entries(context, { sort, per_page: 1 });
          const firstTime = first && (textAt(first, 'time') ?? '');
          expectBeginning(firstTime, arranged, sort, `audit.sort-${sort}`);
        }
      },
    },
    {
      id: 'unfiltered-export-begins-at-its-end',
      title: 'Without a filter, an export with a limit begins with the oldest or newest entry.',
      requirements: ['audit.export-sort-asc', 'audit.export-sort-desc'],
      run: async (arranged, context) => {
        for (const sort of ['asc', 'desc'] as const)
          expectBeginning(
            await exportedTime(context, sort),
            arranged,
            sort,
            `audit.export-sort-${sort}`,
          );
      },
    },
  ],
});
