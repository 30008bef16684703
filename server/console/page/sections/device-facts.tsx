/** Shows what the device reports about itself: inventory and alerts. */
import type { InventoryDevice } from '../../../../fixtures/contract/management/inventory.ts';
import type { StoredAlert } from '../../../../fixtures/contract/management/monitor.ts';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { Table } from '../../../../fixtures/page/table.tsx';
import { ApiError } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import { manageJson } from '../api/management.ts';
import { StatusBadge } from '../parts/status-badge.tsx';
import { dayAndTime, valueText } from '../parts/texts.ts';
import { View } from '../parts/view.tsx';

/** Returns `nothing` for a 404, which means that the device has no such data. */
async function orNothing<Data>(response: Promise<Data>, nothing: Data): Promise<Data> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return nothing;
    throw error;
  }
}

/** The tab with the attributes in all scopes. */
export function DeviceInventory({ deviceId }: { deviceId: string }) {
  const loaded = useLoaded(
    () =>
      orNothing(manageJson<InventoryDevice>('get-inventory', { parameters: { id: deviceId } }), {
        id: deviceId,
        updated_ts: '',
        attributes: [],
      }),
    `inventory ${deviceId}`,
    { isLive: true },
  );
  return (
    <View subject="the inventory" loaded={loaded}>
      {({ attributes }) =>
        attributes.length === 0 ? (
          <Empty title="The device has not reported inventory yet" />
        ) : (
          <Table
            caption={`${attributes.length} attributes`}
            rows={attributes}
            keyOf={({ scope, name }) => `${scope} ${name}`}
            columns={[
              { title: 'Scope', cell: ({ scope }) => scope },
              { title: 'Name', cell: ({ name }) => name },
              { title: 'Value', cell: ({ value }) => valueText(value) },
              { title: 'Description', cell: ({ description = '' }) => description },
            ]}
          />
        )
      }
    </View>
  );
}

/** The tab with the alerts, newest first. */
export function DeviceAlerts({ deviceId }: { deviceId: string }) {
  const loaded = useLoaded(
    () =>
      orNothing(
        manageJson<readonly StoredAlert[]>('list-alerts', {
          parameters: { id: deviceId },
          query: { sort: 'desc', per_page: 100 },
        }),
        [],
      ),
    `alerts ${deviceId}`,
    { isLive: true },
  );
  return (
    <View subject="the alerts" loaded={loaded}>
      {(alerts) =>
        alerts.length === 0 ? (
          <Empty title="The device has not sent alerts" />
        ) : (
          <Table
            caption={`The newest ${alerts.length} alerts`}
            rows={alerts}
            keyOf={({ id }) => id}
            columns={[
              { title: 'At', cell: ({ timestamp }) => dayAndTime(timestamp) },
              {
                title: 'Level',
                cell: ({ level }) => <StatusBadge status={level} />,
              },
              { title: 'Name', cell: ({ name }) => name },
              {
                title: 'Subject',
                cell: ({ subject }) => `${subject.type} ${subject.name}: ${subject.status}`,
              },
              { title: 'Details', cell: ({ subject }) => detailsOf(subject.details) },
            ]}
          />
        )
      }
    </View>
  );
}

function detailsOf(details: StoredAlert['subject']['details']): string {
  const { description = '', line_matching: line } = details ?? {};
  return [description, line && `line ${line.line_number}: ${line.data}`]
    .filter(Boolean)
    .join(' · ');
}
