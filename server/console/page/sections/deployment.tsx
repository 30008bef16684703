/** Shows one deployment: its progress, and the status of each device. */
import { Link, useParams } from 'wouter-preact';
import type {
  Deployment,
  DeploymentDevice,
} from '../../../../fixtures/contract/management/deployments.ts';
import { deviceDeploymentStatuses } from '../../../../fixtures/contract/vocabulary.ts';
import { Card } from '../../../../fixtures/page/card.tsx';
import { Choice } from '../../../../fixtures/page/field.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { useQuery } from '../address.ts';
import { requestJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import { callManagement, manageAll, manageJson } from '../api/management.ts';
import { ActionButton } from '../parts/action.tsx';
import { Facts } from '../parts/facts.tsx';
import { type LongColumn, LongTable } from '../parts/long-table.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { dayAndTime, deviceName } from '../parts/texts.ts';
import { statusChoices } from '../parts/tones.ts';
import { View } from '../parts/view.tsx';
import { LogButton } from './deployment-log.tsx';
import { Funnel } from './funnel.tsx';

export default function DeploymentSection() {
  const { id = '' } = useParams<{ id: string }>();
  const parameters = { id };
  const loaded = useLoaded(
    async () => {
      const [deployment, statistics] = await Promise.all([
        manageJson<Deployment>('get-deployment', { parameters }),
        manageJson<Record<string, number>>('get-deployment-statistics', { parameters }),
      ]);
      return { deployment, statistics };
    },
    `deployment ${id}`,
    { isLive: true },
  );
  return (
    <>
      <p class="trail">
        <Link href="/deployments">Deployments</Link>
      </p>
      <View subject="the deployment" loaded={loaded}>
        {({ deployment, statistics }) => (
          <>
            <Head deployment={deployment} statistics={statistics} reload={loaded.reload} />
            <Devices deploymentId={id} />
          </>
        )}
      </View>
    </>
  );
}

interface HeadProps {
  readonly deployment: Deployment;
  readonly statistics: Readonly<Record<string, number>>;
  readonly reload: () => void;
}

function Head({ deployment, statistics, reload }: HeadProps) {
  const { id, name, status, artifact_name: artifact, created, finished, phases } = deployment;
  const abort = async (): Promise<void> => {
    await callManagement('abort-deployment', { parameters: { id }, json: { status: 'aborted' } });
    reload();
  };
  return (
    <>
      <div class="title">
        <h1>{name}</h1>
        <StatusBadge status={status} />
        {status !== 'finished' && (
          <ActionButton
            kind="danger"
            work={abort}
            done="The deployment was aborted."
            asks={{
              title: 'Abort this deployment?',
              text: 'Devices that have not finished it must stop. It cannot be resumed.',
              action: 'Abort',
            }}
          >
            Abort
          </ActionButton>
        )}
      </div>
      <Card title="Progress">
        <Funnel statistics={statistics} count={deployment.device_count} />
        <Facts
          facts={[
            ['Artifact', artifact],
            ['Created', dayAndTime(created)],
            ['Finished', dayAndTime(finished)],
            ['Retries', String(deployment.retries ?? 0)],
            ...(phases ?? []).map(
              ({ batch_size: share, start_ts: start, device_count: count }, index) =>
                [
                  `Phase ${index + 1}`,
                  `${share} % from ${dayAndTime(start)}, ${count} devices so far`,
                ] as const,
            ),
          ]}
        />
      </Card>
    </>
  );
}

interface DeploymentDeviceRow extends DeploymentDevice {
  readonly title: string;
}

/** Loads all device deployments of a deployment, and the identities of their devices. */
async function loadDevices(id: string, status: string): Promise<readonly DeploymentDeviceRow[]> {
  const rows = await manageAll<DeploymentDevice>('list-deployment-devices', {
    parameters: { id },
    query: { status },
  });
  const { devices } = await requestJson('GET /devices');
  const names = new Map(devices.map((device) => [device.id, deviceName(device.identity)]));
  return rows.map((device) => ({ ...device, title: names.get(device.id) ?? device.id }));
}

function Devices({ deploymentId }: { deploymentId: string }) {
  const [status, setStatus] = useQuery('status');
  const loaded = useLoaded(
    () => loadDevices(deploymentId, status),
    `devices of ${deploymentId} ${status}`,
    { isLive: true, pauseTicks: 3 },
  );
  return (
    <>
      <search class="filters">
        <Choice
          label="Status of the device"
          value={status}
          choices={statusChoices(deviceDeploymentStatuses)}
          onChoose={setStatus}
        />
      </search>
      <View subject="its devices" loaded={loaded}>
        {(devices) =>
          devices.length === 0 ? (
            <Empty title="No devices with this status" />
          ) : (
            <LongTable
              caption="Devices of the deployment"
              rows={devices}
              keyOf={({ id }) => id}
              columns={columnsOf(deploymentId)}
            />
          )
        }
      </View>
    </>
  );
}

function columnsOf(deploymentId: string): readonly LongColumn<DeploymentDeviceRow>[] {
  return [
    {
      title: 'Device',
      width: '34%',
      cell: ({ id, title }) => <Link href={`/devices/${id}`}>{title}</Link>,
    },
    {
      title: 'Status',
      cell: ({ status }) => <StatusBadge status={status} />,
    },
    { title: 'Detail', isMinor: true, cell: ({ substate = '' }) => substate },
    { title: 'Attempts', isMinor: true, cell: ({ attempts }) => attempts ?? '–' },
    {
      title: 'Finished',
      width: '8.5rem',
      isMinor: true,
      cell: ({ finished }) => dayAndTime(finished),
    },
    {
      title: 'Log',
      cell: ({ id, log }) => (log ? <LogButton deploymentId={deploymentId} deviceId={id} /> : '–'),
    },
  ];
}
