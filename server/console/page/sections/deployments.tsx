/** Lists all deployments, and searches them, with a form for a new one. */
import { Link } from 'wouter-preact';
import type { Deployment } from '../../../../fixtures/contract/management/deployments.ts';
import { deploymentStatuses } from '../../../../fixtures/contract/vocabulary.ts';
import { Choice, FilterField } from '../../../../fixtures/page/field.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { Table } from '../../../../fixtures/page/table.tsx';
import { useQuery } from '../address.ts';
import { useLoaded } from '../api/loaded.ts';
import { manageAll } from '../api/management.ts';
import { Paged } from '../parts/paged.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { dayAndTime } from '../parts/texts.ts';
import { statusChoices } from '../parts/tones.ts';
import { View } from '../parts/view.tsx';
import { Funnel } from './funnel.tsx';
import { NewDeployment } from './new-deployment.tsx';

/** Names of the deployments that the conformance suite makes, hundreds in a run. */
const madeBySuite = /^conformance-/;

/** Returns all deployments, newest first; those of the conformance suite follow the others. */
async function loadDeployments(): Promise<readonly Deployment[]> {
  // Oldest first, because a deployment made meanwhile would move the others to another page.
  const oldestFirst = await manageAll<Deployment>('list-deployments', { query: { sort: 'asc' } });
  const rank = ({ name }: Deployment): number => (madeBySuite.test(name) ? 1 : 0);
  return oldestFirst.toReversed().sort((one, other) => rank(one) - rank(other));
}

export default function DeploymentsSection() {
  const [text, setText] = useQuery('text');
  const [status, setStatus] = useQuery('status');
  const loaded = useLoaded(loadDeployments, 'deployments', { isLive: true, pauseTicks: 3 });
  const searchText = text.toLowerCase().trim();
  const isShown = (deployment: Deployment): boolean => {
    const { id, name, artifact_name: artifact = '' } = deployment;
    const hasText = `${id} ${name} ${artifact}`.toLowerCase().includes(searchText);
    return hasText && (status === '' || deployment.status === status);
  };
  return (
    <>
      <h1>Deployments</h1>
      <NewDeployment />
      <search class="filters">
        <FilterField label="Search name, artifact, ID" value={text} onInput={setText} />
        <Choice
          label="Status"
          value={status}
          choices={statusChoices(deploymentStatuses)}
          onChoose={setStatus}
        />
      </search>
      <View subject="the deployments" loaded={loaded}>
        {(deployments) => <List all={deployments} filtered={deployments.filter(isShown)} />}
      </View>
    </>
  );
}

function List({ all, filtered }: { all: readonly Deployment[]; filtered: readonly Deployment[] }) {
  if (all.length === 0) {
    return (
      <Empty title="No deployments yet">
        <p>
          Upload an artifact in <Link href="/artifacts">Artifacts</Link>, then deploy it here.
        </p>
      </Empty>
    );
  }
  if (filtered.length === 0) return <Empty title="No deployments match the filters" />;
  return (
    <Paged subject="deployments" rows={filtered}>
      {(deployments) => <Page deployments={deployments} caption={countText(filtered, all)} />}
    </Paged>
  );
}

const countText = (filtered: readonly unknown[], all: readonly unknown[]): string =>
  filtered.length === all.length
    ? `${all.length} deployments`
    : `${filtered.length} of ${all.length} deployments`;

function Page({ deployments, caption }: { deployments: readonly Deployment[]; caption: string }) {
  return (
    <Table
      caption={caption}
      rows={deployments}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Name', cell: ({ id, name }) => <Link href={`/deployments/${id}`}>{name}</Link> },
        { title: 'Artifact', cell: ({ artifact_name: artifact }) => artifact },
        { title: 'Kind', cell: ({ type }) => type },
        { title: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
        {
          title: 'Devices',
          cell: ({ statistics, device_count: count }) => (
            <Funnel statistics={statistics?.status ?? {}} count={count} />
          ),
        },
        { title: 'Created', cell: ({ created }) => dayAndTime(created) },
      ]}
    />
  );
}
