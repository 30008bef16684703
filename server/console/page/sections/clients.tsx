/** Lists the device clients that are judged, and each duty over all of them. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { ResponseOf } from '../../../../fixtures/control/operations.ts';
import { Badge } from '../../../../fixtures/page/badge.tsx';
import { Choice } from '../../../../fixtures/page/field.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { requestJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import { type LongColumn, LongTable } from '../parts/long-table.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { deviceName } from '../parts/texts.ts';
import { View } from '../parts/view.tsx';
import { byImportance, dutyLabel, dutyTone, stateChoicesOf } from './duty-states.ts';

type Clients = ResponseOf<'GET /clients'>;
type Client = Clients['clients'][number];
type Duty = Clients['duties'][number];

/** The list may be long, and each state in it has to be found out. */
const PAUSE_TICKS = 5;

export default function ClientsSection() {
  const loaded = useLoaded(() => requestJson('GET /clients'), 'clients', {
    isLive: true,
    pauseTicks: PAUSE_TICKS,
  });
  return (
    <>
      <h1>Clients</h1>
      <View subject="the clients" loaded={loaded}>
        {(clients) => <Overview clients={clients} />}
      </View>
    </>
  );
}

function Overview({
  clients: { clients, duties, devicesMax, eventsOverLimit, dropped, judgeErrors, queuedEvents },
}: {
  clients: Clients;
}) {
  const [state, setState] = useState('');
  if (clients.length === 0) {
    return (
      <Empty title="No client has sent a request yet">
        <p>
          Point a device client at this server. Its requests are judged by the duties of clients.
        </p>
      </Empty>
    );
  }
  const names = new Map(clients.map(({ client, identity }) => [client, deviceName(identity)]));
  const filteredDuties = byImportance(duties).filter(
    (duty) => state === '' || duty.state === state,
  );
  return (
    <>
      {eventsOverLimit > 0 && (
        <p class="muted">
          {devicesMax} devices are judged at a time; {eventsOverLimit} events of others were left
          out.
        </p>
      )}
      {queuedEvents > 0 && <p class="muted">{queuedEvents} events wait to be judged.</p>}
      {dropped + judgeErrors > 0 && (
        <p class="muted">
          {dropped} events were lost before they could be judged, and {judgeErrors} could not be
          judged.
        </p>
      )}
      <LongTable
        caption="Clients, those with broken MUSTs first"
        columns={clientColumns}
        rows={clients}
        keyOf={({ client }) => client}
      />
      <h2>Duties over all clients</h2>
      <search class="filters">
        <Choice label="State" value={state} choices={stateChoicesOf(duties)} onChoose={setState} />
      </search>
      <LongTable
        caption="Duties over all clients"
        columns={dutyColumns(names)}
        rows={filteredDuties}
        keyOf={({ duty }) => duty}
      />
    </>
  );
}

const clientColumns: readonly LongColumn<Client>[] = [
  {
    title: 'Client',
    width: '40%',
    cell: ({ client, identity }) => (
      <Link href={`/clients/${encodeURIComponent(client)}`}>{deviceName(identity) || client}</Link>
    ),
  },
  {
    title: 'Status',
    width: '8rem',
    cell: ({ status }) => (status ? <StatusBadge status={status} /> : <Badge>Unknown</Badge>),
  },
  {
    title: 'Verdict',
    width: '9rem',
    cell: ({ brokenMusts, counts }) => {
      if (brokenMusts > 0) return <Badge tone="negative">{`${brokenMusts} MUST broken`}</Badge>;
      const brokenCount = counts.broken ?? 0;
      if (brokenCount > 0) return <Badge tone="pending">{`${brokenCount} SHOULD broken`}</Badge>;
      return <Badge tone="positive">no MUST broken</Badge>;
    },
  },
  { title: 'Duties met', width: '6rem', isMinor: true, cell: ({ counts }) => counts.met ?? 0 },
  { title: 'Duties open', width: '6rem', isMinor: true, cell: ({ counts }) => counts.open ?? 0 },
  {
    title: 'Duties not tested',
    width: '6rem',
    isMinor: true,
    cell: ({ counts }) => counts['not-tested'] ?? 0,
  },
  { title: 'Requests', width: '6rem', isMinor: true, cell: ({ exchanges }) => exchanges },
];

const dutyColumns = (names: ReadonlyMap<string, string>): readonly LongColumn<Duty>[] => [
  {
    title: 'State',
    width: '9rem',
    cell: ({ state }) => <Badge tone={dutyTone(state)}>{dutyLabel(state)}</Badge>,
  },
  {
    title: 'Duty',
    width: '45%',
    cell: ({ duty, level, sentence }) => (
      <>
        <code>{duty}</code> ({level}): {sentence}
      </>
    ),
  },
  {
    title: 'Clients by state',
    isMinor: true,
    cell: ({ counts }) =>
      Object.entries(counts)
        .map(([state, count]) => `${count} ${dutyLabel(state)}`)
        .join(', '),
  },
  {
    title: 'Broken by',
    isMinor: true,
    cell: ({ brokenBy }) =>
      brokenBy.map((client) => (
        <div key={client}>
          <Link href={`/clients/${encodeURIComponent(client)}`}>{names.get(client) || client}</Link>
        </div>
      )),
  },
];
