/** The journal: recorded and new exchanges, filtered by the server. */
import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Badge } from '../../../../fixtures/page/badge.tsx';
import { Choice, FilterField } from '../../../../fixtures/page/field.tsx';
import { Empty, Failed, Loading } from '../../../../fixtures/page/states.tsx';
import { useQuery } from '../address.ts';
import { createBatch } from '../api/batch.ts';
import { reasonOf, request, requestJson, targetOf } from '../api/client.ts';
import { tenant } from '../api/session.ts';
import { followStream } from '../api/stream.ts';
import type { EntryView } from '../api/types.ts';
import { ActionButton } from '../parts/action.tsx';
import { type LongColumn, LongTable } from '../parts/long-table.tsx';
import { saveFile } from '../parts/save-file.ts';
import { deviceName, timeOfDay } from '../parts/texts.ts';
import { toneOfHttpStatus } from '../parts/tones.ts';
import { useDebounced } from '../parts/use-debounced.ts';
import { refusalReason, titleOf } from './device-timeline.tsx';

const FIRST_ENTRIES = 500;
/** Maximum number of entries in the page. Older ones are still in the journal. */
const HELD_ENTRIES = 5000;
const kinds = [['', 'all kinds'], 'exchange', 'frame', 'unparsable'] as const;
const statuses = [['', 'all statuses'], '2xx', '4xx', '5xx', '401', '404', '409', '0'] as const;

type JournalQuery = Readonly<Record<string, string>>;

export function JournalSection() {
  const [device, setDevice] = useQuery('device');
  const [status, setStatus] = useQuery('status');
  const [kind, setKind] = useQuery('kind');
  const [text, setText] = useQuery('text');
  const [deployment, setDeployment] = useQuery('deployment');
  const [isPaused, setPaused] = useState(false);
  const filter = { device, status, kind, text, deployment };
  return (
    <>
      <h1>Journal</h1>
      <search class="filters">
        <FilterField label="Path contains" value={text} onInput={setText} />
        <FilterField label="Device (ID or identity value)" value={device} onInput={setDevice} />
        <FilterField label="Deployment (ID)" value={deployment} onInput={setDeployment} />
        <Choice label="Status" value={status} choices={statuses} onChoose={setStatus} />
        <Choice label="Kind" value={kind} choices={kinds} onChoose={setKind} />
      </search>
      <div class="actions">
        <button
          type="button"
          class="kit-button"
          aria-pressed={isPaused}
          onClick={() => setPaused(!isPaused)}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </button>
        <ActionButton work={() => saveHar(filter)} done="The archive was saved.">
          Save as HAR
        </ActionButton>
        <ActionButton
          kind="danger"
          work={() => request('DELETE /journal')}
          done="The journal was cleared."
          asks={{
            title: 'Clear the journal?',
            text: 'All recorded exchanges of this tenant are deleted.',
            action: 'Clear',
          }}
        >
          Clear
        </ActionButton>
      </div>
      <Entries filter={filter} isPaused={isPaused} />
    </>
  );
}

async function saveHar(query: JournalQuery): Promise<void> {
  const response = await request('GET /journal.har', { query });
  saveFile(await response.blob(), 'fleetbed.har');
}

function Entries({ filter, isPaused }: { filter: JournalQuery; isPaused: boolean }) {
  const { entries, error } = useEntries(filter, isPaused);
  if (error !== '') return <Failed title="Cannot show the journal" reason={error} />;
  if (!entries) return <Loading subject="the journal" />;
  if (entries.length === 0) {
    return (
      <Empty title="No matching entries">
        <p>Entries appear here as requests arrive.</p>
      </Empty>
    );
  }
  return (
    <LongTable
      caption="Journal, newest first"
      columns={columns}
      rows={entries}
      keyOf={({ sequence }) => sequence}
    />
  );
}

const columns: readonly LongColumn<EntryView>[] = [
  { title: 'At', width: '6rem', cell: ({ at }) => <time dateTime={at}>{timeOfDay(at)}</time> },
  {
    title: 'Status',
    width: '5rem',
    cell: ({ status }) =>
      status === undefined ? '–' : <Badge tone={toneOfHttpStatus(status)}>{status || 'cut'}</Badge>,
  },
  {
    title: 'Exchange',
    width: '24%',
    cell: (entry) => <Link href={`/journal/${entry.sequence}`}>{titleOf(entry)}</Link>,
  },
  {
    title: 'Device',
    width: '22%',
    isMinor: true,
    cell: ({ device }) =>
      device?.id ? (
        <Link href={`/devices/${device.id}`}>{deviceName(device.identity) || device.id}</Link>
      ) : (
        deviceName(device?.identity) || '–'
      ),
  },
  {
    title: 'Why',
    isMinor: true,
    cell: refusalReason,
  },
  {
    title: 'Took',
    width: '7rem',
    isMinor: true,
    cell: ({ tookMs }) => (tookMs === undefined ? '–' : `${tookMs} ms`),
  },
];

/** Returns the newest entries that match the filter, and adds new ones until paused. */
function useEntries(filter: JournalQuery, isPaused: boolean) {
  const key = useDebounced(JSON.stringify([filter, tenant.value]));
  const [loadedEntries, setLoadedEntries] = useState<{
    key: string;
    entries?: readonly EntryView[];
    error?: string;
  }>({
    key,
  });
  useEffect(() => {
    if (isPaused) return;
    const [query] = JSON.parse(key) as [JournalQuery];
    let isOver = false;
    let stop = (): void => undefined;
    const begin = async (): Promise<void> => {
      const page = await requestJson('GET /journal', {
        query: { ...query, limit: FIRST_ENTRIES },
      });
      if (isOver) return;
      setLoadedEntries({ key, entries: page.entries.toReversed() });
      let { next } = page;
      const arrived = createBatch<EntryView>((entries) =>
        setLoadedEntries((previousLoad) =>
          previousLoad.key === key
            ? {
                key,
                entries: [...entries.toReversed(), ...(previousLoad.entries ?? [])].slice(
                  0,
                  HELD_ENTRIES,
                ),
              }
            : previousLoad,
        ),
      );
      const unfollow = followStream(
        () => targetOf('GET /journal/stream', { query: { ...query, after: next } }),
        {
          onEvent: (_, data) => {
            const entry = data as EntryView;
            next = entry.sequence;
            arrived.add(entry);
          },
        },
      );
      stop = () => {
        unfollow();
        arrived.cancel();
      };
    };
    begin().catch((error: unknown) => {
      if (!isOver) setLoadedEntries({ key, error: reasonOf(error) });
    });
    return () => {
      isOver = true;
      stop();
    };
  }, [key, isPaused]);
  const current = loadedEntries.key === key ? loadedEntries : undefined;
  return { entries: current?.entries, error: current?.error ?? '' };
}
