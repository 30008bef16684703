/** Lists deployments, with a form for a new one. */
import { Link } from 'wouter-preact';
import type { Deployment } from '../../../../fixtures/contract/management/deployments.ts';
import { deploymentStatuses } from '../../../../fixtures/contract/vocabulary.ts';
import { Badge } from '../../../../fixtures/page/badge.tsx';
import { Choice } from '../../../../fixtures/page/field.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { Table } from '../../../../fixtures/page/table.tsx';
import { useQuery } from '../address.ts';
import { useLoaded } from '../api/loaded.ts';
import { manageJson } from '../api/management.ts';
import { dayAndTime } from '../parts/texts.ts';
import { toneOf } from '../parts/tones.ts';
import { View } from '../parts/view.tsx';
import { Funnel } from './funnel.tsx';
import { NewDeployment } from './new-deployment.tsx';

const PAGE_DEPLOYMENTS = 100;

export default function DeploymentsRoom() {
  const [status, setStatus] = useQuery('status');
  const loaded = useLoaded(
    () =>
      manageJson<readonly Deployment[]>('list-deployments', {
        query: { per_page: PAGE_DEPLOYMENTS, status },
      }),
    `deployments ${status}`,
    { isLive: true },
  );
  return (
    <>
      <h1>Deployments</h1>
      <NewDeployment />
      <search class="filters">
        <Choice
          label="State"
          value={status}
          choices={[['', 'all states'], ...deploymentStatuses]}
          onChoose={setStatus}
        />
      </search>
      <View what="the deployments" loaded={loaded}>
        {(deployments) => <List deployments={deployments} />}
      </View>
    </>
  );
}

function List({ deployments }: { deployments: readonly Deployment[] }) {
  if (deployments.length === 0) {
    return (
      <Empty title="No deployments yet">
        <p>
          Upload an artifact in <Link href="/artifacts">Artifacts</Link>, then deploy it here.
        </p>
      </Empty>
    );
  }
  return (
    <Table
      caption={
        deployments.length === PAGE_DEPLOYMENTS
          ? `The newest ${PAGE_DEPLOYMENTS} deployments`
          : `${deployments.length} deployments`
      }
      stacks
      rows={deployments}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Name', cell: ({ id, name }) => <Link href={`/deployments/${id}`}>{name}</Link> },
        { title: 'Artifact', cell: ({ artifact_name: artifact }) => artifact },
        { title: 'Kind', cell: ({ type }) => type },
        { title: 'State', cell: ({ status }) => <Badge tone={toneOf(status)}>{status}</Badge> },
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
