/** Shows devices by state, current requests and errors, and the progress of deployments. */
import { lazy, Suspense } from 'preact/compat';
import { Link } from 'wouter-preact';
import { Card } from '../../../../fixtures/page/card.tsx';
import { Empty, Loading } from '../../../../fixtures/page/states.tsx';
import { Table } from '../../../../fixtures/page/table.tsx';
import { requestJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import type { EntryView, Overview } from '../api/types.ts';
import { StatusBadge } from '../parts/status-badge.tsx';
import { statusLabel } from '../parts/tones.ts';
import { View } from '../parts/view.tsx';
import { EntryLine } from './device-timeline.tsx';
import { Funnel } from './funnel.tsx';

const RateChart = lazy(() => import('./rate-chart.tsx'));

const ERRORS_SHOWN = 12;
const DEPLOYMENTS_SHOWN = 8;

export function OverviewSection() {
  const loaded = useLoaded(
    () => requestJson('GET /overview', { query: { devices: 0 } }),
    'overview',
    {
      isLive: true,
    },
  );
  return (
    <>
      <h1>Overview</h1>
      <View subject="the overview" loaded={loaded}>
        {(overview) => (
          <>
            <Counts counts={overview.deviceCounts} />
            <Card title="Requests per second">
              <Suspense fallback={<Loading subject="the chart" />}>
                <RateChart />
              </Suspense>
            </Card>
            <div class="two-columns">
              <Deployments overview={overview} />
              <Errors />
            </div>
            {overview.stalls.count > 0 && (
              <p class="stale">
                The server stalled {overview.stalls.count} times, at worst for{' '}
                {Math.round(overview.stalls.worstMs)} ms in {overview.stalls.worstIn}.
              </p>
            )}
          </>
        )}
      </View>
    </>
  );
}

function Counts({ counts }: { counts: Overview['deviceCounts'] }) {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const positiveCounts = Object.entries(counts).filter(([, count]) => count > 0);
  return (
    <ul class="counts" aria-label="Devices by status">
      <li>
        <Link href="/devices">
          <b>{all}</b> devices
        </Link>
      </li>
      {positiveCounts.map(([status, count]) => (
        <li key={status}>
          <Link href={`/devices?status=${status}`}>
            <b>{count}</b> {statusLabel(status).toLowerCase()}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Deployments({ overview: { deployments } }: { overview: Overview }) {
  return (
    <Card title="Deployments" aside={<Link href="/deployments">All deployments</Link>}>
      {deployments.length === 0 ? (
        <Empty title="No deployments yet">
          <Link href="/deployments">Create one</Link>
        </Empty>
      ) : (
        <Table
          caption="Deployments"
          isCaptionHidden
          rows={deployments.slice(0, DEPLOYMENTS_SHOWN)}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Name',
              cell: ({ id, name }) => <Link href={`/deployments/${id}`}>{name}</Link>,
            },
            {
              title: 'Status',
              cell: ({ status }) => <StatusBadge status={status} />,
            },
            {
              title: 'Devices',
              cell: ({ statistics, deviceCount }) => (
                <Funnel statistics={statistics} count={deviceCount} />
              ),
            },
          ]}
        />
      )}
    </Card>
  );
}

/** Loads the newest entries of each error class, and returns the newest of them together. */
async function loadErrors(): Promise<readonly EntryView[]> {
  const pages = await Promise.all(
    ['4xx', '5xx', '0'].map((status) =>
      requestJson('GET /journal', { query: { status, limit: ERRORS_SHOWN } }),
    ),
  );
  return pages
    .flatMap(({ entries }) => entries)
    .sort((one, other) => other.sequence - one.sequence)
    .slice(0, ERRORS_SHOWN);
}

function Errors() {
  const loaded = useLoaded(loadErrors, 'errors', { isLive: true, pauseTicks: 2 });
  return (
    <Card
      title="Refusals and errors"
      aside={<Link href="/journal?status=4xx">Show all in the journal</Link>}
    >
      <View subject="the refusals" loaded={loaded}>
        {(errors) =>
          errors.length === 0 ? (
            <Empty title="None in the journal" />
          ) : (
            <ol class="timeline">
              {errors.map((entry) => (
                <li key={entry.sequence}>
                  <EntryLine entry={entry} />
                </li>
              ))}
            </ol>
          )
        }
      </View>
    </Card>
  );
}
