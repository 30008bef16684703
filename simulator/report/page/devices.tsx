/** The list of devices, page by page, with filters. */
import { useMemo, useState } from 'preact/hooks';
import { Badge, type Tone } from '../../../fixtures/page/badge.tsx';
import { Card } from '../../../fixtures/page/card.tsx';
import { Choice, FilterField } from '../../../fixtures/page/field.tsx';
import { Pager } from '../../../fixtures/page/pager.tsx';
import { Empty } from '../../../fixtures/page/states.tsx';
import { Table, type TableColumn } from '../../../fixtures/page/table.tsx';
import type { ShownDevices } from '../page-facts.ts';

const PAGE_SIZE = 25;

const tones: Readonly<Record<string, Tone>> = {
  failure: 'negative',
  'no contact': 'negative',
  aborted: 'pending',
  updating: 'pending',
  success: 'positive',
  'already installed': 'positive',
};

/** A device as a row of the list. */
interface DeviceListRow {
  readonly index: number;
  readonly serial: string;
  readonly deviceId: string;
  readonly outcome: string;
  readonly cohort: string;
  readonly behaviour: string;
  readonly keyType: string;
  readonly reported: string;
  readonly artifactName: string;
  readonly seconds: number | null;
  /** Text that the word filter searches, in lower case. */
  readonly searched: string;
}

const columns: readonly TableColumn<DeviceListRow>[] = [
  { title: 'Index', cell: ({ index }) => index },
  { title: 'Serial', cell: ({ serial }) => serial },
  {
    title: 'Outcome',
    cell: ({ outcome }) => <Badge tone={tones[outcome] ?? 'plain'}>{outcome}</Badge>,
  },
  { title: 'Reported', cell: ({ reported }) => reported },
  { title: 'Update duration', cell: ({ seconds }) => (seconds === null ? '' : `${seconds} s`) },
  { title: 'Installed', cell: ({ artifactName }) => artifactName },
  { title: 'Cohort', cell: ({ cohort }) => cohort },
  { title: 'Behaviour', cell: ({ behaviour }) => behaviour },
  { title: 'Key', cell: ({ keyType }) => keyType },
  { title: 'ID', cell: ({ deviceId }) => deviceId || 'unknown' },
];

/** The filters of the list. An empty text matches all devices. */
interface DeviceListFilter {
  readonly search: string;
  readonly outcome: string;
  readonly cohort: string;
  /** Index of the visible page, from 0. */
  readonly page: number;
}

const noFilter: DeviceListFilter = { search: '', outcome: '', cohort: '', page: 0 };

/** Renders the list of devices in pages, filtered by words, outcome and cohort. */
export function Devices({ devices }: { devices: ShownDevices }) {
  const all = useMemo(() => devicesOf(devices), [devices]);
  const [filter, setFilter] = useState(noFilter);
  const filteredDevices = useMemo(() => filterDevices(all, filter), [all, filter]);
  const first = filter.page * PAGE_SIZE;
  return (
    <div id="devices">
      <Card title="Devices">
        <div class="report-stack">
          {devices.missing > 0 && (
            <p class="report-hint">{devices.missing} more devices are in the JSON report.</p>
          )}
          <Filters devices={all} filter={filter} onFilter={setFilter} />
          {filteredDevices.length === 0 ? (
            <Empty title="No device matches these filters." />
          ) : (
            <Table
              caption="Devices of this page"
              isCaptionHidden
              rows={filteredDevices.slice(first, first + PAGE_SIZE)}
              keyOf={({ index }) => index}
              columns={columns}
            />
          )}
          <Pager
            subject="devices"
            page={filter.page}
            pageSize={PAGE_SIZE}
            rows={filteredDevices.length}
            onChoose={(page) => setFilter({ ...filter, page })}
          />
        </div>
      </Card>
    </div>
  );
}

function Filters({
  devices,
  filter,
  onFilter,
}: {
  devices: readonly DeviceListRow[];
  filter: DeviceListFilter;
  onFilter: (filter: DeviceListFilter) => void;
}) {
  const change = (part: Partial<DeviceListFilter>): void =>
    onFilter({ ...filter, page: 0, ...part });
  const outcomes = useMemo(() => [...new Set(devices.map(({ outcome }) => outcome))], [devices]);
  const cohorts = useMemo(() => [...new Set(devices.map(({ cohort }) => cohort))], [devices]);
  return (
    <form aria-label="Filters" class="report-row" onSubmit={(event) => event.preventDefault()}>
      <FilterField
        label="Words"
        value={filter.search}
        placeholder="serial, ID, behaviour"
        onInput={(search) => change({ search })}
      />
      <Choice
        label="Outcome"
        value={filter.outcome}
        choices={[['', 'all'], ...outcomes]}
        onChoose={(outcome) => change({ outcome })}
      />
      <Choice
        label="Cohort"
        value={filter.cohort}
        choices={[['', 'all'], ...cohorts]}
        onChoose={(cohort) => change({ cohort })}
      />
      <button type="button" class="kit-button" onClick={() => onFilter(noFilter)}>
        Show all
      </button>
    </form>
  );
}

function devicesOf({ texts, rows }: ShownDevices): readonly DeviceListRow[] {
  const word = (number: number): string => texts[number] ?? '';
  return rows.map(([index, serial, deviceId, ...rest]) => {
    const [outcome, cohort, behaviour, keyType, reported, artifactName, seconds] = rest;
    const device = {
      index,
      serial,
      deviceId,
      seconds,
      outcome: word(outcome),
      cohort: word(cohort),
      behaviour: word(behaviour),
      keyType: word(keyType),
      reported: word(reported),
      artifactName: word(artifactName),
    };
    return { ...device, searched: Object.values(device).join('\n').toLowerCase() };
  });
}

function filterDevices(
  devices: readonly DeviceListRow[],
  { search, outcome, cohort }: DeviceListFilter,
): readonly DeviceListRow[] {
  const sought = search.toLowerCase().split(/\s+/).filter(Boolean);
  return devices.filter(
    (device) =>
      (outcome === '' || device.outcome === outcome) &&
      (cohort === '' || device.cohort === cohort) &&
      sought.every((word) => device.searched.includes(word)),
  );
}
