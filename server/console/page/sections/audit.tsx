/** Shows the audit log with filters, page by page, and exports it as CSV. */
import { useState } from 'preact/hooks';
import type { AuditLog } from '../../../../fixtures/contract/resources.ts';
import { actorTypes, auditObjectTypes } from '../../../../fixtures/contract/vocabulary.ts';
import { Choice, FilterField } from '../../../../fixtures/page/field.tsx';
import { Pager } from '../../../../fixtures/page/pager.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { Table } from '../../../../fixtures/page/table.tsx';
import { useQuery } from '../address.ts';
import { jsonOf, type QueryParameters } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import { callManagement } from '../api/management.ts';
import { ActionButton } from '../parts/action.tsx';
import { saveFile } from '../parts/save-file.ts';
import { dayAndTime, deviceName } from '../parts/texts.ts';
import { useDebounced } from '../parts/use-debounced.ts';
import { View } from '../parts/view.tsx';

const PAGE_ENTRIES = 100;
const orders = [
  ['desc', 'newest first'],
  ['asc', 'oldest first'],
] as const;

/** A page of the log, and the number of entries on all pages. */
interface LogPage {
  readonly entries: readonly AuditLog[];
  readonly total: number;
}

async function loadPage(query: QueryParameters, page: number): Promise<LogPage> {
  const paging = { page: page + 1, per_page: PAGE_ENTRIES };
  const response = await callManagement('list-audit-logs', { query: { ...query, ...paging } });
  const entries = await jsonOf<readonly AuditLog[]>(response);
  return { entries, total: Number(response.headers.get('X-Total-Count')) };
}

export default function AuditSection() {
  const [object, setObject] = useQuery('object_type');
  const [actor, setActor] = useQuery('actor_type');
  const [email, setEmail] = useQuery('actor_email');
  const [id, setId] = useQuery('object_id');
  const [sort, setSort] = useQuery('sort');
  const query = {
    object_type: object,
    actor_type: actor,
    actor_email: useDebounced(email),
    object_id: useDebounced(id),
    sort: sort || 'desc',
  };
  const save = async (): Promise<void> => {
    const response = await callManagement('export-audit-logs', { query });
    saveFile(await response.blob(), 'audit-log.csv');
  };
  return (
    <>
      <h1>Audit log</h1>
      <search class="filters">
        <Choice
          label="Object"
          value={object}
          choices={[['', 'all objects'], ...auditObjectTypes]}
          onChoose={setObject}
        />
        <Choice
          label="Actor"
          value={actor}
          choices={[['', 'all actors'], ...actorTypes]}
          onChoose={setActor}
        />
        <FilterField label="Email of the actor" value={email} onInput={setEmail} />
        <FilterField label="ID of the object" value={id} onInput={setId} />
        <Choice label="Order" value={sort || 'desc'} choices={orders} onChoose={setSort} />
        <ActionButton work={save} done="The log was saved.">
          Save as CSV
        </ActionButton>
      </search>
      {/* The key makes a change of the filters lead back to the first page. */}
      <Pages key={JSON.stringify(query)} query={query} />
    </>
  );
}

function Pages({ query }: { query: QueryParameters }) {
  const [page, setPage] = useState(0);
  const key = `audit ${JSON.stringify(query)} ${page}`;
  const loaded = useLoaded(() => loadPage(query, page), key, { isLive: true });
  return (
    <View subject="the audit log" loaded={loaded}>
      {({ entries, total }) => (
        <>
          <List entries={entries} total={total} />
          {total > PAGE_ENTRIES && (
            <Pager
              subject="entries"
              page={page}
              pageSize={PAGE_ENTRIES}
              rows={total}
              onChoose={setPage}
            />
          )}
        </>
      )}
    </View>
  );
}

function List({ entries, total }: LogPage) {
  if (entries.length === 0) return <Empty title="No matching entries" />;
  return (
    <Table
      caption={`${total} entries`}
      rows={entries}
      keyOf={({ time, object }, index) => `${time} ${object.id} ${index}`}
      columns={[
        { title: 'At', cell: ({ time }) => dayAndTime(time) },
        {
          title: 'Actor',
          cell: ({ actor }) => actor.email ?? (deviceName(actor.identity_data) || actor.id),
        },
        { title: 'Action', cell: ({ action }) => action },
        { title: 'Object', cell: ({ object }) => `${object.type} ${nameOf(object)}` },
        { title: 'Change', cell: ({ change = '' }) => change },
      ]}
    />
  );
}

function nameOf(object: AuditLog['object']): string {
  const { deployment, device, user, tenant, id } = object;
  return (
    deployment?.name ?? (deviceName(device?.identity_data) || user?.email || tenant?.name || id)
  );
}
