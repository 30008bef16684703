/** Lists all devices of the tenant. Users can search, sort, and accept several devices together. */
import { useMemo, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { deviceStatuses } from '../../../../fixtures/contract/vocabulary.ts';
import { Choice, FilterField } from '../../../../fixtures/page/field.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { useQuery } from '../address.ts';
import { requestJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import type { DeviceView } from '../api/types.ts';
import { type LongColumn, LongTable } from '../parts/long-table.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { dayAndTime, deviceName } from '../parts/texts.ts';
import { statusChoices } from '../parts/tones.ts';
import { View } from '../parts/view.tsx';
import { BulkActions } from './bulk-actions.tsx';

/** A device in the list, with its display name and the lower-case text that the search examines. */
interface SearchableDevice extends DeviceView {
  readonly name: string;
  readonly searched: string;
}

/** The list is reloaded only every third tick, because it may be long. */
const PAUSE_TICKS = 3;

async function loadRows(): Promise<readonly SearchableDevice[]> {
  const { devices } = await requestJson('GET /devices');
  return devices.map((device) => {
    const { id, identity, deviceType = '', artifactName = '' } = device;
    const searched = `${id} ${identity} ${deviceType} ${artifactName}`.toLowerCase();
    return { ...device, name: deviceName(identity), searched };
  });
}

export function DevicesSection() {
  const loaded = useLoaded(loadRows, 'devices', { isLive: true, pauseTicks: PAUSE_TICKS });
  return (
    <>
      <h1>Devices</h1>
      <View subject="the devices" loaded={loaded}>
        {(rows) => <Devices rows={rows} reload={loaded.reload} />}
      </View>
    </>
  );
}

function Devices({ rows, reload }: { rows: readonly SearchableDevice[]; reload: () => void }) {
  const [text, setText] = useQuery('text');
  const [status, setStatus] = useQuery('status');
  const [order, setOrder] = useQuery('sort');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const filteredRows = useMemo(
    () => sortRows(filterRows(rows, text, status), order),
    [rows, text, status, order],
  );
  if (rows.length === 0) {
    return (
      <Empty title="No devices yet">
        <p>A device appears here with its first authentication request, as pending.</p>
      </Empty>
    );
  }
  const choose = (id: string, isChosen: boolean): void => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  const pending = filteredRows.filter((row) => row.status === 'pending').map(({ id }) => id);
  const selected = filteredRows.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
  const finished = (): void => {
    setChosen(new Set());
    reload();
  };
  return (
    <>
      <search class="filters">
        <FilterField label="Search identity, type, artifact, ID" value={text} onInput={setText} />
        <Choice
          label="Status"
          value={status}
          choices={statusChoices(deviceStatuses)}
          onChoose={setStatus}
        />
      </search>
      <div class="actions">
        <span role="status" class="muted">
          {filteredRows.length === rows.length
            ? `${rows.length} devices`
            : `${filteredRows.length} of ${rows.length} devices`}
        </span>
        <BulkActions pending={pending} selected={selected} onDone={finished} />
      </div>
      {filteredRows.length === 0 ? (
        <Empty title="No devices match the filters" />
      ) : (
        <LongTable
          caption="Devices"
          columns={columnsWith(chosen, choose)}
          rows={filteredRows}
          keyOf={({ id }) => id}
          order={order}
          onOrder={setOrder}
        />
      )}
    </>
  );
}

function filterRows(
  rows: readonly SearchableDevice[],
  text: string,
  status: string,
): readonly SearchableDevice[] {
  const searchText = text.toLowerCase().trim();
  return rows.filter(
    (row) => (status === '' || row.status === status) && row.searched.includes(searchText),
  );
}

const sortKeys: Readonly<Record<string, (row: SearchableDevice) => string>> = {
  name: ({ name }) => name,
  status: ({ status }) => status,
  type: ({ deviceType = '' }) => deviceType,
  artifact: ({ artifactName = '' }) => artifactName,
  seen: ({ checkedInAt = '' }) => checkedInAt,
};

/** Sorts by plain comparison, because a collator takes seconds for 10,000 names. */
function sortRows(rows: readonly SearchableDevice[], order: string): readonly SearchableDevice[] {
  const key = sortKeys[order.replace(/^-/, '')];
  if (!key) return rows;
  const sign = order.startsWith('-') ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [key(one), key(other)];
    return a === b ? 0 : a < b ? -sign : sign;
  });
}

function columnsWith(
  chosen: ReadonlySet<string>,
  choose: (id: string, isChosen: boolean) => void,
): readonly LongColumn<SearchableDevice>[] {
  return [
    {
      title: 'Select',
      width: '3.8rem',
      cell: ({ id, name }) => (
        <input
          type="checkbox"
          aria-label={`Select ${name}`}
          checked={chosen.has(id)}
          onChange={(event) => choose(id, event.currentTarget.checked)}
        />
      ),
    },
    {
      title: 'Identity',
      width: '25%',
      sorts: { id: 'name' },
      cell: ({ id, name }) => <Link href={`/devices/${id}`}>{name}</Link>,
    },
    {
      title: 'Status',
      width: '8rem',
      sorts: { id: 'status' },
      cell: ({ status }) => <StatusBadge status={status} />,
    },
    {
      title: 'Type',
      sorts: { id: 'type' },
      isMinor: true,
      cell: ({ deviceType = '–' }) => deviceType,
    },
    {
      title: 'Artifact',
      sorts: { id: 'artifact' },
      isMinor: true,
      cell: ({ artifactName = '–' }) => artifactName,
    },
    {
      title: 'Socket',
      width: '6.5rem',
      isMinor: true,
      cell: ({ connected }) => (connected ? 'connected' : '–'),
    },
    {
      title: 'Last seen',
      width: '8.5rem',
      sorts: { id: 'seen' },
      isMinor: true,
      cell: ({ checkedInAt }) => dayAndTime(checkedInAt),
    },
  ];
}
