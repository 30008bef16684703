/** Cases: the audit log as CSV. Spec: Audit logs, "GET /logs/export" */

import { defineScenario } from '../case.ts';
import { expectEqual, expectStatus, expectThat, shown } from '../expectations.ts';
import type { Stage } from '../stage/stage.ts';
import { abortedDeployment } from '../stage/start-states.ts';
import type { CallOptions } from '../target/call.ts';
import { readCsv } from '../target/csv.ts';
import type { Answer } from '../target/target.ts';

type Query = NonNullable<CallOptions['query']>;

function exported(stage: Stage, query: Query): Promise<Answer> {
  const headers = { accept: 'text/csv' };
  return stage.operator.caller.call('export-audit-logs', { query, headers });
}

/** The field names, and the records below them once there are so many. */
async function table(
  stage: Stage,
  query: Query,
  atLeast: number,
): Promise<{ names: readonly string[]; records: readonly (readonly string[])[] }> {
  const answer = await stage.settled(
    () => exported(stage, query),
    ({ status, text }) => status !== 200 || readCsv(text).length > atLeast,
  );
  expectStatus(answer, 200);
  const [names = [], ...records] = readCsv(answer.text);
  return { names, records };
}

/** What the field `action` holds in each record. */
async function actions(stage: Stage, query: Query, atLeast: number): Promise<readonly string[]> {
  const { names, records } = await table(stage, query, atLeast);
  return records.map((record) => record[names.indexOf('action')] ?? '');
}

const csv = defineScenario({
  area: 'audit-export',
  name: 'The export',
  start: 'a user who has created a deployment and aborted it',
  risk: 'write',
  needs: ['operator'],
  arrange: abortedDeployment,
  cases: [
    {
      id: 'export-is-csv',
      title: 'The export is answered 200 as CSV: field names, then a record for each entry.',
      requirements: ['audit.export-is-csv'],
      covers: ['export-audit-logs 200'],
      run: async ({ deploymentId }, stage) => {
        const query = { object_id: deploymentId };
        expectEqual('actions', await actions(stage, query, 2), ['abort', 'create']);
        const { headers } = await exported(stage, query);
        const mediaType = headers['content-type'] ?? '';
        expectThat(mediaType.toLowerCase().startsWith('text/csv'), 'text/csv', shown(mediaType));
      },
    },
    {
      id: 'export-is-streamed',
      title: 'The export comes in chunks, without a length in advance.',
      requirements: ['audit.export-is-streamed'],
      run: async ({ deploymentId }, stage) => {
        const answer = await exported(stage, { object_id: deploymentId });
        expectStatus(answer, 200);
        const isChunked = answer.headers['transfer-encoding'] === 'chunked';
        expectThat(isChunked, 'Transfer-Encoding: chunked', shown(answer.headers));
      },
    },
    {
      id: 'export-is-sorted',
      title: 'With sort=asc the oldest entry comes first in the export too.',
      requirements: ['audit.newest-first'],
      run: async ({ deploymentId }, stage) => {
        const query = { object_id: deploymentId, sort: 'asc' };
        expectEqual('actions', await actions(stage, query, 2), ['create', 'abort']);
      },
    },
    {
      id: 'export-limit-is-kept',
      title: 'With limit=1 the export holds one entry.',
      requirements: ['audit.export-limit'],
      run: async ({ deploymentId }, stage) => {
        const { records } = await table(stage, { object_id: deploymentId, limit: 1 }, 1);
        expectEqual('records', records.length, 1);
      },
    },
    {
      id: 'export-separator-is-used',
      title: 'With format_separator the names of nested fields are joined by it.',
      requirements: ['audit.export-separator'],
      run: async ({ deploymentId }, stage) => {
        const query = { object_id: deploymentId, format_separator: '/' };
        const { names } = await table(stage, query, 1);
        expectThat(names.includes('actor/id'), 'a field actor/id', shown(names));
      },
    },
    {
      id: 'ignored-field-is-omitted',
      title: 'With ignore=actor.id that field is missing, and the others are there.',
      requirements: ['audit.export-ignore'],
      run: async ({ deploymentId }, stage) => {
        const query = { object_id: deploymentId, format_separator: '.', ignore: 'actor.id' };
        const { names } = await table(stage, query, 1);
        expectThat(!names.includes('actor.id'), 'no field actor.id', shown(names));
        expectThat(names.includes('actor.type'), 'a field actor.type', shown(names));
      },
    },
    {
      id: 'export-is-filtered',
      title: 'The export takes the filters of the list.',
      requirements: ['audit.actor-filters', 'audit.time-bounds', 'audit.object-filters'],
      run: async ({ deploymentId, deploymentName }, stage) => {
        const fits = { object_deployment_name: deploymentName, object_type: 'deployment' };
        expectEqual('records that fit', (await actions(stage, fits, 2)).length, 2);
        const misses = { object_id: deploymentId, actor_type: 'device' };
        expectEqual('records of devices', (await actions(stage, misses, 0)).length, 0);
        const early = { object_id: deploymentId, created_before: 1 };
        expectEqual('records of 1970', (await actions(stage, early, 0)).length, 0);
      },
    },
  ],
});

/** Spec: Audit logs, "GET /logs/export" */
export const auditExportCases = csv;
